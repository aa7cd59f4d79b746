# Sourced by the checks that need a GPU: TAP, and the paths they use.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
BUILD=${BUILD:-$PWD/build}
collector=$BUILD/lib/librooflinecollector.so
programs=$BUILD/tests/gpu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
recording=$scratch/recording
test_count=0

# check SENTENCE COMMAND...: ok when the command succeeds
check() {
	local sentence=$1
	shift
	test_count=$((test_count + 1))
	if "$@"; then echo "ok $test_count - $sentence"; else echo "not ok $test_count - $sentence"; fi
}

# equal WANTED GOT: says both when they differ
equal() {
	[ "$1" = "$2" ] || { echo "# wanted '$1', got '$2'"; return 1; }
}

# at_most LIMIT GOT
at_most() {
	[ "$2" -le "$1" ] || { echo "# at most $1, got $2"; return 1; }
}

# record COMMAND...: runs it with the collector into $recording, which is emptied first
record() {
	rm -rf "$recording"
	ROOFLINE_OUTPUT=$recording LD_PRELOAD=$collector "$@"
}

# rows TABLE: how many rows all processes of $recording have of it
rows() {
	tail -q -n +2 "$recording"/*/"$1".csv | wc -l
}

# lost: every loss of $recording as "kind count", added up
lost() {
	tail -q -n +2 "$recording"/*/losses.csv |
		awk -F, '{ lost[$2] += $3 } END { for (kind in lost) printf "%s %d ", kind, lost[kind] }'
}

# invalid_kernels: rows of kernels.csv whose times are missing or reversed, or that are cut off
invalid_kernels() {
	tail -q -n +2 "$recording"/*/kernels.csv |
		awk -F, 'NF != 9 || $1 <= 0 || $2 < $1 { bad++ } END { print bad + 0 }'
}

finish() {
	echo "1..$test_count"
}
