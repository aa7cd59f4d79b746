#!/usr/bin/env bash
# Tests that documents name are there: docs/security.md and docs/faults.md claim nothing that no test shows.
source "$(dirname "$0")/common.bash"

# named DOCUMENT: lines "FILE<tab>SENTENCE" of [x](../tests/FILE): "SENTENCE"
named() {
	tr '\n' ' ' <"$1" | grep -oE '\]\(\.\./tests/[^)]+\): +"[^"]+"' | sed -E 's/^\]\(\.\.\/([^)]+)\): +"(.*)"$/\1\t\2/'
}

# has_test FILE SENTENCE: a test of that name; C may have it in several pieces, or as the name of its function
has_test() {
	case $1 in
	*.bats) grep -qF "@test \"$2\"" "$1" ;;
	*) perl -0pe 's/"\s*"//g' "$1" | grep -qE "\"$2\"|\\(${2// /_}[,)]" ;;
	esac
}

for document in docs/security.md docs/faults.md; do
	named "$document" | while IFS=$'\t' read -r file sentence; do
		[ -e "$file" ] && has_test "$file" "$sentence" || echo "$document: $file has no test \"$sentence\""
	done | verdict "each test that $document names is there"
	grep '^| [^-f]' "$document" | grep -vF '](../tests/' | verdict "each row of $document names a test"
done
named docs/faults.md | wc -l | awk '$1 < 40 { print "docs/faults.md names " $1 " tests" }' | verdict "docs/faults.md names a test for each of 40 faults and more"
finish
