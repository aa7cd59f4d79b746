#!/usr/bin/env bash
# What scripts, tests, the Makefile and sources run is in the packages that the Makefile installs: on a bare system there is
# nothing else.  commands_test.sh plants what breaks it.
source "$(dirname "$0")/common.bash"
skip_all_without dpkg-query
skip_all_without shfmt
skip_all_without python3
unset MAKEFLAGS MFLAGS MAKELEVEL # what it asks of make is no part of `make check`

# packages NAME: the items of the Makefile's variable NAME_packages
packages() {
	make -s --no-print-directory BUILD=build --eval "packages: ; @echo '\$($1_packages)'" packages
}

# COMMAND, the folders or files that may run it, and why no package needs to have it
exceptions() {
	cat <<-'END'
		apt-get       setup.sh setup.sh looks for it
		apt-cache     setup.sh is where apt-get is
		sudo          setup.sh setup.sh looks for it, for a user who is not root
		git           Makefile,tests/bare.sh,tests/changed,tests/lint/commands.py,tests/lint/contributing_test.sh,docs/results where there is a checkout of git
		debootstrap   tests/bare.sh make check-bare installs it
		nvcc          Makefile,tests/try,tests/collector comes with the CUDA toolkit, which is optional
		cuobjdump     tests/collector comes with the CUDA toolkit
		nvidia-smi    Makefile,tests/run,tests/gpu,tests/bench,tests/pairs,tests/tune,tests/corpus,tests/recordings,docs/results comes with the driver: there is a GPU
		mpirun        tests/cli,tests/gpu,tests/bench tests that need it skip
		zsh           tests/cli tests that need it skip
		_rooflinectl  tests/cli a function that the completion defines
		rooflinectl   tests/pairs,tests/recordings,docs what was built, which they put into their PATH
	END
}

{ exceptions | python3 tests/lint/commands.py "demo=$(packages demo)=Makefile/demo,setup.sh,html,analyzer" \
	"check=$(packages build) $(packages check)=." "deb=dpkg-dev:dpkg-shlibdeps $(packages build)=packaging" ||
	echo "commands.py failed"; } |
	verdict "each command that is run is in a package that the Makefile lists for it"
finish
