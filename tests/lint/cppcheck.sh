#!/usr/bin/env bash
# cppcheck has nothing to say about the analyzer, the collector and the tests' C code.
source "$(dirname "$0")/common.bash"
skip_all_unless cppcheck

# memleak: it does not follow an rc from the allocation to its use; ASan finds the real ones.
# A cache keeps later runs short; system headers are not looked at, hence missingInclude.
cache=$BUILD/cppcheck
mkdir -p "$cache"
sources '*.c' | xargs cppcheck --quiet --std=c11 --language=c -j2 --cppcheck-build-dir="$cache" \
	--enable=warning,performance,portability --inline-suppr --suppress=missingInclude \
	--suppress=missingIncludeSystem --suppress=unknownMacro --suppress=memleak -Iinclude -Ianalyzer -Icollector \
	--template='{file}:{line}: {severity}: {message} [{id}]' 2>&1 |
	verdict "cppcheck finds nothing in the C files"
finish
