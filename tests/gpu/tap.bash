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

# skip SENTENCE REASON
skip() {
	test_count=$((test_count + 1))
	echo "ok $test_count - $1 # SKIP $2"
}

# start COMMAND...: runs it beside others, $jobs at a time and each for at most $limit_s.  As run number
# $run_count it leaves what it prints in $scratch/N.out and N.err, and its exit code in N.code (124: too long).
jobs=${JOBS:-$((($(nproc) + 1) / 2))}
limit_s=${LIMIT_S:-100}
run_count=0
start() {
	local run=$scratch/$((++run_count))
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
	{
		timeout -k 5 "$limit_s" "$@" >"$run.out" 2>"$run.err" </dev/null
		echo $? >"$run.code"
	} &
}

# shown FILE...: as TAP comments, at most 20 lines of each
shown() {
	head -q -n 20 "$@" | sed 's/^/#   /'
}

# workload_names REGEX: the workloads in workloads.h whose name matches
workload_names() {
	sed -n 's/^[[:space:]]*WORKLOAD(\([a-z_0-9]*\),.*/\1/p' workloads/workloads.h | grep -E "$1"
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

# gpu_count: those that programs see
gpu_count() {
	if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
		tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | grep -c .
	else
		nvidia-smi -L 2>/dev/null | wc -l
	fi
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
