#!/usr/bin/env bash
# docs/update.sh [--check] - fills in the generated parts of README.md and docs/: what rooflinectl prints
# for the bundled recordings, and what was measured.
#
#   <!-- run: rooflinectl report DIR -->    the command and its output, up to the next <!-- end -->
#   <!-- file: docs/results/x.txt -->       the file's text, likewise
#   <!-- file: docs/results/x.txt NAME -->  its head, and of what several workloads printed NAME's part
#   <!-- plot: CHART DIR IMAGE OPTION... -->  draws the chart into the image; no <!-- end -->
#   <!-- gnuplot: docs/results/x.gp IMAGE -->  likewise, what was measured, by a script beside it
#
# Paths are from the top of the checkout.  Without --check it writes (make readme).  With --check it
# changes nothing and prints what would change; `make check` wants no difference.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/${BUILD:-build}/bin:${BUILD:-}/bin:$PATH
scratch=$(mktemp -d)
export NO_COLOR=1 XDG_DATA_HOME=$scratch # not with what this user measured
trap 'rm -rf "$scratch"' EXIT

# part FILE NAME: the lines up to the first empty one, and those from "NAME (id): ..." to the next such line
part() {
	awk -v name="$2" '
		/^[a-z0-9_]+ \([A-Z][0-9]+\): / { is_part = $1 == name; found = found || is_part }
		/^exit code / { is_part = 0 }
		!has_head || is_part
		/^$/ { has_head = 1 }
		END { if (!found) print FILENAME ": no part of " name }' "$1" | sed '$!b; /^$/d'
}

# fill < DOCUMENT: the document with its generated parts made anew
fill() {
	local line command part
	while IFS= read -r line; do
		echo "$line"
		case $line in
		'<!-- run: '*' -->')
			command=${line#<!-- run: }
			command=${command% -->}
			printf '```\n$ %s\n' "$command"
			bash -c "$command" </dev/null 2>&1 | sed '$!b; /^$/d' >"$scratch/output"
			if [ -s "$scratch/output" ]; then cat "$scratch/output"; else echo '(nothing)'; fi
			printf '```\n'
			;;
		'<!-- file: '*' -->')
			command=${line#<!-- file: }
			command=${command% -->}
			printf '```\n'
			case $command in
			*' '*) part "${command% *}" "${command#* }" ;;
			*) cat "$command" ;;
			esac
			printf '```\n'
			;;
		*) continue ;;
		esac
		part=$line
		while IFS= read -r line && [ "$line" != '<!-- end -->' ]; do
			case $line in '<!-- run: '* | '<!-- file: '*) line='' && break ;; esac
		done
		[ "$line" = '<!-- end -->' ] || {
			echo "$part has no <!-- end -->" >&2
			return 1
		}
		echo "$line"
	done
}

# drawings DOCUMENT: script and image of each chart of something measured
drawings() {
	sed -n 's/^<!-- gnuplot: \(.*\) -->$/\1/p' "$1"
}

# plots DOCUMENT: chart, recording, image and options of each plot that it asks for
plots() {
	sed -n 's/^<!-- plot: \(.*\) -->$/\1/p' "$1"
}

for document in README.md docs/*.md docs/*/*.md; do
	fill <"$document" >"$scratch/filled" || {
		echo "$document: add it; nothing is written" >&2
		exit 1
	}
	if [ "${1-}" = --check ]; then
		diff --label "$document" --label "$document, made anew" -u "$document" "$scratch/filled" || true
		plots "$document" | while read -r _ _ image _; do
			[ -s "$image" ] || echo "$document: $image is missing"
		done
		drawings "$document" | while read -r _ image; do
			[ -s "$image" ] || echo "$document: $image is missing"
		done
		continue
	fi
	cmp -s "$scratch/filled" "$document" || cat "$scratch/filled" >"$document"
	plots "$document" | while read -r chart recording image options; do
		mkdir -p "$(dirname "$image")"
		# shellcheck disable=SC2086 # options are several words
		mv "$(rooflinectl plot "$recording" "$chart" $options -o "$scratch")" "$image"
	done
	drawings "$document" | while read -r script image; do
		gnuplot -e "image = '$image'" "$script"
	done
done
