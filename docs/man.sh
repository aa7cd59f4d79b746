#!/usr/bin/env bash
# docs/man.sh FOLDER - makes the manual pages from docs/rooflinectl.md and docs/commands/: FOLDER/rooflinectl-report.1, ...
#
# The pages are written once, for both.  Here links become their text, tables of two columns lists, and the title is
# split into name and summary as man(7) wants it; lowdown does the rest.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$1"

# Of a page on stdin: NAME from its title and its first paragraph, headings in capitals, the rest as it is.
as_manual() {
	sed -E -e '/^<!--.*-->$/d' -e '/^!\[/d' -e 's/!\[[^]]*\]\([^)]*\)//g' -e ':again' \
		-e 's/\[([^][]*)\]\([^)]*\)/\1/; t again' |
		awk -v name="$1" '
		BEGIN { cell = "([^|\\\\]|\\\\.)*" }
		/^# /  { print "# NAME\n"; is_title = 1; next }
		is_title && NF { sub(/\.$/, ""); print name " - " tolower(substr($0, 1, 1)) substr($0, 2); is_title = 0; next }
		/^## / { print "#" toupper(substr($0, 3)); next }
		/^###/ { print substr($0, 2); next }
		/^```/ { is_code = !is_code }
		is_code { print; next }
		$0 ~ "^\\|" cell "\\|" cell "\\|$" {
			if (++row <= 2) next
			match($0, "^\\|" cell "\\|")
			term = substr($0, 2, RLENGTH - 2); meaning = substr($0, RLENGTH + 1); sub(/\|$/, "", meaning)
			gsub(/\\\|/, "|", term); gsub(/\\\|/, "|", meaning)
			gsub(/^ +| +$/, "", term); gsub(/^ +| +$/, "", meaning)
			print term "\n: " meaning "\n"
			next
		}
		{ row = 0; print }'
}

for page in docs/rooflinectl.md docs/commands/*.md; do
	name=$(basename "$page" .md)
	[ "$name" = rooflinectl ] || name=rooflinectl-$name
	as_manual "$name" <"$page" |
		lowdown -s -Tman --out-no-smarty -M title="$name" -M section=1 -M source=rooflinectl -M volume= -o "$1/$name.1"
done
