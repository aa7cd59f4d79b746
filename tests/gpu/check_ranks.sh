#!/usr/bin/env bash
# The workloads of several ranks that run on one GPU: nccl_graph with a communicator of one rank, and of two where NCCL (2.30)
# lets them share a GPU; mpi_cuda under mpirun, whose processes may share one.  Every variant gives the reference's result, and
# a wrong order ends by the time limit.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

folder=$BUILD/lib/rooflinectl/workloads
export NCCL_MAX_CTAS=4 NCCL_MULTI_RANK_GPU_ENABLE=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container

# ran COMMAND...: its output in $scratch/out and $scratch/err
ran() {
	timeout -k 5 "${limit_s:-100}" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# was_right CODE: all variants that ran gave the reference's result
was_right() {
	[ "$1" = 0 ] && grep -q 'every result matches the scalar reference$' "$scratch/out" && return
	echo "# exit code $1 (124: too long)"
	shown "$scratch/err" "$scratch/out"
	return 1
}

# as_two COMMAND...: two processes on GPU 0, as a launcher would start them; the first one's output
as_two() {
	local code other
	export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((29000 + RANDOM % 1000))
	RANK=1 LOCAL_RANK=1 timeout -k 5 100 "$@" >"$scratch/other.out" 2>"$scratch/other.err" </dev/null &
	other=$!
	RANK=0 LOCAL_RANK=0 ran "$@"
	code=$?
	wait $other || [ $code -ne 0 ] || code=$?
	unset WORLD_SIZE MASTER_ADDR MASTER_PORT
	shown "$scratch/other.err"
	return $code
}

# gave_up CODE: by the time limit, with the words for it
gave_up() {
	[ "$1" -ne 0 ] && [ "$1" -ne 124 ] && grep -q 'not done within' "$scratch/err" "$scratch/other.err" 2>/dev/null && return
	echo "# exit code $1"
	shown "$scratch/err"
	return 1
}

ran "$folder/nccl_graph" --gpus 1
code=$?
if why=$(grep -oE 'skipped: .*' "$scratch/out" "$scratch/err" | head -1) && [ -n "$why" ]; then
	skip "nccl_graph" "$why"
else
	check "nccl_graph, one rank: every variant is right" was_right $code
	sed 's/^/# /' "$scratch/out"
	for size in 1 65537; do
		ran "$folder/nccl_graph" --gpus 1 --size $size --iterations 3
		check "nccl_graph, one rank, --size $size: every variant is right" was_right $?
	done
	version=$("$programs/nccl_calls" 0 1 "$scratch/id" | sed -n 's/^version //p')
	if [ "${version:-0}" -lt 23000 ]; then
		skip "nccl_graph, two ranks on one GPU" "NCCL ${version:-?}: 2.30 is the first that allows it"
	else
		as_two "$folder/nccl_graph"
		check "nccl_graph, two ranks on one GPU: every variant is right" was_right $?
		sed 's/^/# /' "$scratch/out"
		as_two "$folder/nccl_graph" graph --wrong-order 1 --limit-s 5 --repeats 2 --iterations 20
		check "nccl_graph, two ranks in the wrong order: wrong results, or given up" equal 1 $?
		shown "$scratch/err"
	fi
fi

ran "$folder/mpi_cuda"
check "mpi_cuda alone says what to type" grep -q 'skipped: needs two processes or more: mpirun -n 2 ' "$scratch/out" "$scratch/err"
if ! command -v mpirun >/dev/null; then
	skip "mpi_cuda" "no mpirun here (openmpi-bin)"
	finish
	exit
fi
ran mpirun --oversubscribe -n 2 "$folder/mpi_cuda"
check "mpi_cuda, two ranks: every variant is right" was_right $?
sed 's/^/# /' "$scratch/out"
for size in 1 65537; do
	ran mpirun --oversubscribe -n 2 "$folder/mpi_cuda" --size $size --iterations 3
	check "mpi_cuda, two ranks, --size $size: every variant is right" was_right $?
done
ran mpirun --oversubscribe -n 3 "$folder/mpi_cuda" --size 65537 --iterations 4
check "mpi_cuda, three ranks: every variant is right" was_right $?
ran mpirun --oversubscribe -n 2 "$folder/mpi_cuda" naive --wrong-order 1 --limit-s 3 --repeats 1
check "mpi_cuda in the wrong order is given up" gave_up $?
shown "$scratch/err"
rm -rf "$recording"
ran mpirun --oversubscribe -n 2 "$BUILD/bin/rooflinectl" record -o "$recording" -- "$folder/mpi_cuda" pinned --repeats 1
check "mpi_cuda is recorded, with a rank for each process" equal "0 1" \
	"$(cat "$recording"/*/process.csv | sed -nE 's/^rank,(.*)/\1/p' | sort | xargs)"
check "nothing is lost" equal "" "$(lost | xargs)"
"$BUILD/bin/rooflinectl" report "$recording" -s job,transfers | sed 's/^/# /'
finish
