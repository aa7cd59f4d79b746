#!/usr/bin/env bash
# run.sh SECONDS [TARGET...] - gives each target of tests/fuzz new inputs for so long, by libFuzzer, JOBS (1) processes
# beside each other, and adds what was run to docs/results/fuzz.txt, which make readme puts into docs/security.md.
# A target that is named twice gets two processes.
#
# The inputs that reach new code stay in build/libfuzzer/corpus/, where the next run goes on.  An input that ends the
# program, or takes 20 s or 2 GB, goes to tests/fuzz/found/TARGET.NAME: mend it, and leave it there for tests/cli/fuzz.bats.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=${BUILD:-$PWD/build/libfuzzer}
seconds=${1:?which time? run.sh SECONDS [TARGET...]}
shift
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(sed -n 's/^\tTARGET(\([a-z]*\),.*/\1/p' tests/fuzz/targets.h)
results=docs/results/fuzz.txt
jobs=${JOBS:-1}
[[ $jobs =~ ^[1-9][0-9]*$ ]] || { echo "run.sh: JOBS is a whole number from 1, not '$jobs'" >&2; exit 2; }
[ -x "$build/fuzz/fuzz" ] || { echo "run.sh: $build/fuzz/fuzz is not built: make fuzz" >&2; exit 1; }
scratch=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")
trap 'rm -rf "$scratch"' EXIT

# add TARGET EXECUTIONS SECONDS: to the sums in the file
add() {
	awk -v target="$1" -v executions="$2" -v seconds="$3" -v found="$(find tests/fuzz/found -name "$1.*" | wc -l)" '
		BEGIN { format = "%-12s %14s %16s %8s\n" }
		NR > 4 && $1 == target { executions += $2; hours = $3; next }
		NR > 4 { rows[$1] = $0 }
		END {
			print "$ make fuzz    (each run adds to these sums)"
			print "found: inputs that once ended the program; tests/cli/fuzz.bats gives them to it again"
			print ""
			printf format, "target", "executions", "processor_hours", "found"
			rows[target] = sprintf(format, target, executions, sprintf("%.3f", hours + seconds / 3600), found)
			sub(/\n$/, "", rows[target])
			for (row in rows) print rows[row] | "sort"
		}' "$([ -e $results ] && echo $results || echo /dev/null)" >"$scratch/results" && cp "$scratch/results" $results
}

# fuzz NUMBER TARGET: one process; what it found goes to $scratch/NUMBER.found
fuzz() {
	local used executions
	mkdir -p "$build/corpus/$2" tests/fuzz/found "$scratch/$1"
	TIMEFORMAT='%U %S'
	used=$({ time TMPDIR=$scratch/$1 FUZZ_TARGET=$2 nice -n 19 "$build/fuzz/fuzz" -max_total_time="$seconds" \
		-close_fd_mask=3 -print_final_stats=1 -max_len=32768 -timeout=20 -rss_limit_mb=2048 \
		-artifact_prefix="tests/fuzz/found/$2." "$build/corpus/$2" "$scratch/seeds/$2" \
		2>"$scratch/$1.log" >&2; } 2>&1 | tail -1)
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$1.log")
	grep -aE 'ERROR|SUMMARY|Test unit written' "$scratch/$1.log" >"$scratch/$1.found"
	(
		flock 9
		add "$2" "${executions:-0}" "$(awk '{ print $1 + $2 }' <<<"$used")"
	) 9>"$scratch/lock"
	rm -rf "${scratch:?}/$1"
}

python3 tests/fuzz/seeds.py "$build/bin/rooflinectl" "$scratch/seeds" || exit 1
for index in "${!targets[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
	fuzz "$index" "${targets[index]}" &
done
wait
cat $results
! grep -h . "$scratch"/*.found
