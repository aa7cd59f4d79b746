#!/usr/bin/env bash
# record.sh [DIR [REGEX]] - makes the recordings of this folder anew, on a machine with a GPU; with REGEX
# those whose name matches.
#
# A workload's recordings are called workload.variant; the first variant is naive.  They are small: one
# warm-up and one run each.  Those of workloads about roofs, traffic and atomics have hardware counters, for
# which they run twice and without a limit; those of workloads in which the device launches have samples,
# and where it launches graphs a second run.  Those of several ranks need two GPUs: with one they are left
# out; where there are four, some are made on four as well, and called so.  Each is packed; README.md tells where and
# when the present ones were made.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$PWD/build
out=$(realpath -m "${1:-tests/recordings}")
only=${2:-.}
python=${PYTHON:-python3}
mpirun=(mpirun --oversubscribe --bind-to none)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container
samples=(--sample=1us --sample-metrics=sm,dram)
counters=(--counters=roofline,atomics,sm --counters-share=100)
waits=(--counters=roofline,atomics,sm,shared,stalls,global --counters-share=100)
export PATH=$build/bin:$build/lib/rooflinectl/workloads:$build/tests/gpu:$PATH

# record NAME COMMAND...
record() {
	local name=$1
	shift
	[[ $name =~ $only ]] || return 0
	rm -rf "${out:?}/$name"
	rooflinectl record -o "$out/$name" "$@" 2>&1 | tail -n 1
	rooflinectl pack --level 19 "$out/$name" && rm -r "${out:?}/$name"
}

# A GPU's counters serve one reader at a time: of two recordings the second goes without.
record_beside_another() {
	[[ $1 =~ $only ]] || return 0
	local scratch tries
	scratch=$(mktemp -d)
	# a session of its own, so that the program goes with the recorder
	setsid rooflinectl record -o "$scratch/first" --counters -- busy_gpu --seconds 60 \
		>"$scratch/out" 2>&1 &
	trap 'kill -- -'$!' 2>/dev/null; rm -rf '"$scratch" EXIT
	for ((tries = 0; tries < 300; tries++)); do # it has them once it has written which ones
		[ "$(cat "$scratch"/first/*/metrics.csv 2>/dev/null | wc -l)" -lt 2 ] || break
		sleep 0.1
	done
	record "$@"
	kill -- -$! || cat "$scratch/out"
	wait $! || true
	rm -rf "$scratch"
	trap - EXIT
}

for workload in $(awk -F'[(,]' '/^[ \t]*WORKLOAD\(/ { print $2 }' workloads/workloads.h); do
	for variant in $("$workload" --list | awk '{ print $1 }'); do
		case $workload in
		fuse_horizontal) # no two kernels run side by side where counters are read
			record "$workload.$variant" -- "$workload" "$variant" --repeats 1 --iterations 50 ;;
		fuse_reduction)
			record "$workload.$variant" --counters=roofline,sm,stalls --counters-share=100 -- \
				"$workload" "$variant" --repeats 2 --iterations 300 ;;
		bank_conflict)
			record "$workload.$variant" --counters=roofline,shared,global,sm --counters-share=100 -- \
				"$workload" "$variant" --repeats 2 --iterations 300 ;;
		atomic_* | histogram | *_bound | precision | clusters | fuse_* | overfused)
			# so long that the run outweighs the check on the host
			iterations=()
			case $workload in
			memory_bound) iterations=(--iterations 1000) ;;
			fuse_elementwise) iterations=(--iterations 300) ;;
			overfused) iterations=(--iterations 100) ;;
			esac
			record "$workload.$variant" "${counters[@]}" -- "$workload" "$variant" --repeats 2 "${iterations[@]}" ;;
		jit_gemm)
			case $variant in
			naive | tiles | jit | jit_unrolled | tensor | jit_tensor)
				record "$workload.$variant" "${waits[@]}" -- "$workload" "$variant" --repeats 2 --iterations 300 ;;
			*) record "$workload.$variant" -- "$workload" "$variant" --repeats 1 --iterations 20 ;;
			esac ;;
		jit_ptx) record "$workload.$variant" --counters -- "$workload" "$variant" --repeats 1 ;;
		tune_transpose) record "$workload.$variant" "${waits[@]}" -- "$workload" "$variant" --repeats 2 ;;
		device_*)
			record "$workload.$variant" --graphs=both "${samples[@]}" -- \
				"$workload" "$variant" --repeats 1 --iterations 8 ;;
		dp_* | persistent)
			record "$workload.$variant" "${samples[@]}" -- "$workload" "$variant" --repeats 1 ;;
		nvshmem_* | two_stage | p2p_overlap | nccl_* | scaling)
			[ "$(nvidia-smi -L | wc -l)" -lt 2 ] || CUDA_VISIBLE_DEVICES=0,1 record "$workload.$variant" -- \
				"$workload" "$variant" --repeats 1 --iterations 20 ;;
		mpi_cuda)
			[ "$(nvidia-smi -L | wc -l)" -lt 2 ] || CUDA_VISIBLE_DEVICES=0,1 record "$workload.$variant" -- \
				"${mpirun[@]}" -n 2 "$workload" "$variant" --repeats 1 ;;
		transformer) record "$workload.$variant" -- "$workload" "$variant" --repeats 1 --iterations 5 ;;
		*) record "$workload.$variant" -- "$workload" "$variant" --repeats 1 ;;
		esac
	done
