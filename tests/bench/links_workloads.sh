#!/bin/bash
# The workloads on several GPUs (H1 to H9), all variants of each, one table after the other.
#
#   tests/bench/links_workloads.sh links|shmem [GPUS]      all GPUs when not given
#
# links: copies, NCCL and MPI, mpi_cuda as a process a GPU; shmem: NVSHMEM, and two GPUs that hand over.  What does not end
# within 40 s is given up, and told.  Environment: BUILD, REPEATS (5).
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${BUILD:-$root/build}/lib/rooflinectl/workloads
all=$(nvidia-smi -L 2>/dev/null | wc -l)
gpus=${2:-$all}
repeats=${REPEATS:-5}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container

case ${1:-} in
links) names=(p2p_overlap nccl_bucketed nccl_graph mpi_cuda scaling) ;;
shmem) names=(nvshmem_signal nvshmem_steal nvshmem_step two_stage) ;;
*)
	echo "usage: links_workloads.sh links|shmem [GPUS]" >&2
	exit 2
	;;
esac
[[ $gpus -ge 2 && $gpus -le $all ]] || { echo "skipped: this machine has $all GPUs"; exit 0; }
CUDA_VISIBLE_DEVICES=$(seq -s, 0 $((gpus - 1)))
export CUDA_VISIBLE_DEVICES

failed=0
for name in "${names[@]}"; do
	launcher=()
	[[ $name != mpi_cuda ]] || launcher=(mpirun --oversubscribe --bind-to none -n "$gpus")
	timeout -k 5 90 "${launcher[@]}" "$folder/$name" --repeats "$repeats" --limit-s 15 </dev/null ||
		{ echo "$name: exit code $? (124: too long)"; failed=1; }
	echo
done
exit $failed
