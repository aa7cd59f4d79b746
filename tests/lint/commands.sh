#!/usr/bin/env bash
# What scripts, tests, the Makefile and sources run is in the packages that the Makefile installs: on a bare system there is
# nothing else.  commands_test.sh plants what breaks it.
source "$(dirname "$0")/common.bash"
skip_all_without dpkg-query
skip_all_without shfmt
skip_all_without python3

# packages NAME: the items of the Makefile's variable NAME_packages
packages() {
	make -s --no-print-directory --eval "packages: ; @echo '\$($1_packages)'" packages
}

# COMMAND, the folders or files that may run it, and why no package needs to have it
exceptions() {
	cat <<-'END'
		apt-get        setup.sh                                   looked for; setup.sh is there for apt-get
		apt-cache      setup.sh                                   is where apt-get is
		sudo           setup.sh                                   looked for; only where the user is not root
		git            Makefile,tests/changed,tests/lint/contributing_test.sh,docs/results  only in a checkout; the test skips without
		git            tests/bare.sh                              only in a checkout
		debootstrap    tests/bare.sh                              make check-bare installs it
		nvcc           Makefile,tests/try                             looked for: the CUDA toolkit is optional
		cuobjdump      tests/collector                            comes with the CUDA toolkit; the test skips without
		nvidia-smi     tests/run,tests/gpu,tests/bench,tests/pairs,docs/results,tests/tune,tests/corpus,Makefile  comes with the driver: there is a GPU
		mpirun         tests/cli,tests/gpu,tests/bench            looked for; skipped without
		zsh            tests/cli                                  looked for; skipped without
		_rooflinectl   tests/cli                                  a function that the completion defines
		rooflinectl    tests/pairs,docs                           the program that was built: they put it into their PATH
	END
}

{ exceptions | python3 tests/lint/commands.py "demo=$(packages demo)=Makefile/demo,setup.sh,html,analyzer" \
	"check=$(packages build) $(packages check)=." "deb=dpkg-dev:dpkg-shlibdeps $(packages build)=packaging" ||
	echo "commands.py failed"; } |
	verdict "each command that is run is in a package that the Makefile lists for it"
finish
