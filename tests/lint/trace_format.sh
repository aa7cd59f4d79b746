#!/usr/bin/env bash
# docs/trace-format.md lists every table and column of include/roofline/trace_schema.h.
#
#   trace_format.sh           checks it, TAP on stdout
#   trace_format.sh --print   prints the section as it has to be
#   trace_format.sh --update  writes it into the page, between the two schema comments
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
schema=$root/include/roofline/trace_schema.h
page=$root/docs/trace-format.md

# Reads the X-macro lists: every list by its macro's name, then the tables in their order.
generate() {
	awk '
	function unquote(line) {
		sub(/^[^"]*"/, "", line)
		sub(/"\)[ \t]*\\?[ \t]*$/, "", line)
		gsub(/\|/, "\\|", line)
		return line
	}
	/^#define TRACE_[A-Z_]+\((COLUMN|TABLE|KEY|LOSS)\)/ {
		list = $2
		sub(/\(.*/, "", list)
		next
	}
	/^[ \t]+COLUMN\(/ {
		split($0, part, /[(,][ \t]*/)
		columns[list] = columns[list] "| `" part[3] "` | " part[2] " | " unquote($0) " |\n"
	}
	/^[ \t]+KEY\(/ {
		split($0, part, /[(,][ \t]*/)
		keys = keys "| `" part[2] "` | " unquote($0) " |\n"
	}
	/^[ \t]+LOSS\(/ {
		split($0, part, /[(,][ \t]*/)
		rest = $0
		sub(/^[^"]*"[^"]*",[ \t]*/, "", rest)
		unit = part[3]
		gsub(/"/, "", unit)
		losses = losses "| `" part[2] "` | " unit " | " unquote(rest) " |\n"
	}
	/^[ \t]+TABLE\(/ {
		split($0, part, /[(,)][ \t]*/)
		tables[++count] = part[2]
		list_of[part[2]] = part[3]
	}
	END {
		for (i = 1; i <= count; i++) {
			print "### " tables[i] ".csv\n"
			print "| column | type | meaning |\n|---|---|---|"
			print columns[list_of[tables[i]]]
		}
		print "### Keys of process.csv\n\n| key | value |\n|---|---|\n" keys
		print "### Kinds of losses.csv\n\n| kind | unit | meaning |\n|---|---|---|\n" losses
	}' "$schema"
}

# The part of a text under one heading, up to the next.
section() { # TITLE < text
	awk -v title="### $1" '$0 == title { on = 1; print; next } /^##|^<!--/ { on = 0 } on && NF'
}

check() {
	local wanted titles title number=0 failed=0
	wanted=$(generate)
	mapfile -t titles < <(sed -n 's/^### //p' <<<"$wanted")
	echo "1..$((${#titles[@]} + 1))"
	for title in "${titles[@]}"; do
		number=$((number + 1))
		if difference=$(diff <(section "$title" <"$page") <(section "$title" <<<"$wanted")); then
			echo "ok $number - docs/trace-format.md describes $title as the schema does"
		else
			echo "not ok $number - docs/trace-format.md describes $title as the schema does"
			sed 's/^/# /' <<<"$difference"
			failed=1
		fi
	done
	# a generator that found nothing would agree with a page that says nothing
	number=$((number + 1))
	if [ "$(grep -c '^| `' <<<"$wanted")" -eq "$(grep -cE '^[[:space:]]+(COLUMN|KEY|LOSS)\(' "$schema")" ]; then
		echo "ok $number - every row of the schema was compared"
	else
		echo "not ok $number - every row of the schema was compared"
		failed=1
	fi
	[ $failed -eq 0 ] || echo "# tests/lint/trace_format.sh --update rewrites the page"
	return $failed
}

update() {
	local text
	text=$(generate)
	awk -v text="$text" '
	/<!-- schema: begin/ { print; print "\n" text "\n"; skip = 1; next }
	/<!-- schema: end/ { skip = 0 }
	!skip' "$page" >"$page.new"
	mv "$page.new" "$page"
}

case ${1-} in
--print) generate ;;
--update) update ;;
*) check ;;
esac
