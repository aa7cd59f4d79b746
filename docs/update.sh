#!/usr/bin/env bash
# docs/update.sh [--check] - the report and the charts of README.md, from the bundled recording.
#
# Without --check it writes them (make readme).  With --check it changes nothing and prints how the
# report in README.md differs from what rooflinectl prints now; `make check` wants no difference.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rooflinectl=${BUILD:-build}/bin/rooflinectl
recording=tests/recordings/graph_chain.naive
begin='<!-- report:begin -->'
end='<!-- report:end -->'

[ -d "$recording" ] || {
	echo "docs/update.sh: no recording $recording" >&2
	exit 1
}

section() {
	echo "$begin"
	echo '```'
	echo "\$ rooflinectl report --top 3 $recording"
	NO_COLOR=1 "$rooflinectl" report --top 3 "$recording"
	echo '```'
	echo
	echo '![Timeline of the recording: what each stream ran, and why the GPU idled between](docs/images/roofline-timeline.svg)'
	echo "$end"
}

updated=$(mktemp)
trap 'rm -f "$updated"' EXIT
{
	sed "/^$begin\$/,\$d" README.md
	section
	sed "1,/^$end\$/d" README.md
} >"$updated"

if [ "${1-}" = --check ]; then
	diff README.md "$updated" || true
	[ -s docs/images/roofline-timeline.svg ] || echo "docs/images/roofline-timeline.svg is missing"
else
	cat "$updated" >README.md
	"$rooflinectl" plot "$recording" -o docs/images --format svg
fi