done
# the same kernels once by samples and once by counters: their SMs have to agree
for workload in work_queue work_queue_mild; do
	record "$workload.naive.sampled" "${samples[@]}" -- "$workload" naive --repeats 1 --iterations 3
	record "$workload.naive.counted" --counters=sm --counters-share=100 -- "$workload" naive --repeats 1
done
record dynamic_parallelism.device.sampled --sample=1us -- dynamic_parallelism device --repeats 1 --iterations 20
CUDA_CACHE_DISABLE=1 record jit_ptx.each_time_no_disk -- jit_ptx each_time --repeats 1
for mode in eager graph; do
	record "torch_loop.$mode" -- "$python" tests/gpu/torch_loop.py --mode "$mode" --iterations 200 --repeats 2
done
for variant in naive graph; do
	record "graph_chain.$variant.counted" "${counters[@]}" -- graph_chain "$variant" --repeats 1
done
record torch_train --counters -- "$python" tests/gpu/torch_train.py --steps 200
record known_counts "${counters[@]}" -- known_counts --count 24
record known_counts.replay "${counters[@]}" --replay -- known_counts --count 2
record streams -- streams
record nvtx_ranges -- nvtx_ranges
record device_graph --graphs=graph -- device_graph
record syncs --syncs -- graph_chain naive --iterations 20 --repeats 1
for pitfall in refused_update leaked_graphs blocking_copy late_module_load repeated_module_load host_node no_host_node; do
	record "pitfalls.$pitfall" -- pitfalls "$pitfall"
done
for pitfall in bank_conflicts no_bank_conflicts register_spills; do
	record "pitfalls.$pitfall" --counters=shared --counters-share=100 -- pitfalls "$pitfall"
done
for pitfall in long_block no_long_block; do
	record "pitfalls.$pitfall" --sample=1us -- pitfalls "$pitfall"
done
for pitfall in low_occupancy no_low_occupancy; do
	record "pitfalls.$pitfall" --counters=roofline,atomics,sm,stalls --counters-share=100 -- pitfalls "$pitfall"
done
record pitfalls.pending_launches --graphs=graph -- pitfalls pending_launches
record_beside_another pitfalls.other_profiler --counters -- graph_chain naive --repeats 1
if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then
	export CUDA_VISIBLE_DEVICES=0,1
	record collectives.ordered -- "$python" tests/gpu/collectives.py --mode ordered
	record pitfalls.staged_peer_copy -- pitfalls staged_peer_copy
	record pitfalls.no_staged_peer_copy -- pitfalls no_staged_peer_copy
	record pitfalls.collective_order -- "$python" tests/gpu/collectives.py --mode swapped
	unset CUDA_VISIBLE_DEVICES
	for gpus in 2 4; do
		[ "$(nvidia-smi -L | wc -l)" -lt $gpus ] && continue
		for mode in one buckets tiny; do # as tests/gpu/record_ddp.sh, which measures them as well
			record ddp.$mode.$gpus -- "$python" tests/gpu/ddp.py --gpus $gpus --modes $mode --steps 10 --repeats 1
		done
	done
fi
if [ "$(nvidia-smi -L | wc -l)" -ge 4 ]; then
	export CUDA_VISIBLE_DEVICES=0,1,2,3
	for name in scaling.naive scaling.overlapped nccl_graph.naive nccl_graph.graph nccl_bucketed.naive nccl_bucketed.buckets; do
		record "$name.four" -- "${name%.*}" "${name#*.}" --repeats 1 --iterations 20
	done
	for variant in naive pipelined; do
		record "mpi_cuda.$variant.four" -- "${mpirun[@]}" -n 4 mpi_cuda "$variant" --repeats 1
	done
fi
[ "$only" = . ] || exit 0
{
	echo "# Recordings of a real GPU"
	echo
	echo "Made by \`tests/recordings/record.sh\` on $(date -u +%Y-%m-%d), on an" \
		"$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, / with driver /')."
	echo "The tests and the demo read them; docs/trace-format.md describes the tables."
} >"$out/README.md"
