#!/usr/bin/env bash
# What happens rarely, often: signals to record, first NVTX calls beside forks and constructors, files that take no more,
# a program with its own profiler.  Many runs at a time, each as it ends without us.
#
#   RUNS=N JOBS=N tests/gpu/check_storms.sh     50 of each when not given
#   PROFILER_RUNS=N STORMS=REGEX                 of PyTorch's profiler, a tenth of RUNS when not given; these storms alone
#   tests/gpu/check_storms.sh one NAME NUMBER   one run of a storm: 0 when all is as it should be
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
runs=${RUNS:-50}
profiler_runs=${PROFILER_RUNS:-$(((runs + 9) / 10))}
tool=$BUILD/bin/rooflinectl
python=${PYTHON:-python3}

# guest ARGUMENT...: nvtx_race, recorded
guest() {
	NVTX_INJECTION64_PATH=$collector ROOFLINE_OUTPUT=$recording LD_PRELOAD=$collector \
		timeout -s KILL 60 "$programs/nvtx_race" "$@"
}

one_constructor() {
	[ "$(guest --delay-us $(($1 * 1500)) "$BUILD/tests/collector/libfirst_nvtx.so" | paste -sd' ')" = "children 0 counted 1" ]
}

# A fork that begins at the same moment as the first call gives its child NVTX's own wait, with any tool (docs/collector.md):
# so the first one comes later.
one_forks() {
	[ "$(guest --delay-us $((1500 + $1 * 1500)) --forks 10 | paste -sd' ')" = "children 10 counted 1" ]
}

# record, or its whole process group, gets TERM at any time: it ends with it, leaves no process, and what is there is readable
one_term() {
	local recorder code wait
	setsid "$tool" record -o "$recording" -- "$programs/endings" never >"$scratch/out" 2>&1 &
	recorder=$!
	for ((wait = 0; wait < 400; wait++)); do # CUDA takes long to start now and then
		[ -s "$scratch/out" ] && break
		sleep 0.05
	done
	sleep "0.0$((RANDOM % 90 + 10))"
	kill -TERM -- "$( (($1 % 2)) && echo -)$recorder"
	wait $recorder
	code=$?
	[ $code -eq 143 ] && ! pgrep -g $recorder && "$tool" report "$recording" >"$scratch/report"
}

# No file may grow beyond 256 KiB: the program, which writes none, ends as ever, and the recording says that rows are missing.
one_full() {
	local code
	(
		ulimit -f 256
		exec "$tool" record -o "$recording" -- "$programs/endings" --launches 20000 exit
	) >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ $code -eq 3 ] && [ "$(grep -c rooflinecollector "$scratch/err")" -eq 1 ] && "$tool" report "$recording" >"$scratch/report"
}

one_profiler() {
	"$tool" record -o "$recording" -- "$python" tests/gpu/torch_profiler.py | grep -q '^kernels '
}

if [ "${1-}" = one ]; then
	"one_$2" "$3"
	exit
fi

# storm NAME RUNS SENTENCE
storm() {
	local first=$((run_count + 1)) bad=0 i
	[[ $1 =~ ${STORMS:-.} ]] || return 0
	for ((i = 0; i < $2; i++)); do
		start "tests/gpu/$(basename "${BASH_SOURCE[0]}")" one "$1" $i
	done
	wait
	for ((i = first; i <= run_count; i++)); do
		[ "$(cat "$scratch/$i.code")" = 0 ] && continue
		bad=$((bad + 1))
		echo "# $1 $((i - first)): $(cat "$scratch/$i.code")"
		shown "$scratch/$i.out" "$scratch/$i.err"
	done
	check "$2 $3" equal 0 $bad
}

storm term "$runs" "runs whose record gets TERM end with it, leave no process, and are readable"
storm constructor "$runs" "first NVTX calls while a constructor uses NVTX: none hangs"
storm forks "$runs" "first NVTX calls while children are forked: none hangs"
storm full "$runs" "runs whose files take no more end as ever"
if "$python" -c 'import torch' 2>/dev/null; then
	storm profiler "$profiler_runs" "runs with PyTorch's own profiler inside end as ever"
else
	skip "runs with PyTorch's own profiler inside end as ever" "no PyTorch"
fi
finish
