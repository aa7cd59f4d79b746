#!/usr/bin/env bash
# What the Makefile makes anew, in a scratch copy with an analyzer of two files: no more than is needed, and no less.
source "$(dirname "$0")/common.bash"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/analyzer"
cp Makefile "$scratch"
cd "$scratch" || exit 1
echo '#include "two.h"
int main(void) { return two(); }' >analyzer/main.c
echo 'int two(void);' >analyzer/two.h
echo '#include "two.h"
int two(void) { return 0; }' >analyzer/two.c
echo '#include "two.h"
int left_over(void);
int left_over(void) { return 1; }' >analyzer/left_over.c

# makes OPTION...: the objects and programs that are made now
makes() {
	env -u MAKEFLAGS -u CFLAGS make V=1 BUILD=build NVCC= CUPTI_H= "$@" build/bin/rooflinectl 2>&1 | grep -oE -- '-o [^ ]+' | cut -d' ' -f2 | sort | xargs
}
# wanted FILES GOT
wanted() {
	[ "$1" = "$2" ] || echo "wanted: $1, made: $2"
}

all="build/analyzer/left_over.o build/analyzer/main.o build/analyzer/two.o build/bin/rooflinectl"
wanted "$all" "$(makes)" | verdict "at first everything is made"
wanted "" "$(makes)" | verdict "then nothing"
wanted "$all" "$(makes CFLAGS=-O1)" | verdict "with other flags everything"
makes >/dev/null
sleep 0.1
rm analyzer/left_over.c
wanted build/bin/rooflinectl "$(makes)" | verdict "when a source is gone, what was linked from it"
nm build/bin/rooflinectl | grep left_over | verdict "and nothing of it is left there"
mv analyzer/two.h analyzer/renamed.h
sed -i 's/two\.h/renamed.h/' analyzer/main.c analyzer/two.c
wanted "build/analyzer/main.o build/analyzer/two.o build/bin/rooflinectl" "$(makes)" | verdict "a header may move with those that include it"
finish
