#!/usr/bin/env bash
# Hardware counters never stall a collective: programs of NCCL and NVSHMEM on two GPUs are recorded with --counters over and over.
# Each has to end well and in time, and none of the libraries' kernels may have been counted.
#
#   RUNS=200 SECONDS_MOST=170 tests/gpu/check_counters_ranks.sh     so many runs, as far as they begin within that time
#
# Runs are as short as they can be: most of what one takes is the start of CUDA, CUPTI and the library.  A GPU has one reader
# of its counters, so there is one run at a time on each pair of GPUs.  At last each program runs once on all GPUs.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl
folder=$BUILD/lib/rooflinectl/workloads
python=${PYTHON:-python3}
runs=${RUNS:-16}
seconds_most=${SECONDS_MOST:-300}
limit_s=30 # of one run: it takes a few seconds

# Kernels of a file called nccl_bucketed.cu are left alone for their name, too: here only those of the libraries are.
export ROOFLINE_COUNTERS_SKIP='ncclDev|ncclKernel|ncclSym|nvshmemi_|_on_stream_kernel'
programs_tried=(
	"$programs/known_delays --steps 8 --compute-us 50 --late-us 50 --bytes 1048576 --copy-bytes 1048576"
	"$folder/nccl_bucketed buckets --size 65536 --repeats 1 --iterations 5 --limit-s 20"
	"$folder/nccl_bucketed graph --size 65536 --repeats 1 --iterations 5 --limit-s 20"
	"$folder/nccl_graph naive --size 65536 --repeats 1 --iterations 5 --limit-s 20"
	"$folder/nccl_graph graph --size 65536 --repeats 1 --iterations 5 --limit-s 20"
	"$folder/scaling overlapped --size 65536 --repeats 1 --iterations 5 --limit-s 20"
	"$folder/nvshmem_step on_stream --repeats 1 --iterations 20 --limit-s 20"
	"$folder/nvshmem_step naive --repeats 1 --iterations 20 --limit-s 20"
)
# Whose own kernels wait for other GPUs: once each.
programs_waiting=(
	"$folder/nvshmem_signal persistent --repeats 1 --iterations 20 --limit-s 10"
	"$folder/nvshmem_step device_barrier --repeats 1 --iterations 20 --limit-s 10"
	"$folder/two_stage persistent --repeats 1 --iterations 10 --limit-s 10"
)

# run_counted NAME GPUS COMMAND: on these GPUs; how it ended in $scratch/NAME.code
run_counted() {
	local run=$scratch/$1 command
	read -ra command <<<"$3"
	CUDA_VISIBLE_DEVICES=$2 timeout -k 5 $limit_s "$tool" record -o "$run" --counters --counters-share=100 -- \
		"${command[@]}" >"$run.out" 2>"$run.err" </dev/null
	echo "$? ${command[0]##*/} ${command[1]}" >"$run.code"
}

# work_through FIRST STEP GPUS: every STEP-th run from FIRST on
work_through() {
	local number
	for ((number = $1; number < runs; number += $2)); do
		[ $SECONDS -lt "$seconds_most" ] || return 0
		run_counted "$number" "$3" "${programs_tried[number % ${#programs_tried[@]}]}"
	done
}

# all_ended_well PREFIX: of the names of runs, and did something; what did not is shown
all_ended_well() {
	local code failed=0
	# shellcheck disable=SC2231 # a pattern
	for code in "$scratch"/$1*.code; do
		grep -q '^0 ' "$code" && ! grep -q 'skipped: ' "${code%.code}.out" && continue
		echo "# exit code $(cat "$code") (124: too long)"
		shown "${code%.code}.err" "${code%.code}.out"
		failed=1
	done
	return $failed
}

# counted PYTHON: whether an expression holds of all recordings, in which own is how many launches of programs' kernels were
# counted, and library how many of the libraries'; prints both
counted() {
	"$python" - "$scratch" "$1" <<-'END'
		import csv, glob, os, re, sys
		def table(folder, name):
		    path = os.path.join(folder, name + ".csv")
		    return list(csv.DictReader(open(path, newline=""))) if os.path.exists(path) else []
		is_library = re.compile("ncclDev|ncclKernel|ncclSym|nvshmemi_|_on_stream_kernel").search
		own = library = launched = 0
		for folder in glob.glob(os.path.join(sys.argv[1], "*", "*", "")):
		    names = {row["id"]: row.get("name", row.get("text", "")) for row in table(folder, "names")}
		    shapes = {row["id"]: names[row["name"]] for row in table(folder, "signatures")}
		    counted = {row["correlation"] for row in table(folder, "counted")}
		    for row in table(folder, "kernels"):
		        of_library = bool(is_library(shapes[row["signature"]]))
		        launched += of_library
		        own += not of_library and row["correlation"] in counted
		        library += of_library and row["correlation"] in counted
		print(f"# {own} kernels of programs counted, {library} of {launched} of NCCL and NVSHMEM")
		sys.exit(not eval(sys.argv[2]))
	END
}

gpus=$(gpu_count)
run_counted 0 0,1 "${programs_tried[0]}"
if [ "$gpus" -lt 2 ] || grep -q 'skipped: ' "$scratch/0.out" "$scratch/0.err"; then
	skip "counters and collectives" "$(sed -n 's/.*skipped: //p' "$scratch/0.out" "$scratch/0.err" | grep . || echo "needs two GPUs")"
	finish
	exit
fi
IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 $((gpus - 1)))}"
pairs=$((gpus / 2))
for ((pair = 0; pair < pairs; pair++)); do
	work_through $((pair + 1)) $pairs "${visible[2 * pair]},${visible[2 * pair + 1]}" &
done
wait
echo "# $(cat "$scratch"/*.code | wc -l) of $runs runs on two GPUs each, in $SECONDS s"
all=$(IFS=, && echo "${visible[*]}")
for program in "${!programs_tried[@]}"; do
	[ "$gpus" -le 2 ] || run_counted "all.$program" "$all" "${programs_tried[program]}"
done
for program in "${!programs_waiting[@]}"; do run_counted "waiting.$program" "$all" "${programs_waiting[program]}"; done
echo "# and programs once each on $gpus GPUs, until $SECONDS s"
cat "$scratch"/*.code | sort | uniq -c | sed 's/^ */# /'
check "every run ends well, and in time" all_ended_well "[0-9a]"
check "so do those of programs whose own kernels wait for other GPUs" all_ended_well waiting
check "none of the libraries' kernels is counted, and they ran" counted "library == 0 and launched > 0"
check "programs' own kernels are counted beside them" counted "own > 0"
finish
