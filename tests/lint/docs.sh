#!/usr/bin/env bash
# The documents match the code: pages, links, commands, generated parts, words.
source "$(dirname "$0")/common.bash"

documents() {
	find . -maxdepth 1 -name '*.md' -printf '%f\n'
	[ -d docs ] && find docs -name '*.md'
}

# rows MACRO HEADER: first argument of every row of an X-macro
rows() {
	[ -e "$2" ] && sed -nE "s/^[[:space:]]+$1\(([a-z_0-9]+),.*/\1/p" "$2"
}

# pages MACRO HEADER FOLDER: rows without a page, and pages without a row
pages() {
	local name page names
	names=$(rows "$1" "$2")
	[ -n "$names" ] || echo "$2: no $1 row found; has the list changed its form?"
	for name in $names; do
		[ -s "$3/$name.md" ] || echo "$3/$name.md is missing: $2 has a row $name"
	done
	for page in "$3"/*.md; do
		[ -e "$page" ] || continue
		name=${page##*/}
		grep -qx "${name%.md}" <<<"$names" || echo "$page: no such row in $2"
	done
}

# links FILE: relative links of a Markdown file that lead nowhere
links() {
	local folder
	folder=$(dirname "$1")
	grep -oE '\]\([^) ]+\)|(src|srcset|href)="[^"]+"' "$1" | sed -E 's/^[^("]*[("]//; s/[)"]$//' |
		grep -vE '^(https?:|mailto:|#)' | while read -r link; do
			[ -e "$folder/${link%%#*}" ] || echo "$1: link to $link leads nowhere"
		done
}

# anchors FILE: links to a heading of the same file that has no such heading
anchors() {
	local headings
	headings=$(sed -nE 's/^#+ //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-')
	grep -oE '\]\(#[^)]+\)' "$1" | sed -E 's/^\]\(#//; s/\)$//' | while read -r anchor; do
		grep -qx -- "$anchor" <<<"$headings" || echo "$1: no heading #$anchor"
	done
}


pages COMMAND analyzer/cmd/commands.h docs/commands | verdict "every command has its page"
if [ -e workloads/workloads.h ]; then
	pages WORKLOAD workloads/workloads.h docs/workloads | verdict "every workload has its page"
	for name in $(rows WORKLOAD workloads/workloads.h); do
		for document in README.md docs/commands/workloads.md; do
			grep -q "workloads/$name\.md)" "$document" || echo "$document: no link to the page of $name"
		done
	done | verdict "README.md and docs/commands/workloads.md lead to every workload's page"
fi

# The first cells of its tables, up to what is said of reports.
sed -n '/^## What a report/q; s/^| `\([^`]*\)` .*/\1/p' docs/troubleshooting.md | while read -r message; do
	grep -rqF --include='*.c' "$message" analyzer $(ls -d collector 2>/dev/null) || echo "docs/troubleshooting.md: nothing says '$message'"
done | verdict "every message that docs/troubleshooting.md explains is in the code"

for document in $(documents); do
	links "$document"
	anchors "$document"
done | verdict "every relative link leads somewhere"

# A picture that no page shows is made anew by nothing.
shown=$(documents | xargs cat)
for picture in docs/images/*; do
	[ ! -e "$picture" ] || grep -qF "${picture##*/}" <<<"$shown" || echo "$picture: no document shows it"
done | verdict "every picture is on a page"

targets=$(sed -nE 's/^([a-z][a-z -]*):([^=].*|$)/\1/p' Makefile | tr ' ' '\n')
for document in $(documents); do
	grep -oE '(`|^|\$ )(sudo )?make( -j[0-9]*)? [a-z][a-z-]*' "$document" | awk '{print $NF}' |
		sort -u | while read -r target; do
			grep -qx -- "$target" <<<"$targets" || echo "$document: make has no $target"
		done
done | verdict "every make target that a document names exists"

commands=$(rows COMMAND analyzer/cmd/commands.h; echo help)
for document in $(documents); do
	grep -oE 'rooflinectl [a-z]+' "$document" | awk '{print $2}' | sort -u | while read -r name; do
		grep -qx "$name" <<<"$commands" && continue
		# Words of a sentence may follow the name of the tool; commands stand in code.
		grep -qE "(\`|^ *|\\\$ |-- )rooflinectl $name" "$document" &&
			echo "$document: rooflinectl has no command $name"
	done
done | verdict "every command that a document shows exists"

# Unfinished work, and paths of one machine only.
grep -rnIE --exclude-dir=.git --exclude=.git --exclude-dir=build --exclude-dir=recordings --exclude=docs.sh \
	'\b(TODO|FIXME|XXX|placeholder|lorem ipsum)\b|(^|[ "'\''`(=:])/(work|home|root)/' \
	. | grep -vE '^\./(LICENSE|roofline-demo)' |
	verdict "nothing unfinished, no path of one machine"

if [ ! -x "$BUILD/bin/rooflinectl" ]; then
	skip "the generated parts of README.md and docs/ are current (make readme)" "build first: make"
else
	BUILD=$BUILD docs/update.sh --check 2>&1 |
		verdict "the generated parts of README.md and docs/ are current (make readme)"
fi
finish
