#!/usr/bin/env bats
# packaging/Containerfile, without a registry and without docker: what it names is there.
load common

setup() {
	file="$root/packaging/Containerfile"
}

# steps WORD: what stands behind that word, one step a line, lines that go on joined
steps() {
	sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' "$file" | sed -n "s/^$1 //p"
}

@test "the container is built on Debian alone, of this folder, by targets that the Makefile has" {
	[ "$(steps FROM | cut -d' ' -f1 | sort -u)" = debian:bookworm-slim ]
	[ "$(steps COPY | head -n 1)" = ". /source" ]
	targets=$(steps RUN | grep -oE 'make [a-z-]+' | cut -d' ' -f2 | sort -u)
	[ "$targets" = $'deb\nsetup-build' ]
	for target in $targets; do
		grep -q "^$target:" "$root/Makefile"
	done
}

@test "the container installs what the Makefile needs before it can install the rest, and the package that make deb writes" {
	packages=$(steps RUN | grep -oE 'apt-get install [^&]*' | tr -s ' \t' '\n' | grep -vE '^(apt-get|install|-.*|)$' | LC_ALL=C sort)
	[ "$packages" = $'/tmp/rooflinectl_*.deb\nmake' ]
	grep -q '^demo_packages .*:=.* make:make ' "$root/Makefile"
	grep -qF '"$folder/rooflinectl_${version}_$architecture.deb"' "$root/packaging/deb.sh"
	grep -qF 'packaging/deb.sh $(BUILD)/deb $(VERSION) $(BUILD)' "$root/Makefile"
	[[ "$(steps COPY)" == *"/source/build/rooflinectl_*.deb /tmp/"* ]]
}

@test "the container runs the program, which answers what the last step asks and what it is told without arguments" {
	[ "$(steps ENTRYPOINT)" = '["rooflinectl"]' ]
	"$ROOFLINECTL" --version | grep -q .
	[ "$(steps CMD)" = '["--help"]' ]
	"$ROOFLINECTL" --help | grep -q report
}

@test "what is built here, and history, stay out of the container" {
	[ "$(sort "$file.dockerignore")" = $'.git\nbuild' ]
	grep -q '^/build/$' "$root/.gitignore"
}
