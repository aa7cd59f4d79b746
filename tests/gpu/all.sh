#!/usr/bin/env bash
# What is to be checked and measured on GPUs, step by step, on as many as there are; one after the other, as they would
# disturb each other.
#
#   tests/gpu/all.sh DIR [STEP...]
#
# DIR gets results/NAME.txt of each step (docs/results/measure.sh), what `ceilings` measured, and recordings, packed; and all of
# that as DIR.tar.xz, which is one file to bring back.  No step may end the others: each has a limit, and what is left of it on
# the GPUs is ended with it.  Steps are made in the order in which they are given; without any, all of the table below that there
# are GPUs enough for.
# Environment: BUDGET_S (520), after which no step begins; BUILD, PYTHON; JOB_GPUS, how many `job` tries; PARTS and ONLY of
# check_several_gpus.sh for `mended`; PYTORCH_TESTS of check_try_torch.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
[ $# -ge 1 ] || { echo "usage: all.sh DIR [STEP...]" >&2; exit 2; }
BUILD=${BUILD:-$PWD/build}
out=$(realpath -m "$1")
shift
budget_s=${BUDGET_S:-520}
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 | sed 's/, /-/; s/ /_/g')
export RESULTS=$out/results BUILD
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container
# Multicast over NVLink can leave GPUs out of order that others use, too.
export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1

# step | GPUs that it needs | seconds at most | name of its result | command
steps=(
	"links|2|110|check-links-$gpus|tests/gpu/check_links.sh"
	"job|2|170|check-job-$gpus|${JOB_GPUS:+env GPUS=$JOB_GPUS} tests/gpu/check_job.sh"
	"counters|2|170|check-counters-ranks-$gpus|env RUNS=200 SECONDS_MOST=${COUNTERS_S:-110} tests/gpu/check_counters_ranks.sh"
	"cost|2|150|collector-cost-ranks|tests/bench/ranks.sh"
	"nvlink|2|40|check-nvlink-$gpus|tests/gpu/check_nvlink.sh"
	"tables|2|150|workloads-links-$gpus|tests/bench/links_workloads.sh links $gpus"
	"shmem|2|100|workloads-shmem-$gpus|tests/bench/links_workloads.sh shmem $gpus"
	"several|2|240|check-several-gpus-$gpus|tests/gpu/check_several_gpus.sh"
	"mended|2|90|check-several-gpus-$gpus-part|env PARTS=${PARTS:-right,wrong} ONLY=${ONLY:-.} tests/gpu/check_several_gpus.sh"
	"recordings|2|150|recordings-$gpus|tests/gpu/links_recordings.sh $out/recordings"
	"recordings4|2|80|recordings-$gpus-four|tests/gpu/links_recordings.sh $out/recordings four"
	"ceilings|2|180|ceilings-$gpu|$BUILD/bin/rooflinectl ceilings -o $out/$gpu.json"
	"tables2|2|120|workloads-links-2|tests/bench/links_workloads.sh links 2"
	"shmem2|2|80|workloads-shmem-2|tests/bench/links_workloads.sh shmem 2"
	"layernorm|1|30|fuse_layernorm_gemm|$BUILD/bin/rooflinectl workloads fuse_layernorm_gemm"
	"convolution|1|40|fuse_conv_bn_relu|$BUILD/bin/rooflinectl workloads fuse_conv_bn_relu"
	"ptx|1|30|jit_ptx|$BUILD/bin/rooflinectl workloads jit_ptx"
	"orchestration|1|60|ceilings-orchestration|$BUILD/bin/rooflinectl ceilings --only=orchestration -o $out/orchestration.json"
	"arguments|1|540|pairs-arguments|tests/pairs/record.sh $out/pairs ^(fuse_|overfused|clusters|concurrent_kernels|graph_forkjoin|dependent_launch)"
	"streams|1|60|check-try-streams|tests/gpu/check_try_streams.sh"
	"share|1|130|try-share|tests/gpu/check_try_share.sh"
	"torch|1|170|check-try-torch|tests/gpu/check_try_torch.sh"
	"sanitized|1|90|check-try-sanitizer|tests/gpu/check_try_sanitizer.sh"
	"libraries|1|550|check-libraries|tests/gpu/check_libraries.sh"
	"fusion|1|500|check-sanitizer-fusion|env ONLY=^(fuse_.*|overfused|bank_conflict|jit_.*|autotune|tune_transpose|transformer)$ LIMIT_S=200 tests/gpu/check_sanitizer.sh"
)

# What checks leave behind beside their result.
declare -A kept=([links]=$out/$gpu.links.json [job]=$out/job)

# run_step SECONDS NAME COMMAND...: in a session of its own, of which nobody is left behind
run_step() {
	local limit_s=$1 name=$2 session code
	shift 2
	setsid timeout -k 10 "$limit_s" docs/results/measure.sh "$name" "$@" >"$out/log/$name" 2>&1 </dev/null &
	session=$!
	wait $session
	code=$?
	pkill -KILL -s $session && sleep 1
	return $code
}

# summary NAME CODE SECONDS: one line, and what failed
summary() {
	local result=$RESULTS/$1.txt
	printf '%-26s %4d s  exit code %d of the step, %s of its command; %d ok, %d not ok\n' "$1" "$3" "$2" \
		"$(sed -nE 's/^exit code ([0-9]+)$/\1/p' "$result" 2>/dev/null | tail -n 1)" \
		"$(grep -c '^ok' "$result" 2>/dev/null)" "$(grep -c '^not ok' "$result" 2>/dev/null)"
	grep '^not ok' "$result" 2>/dev/null | sed 's/^/    /'
}

# row WORD: of the table
row() {
	printf '%s\n' "${steps[@]}" | grep "^$1|" || { echo "all.sh: there is no step '$1'" >&2; return 1; }
}

wanted=("$@")
[ $# -gt 0 ] || mapfile -t wanted < <(printf '%s\n' "${steps[@]}" | awk -F'|' -v gpus="$gpus" '$2 <= gpus { print $1 }')
for word in "${wanted[@]}"; do row "$word" >/dev/null || exit 2; done
mkdir -p "$out/log" "$RESULTS"
SECONDS=0
for word in "${wanted[@]}"; do
	IFS='|' read -r _ needed limit_s name command <<<"$(row "$word")"
	[ "$needed" -le "$gpus" ] || { echo "$word: left out, it needs $needed GPUs"; continue; }
	left_s=$((budget_s - SECONDS))
	[ $left_s -ge 20 ] || { echo "$word: left out, no time is left"; continue; }
	begin=$SECONDS
	read -ra words <<<"$command"
	export KEEP=${kept[$word]:-}
	run_step $((limit_s < left_s ? limit_s : left_s)) "$name" "${words[@]}"
	code=$?
	sed -i "s|$out/||g; s|$PWD/||g" "$RESULTS/$name.txt" # paths of this machine
	summary "$name" $code $((SECONDS - begin)) | tee -a "$out/summary.txt"
done
for file in "$out"/*.json; do
	[ ! -e "$file" ] || sed -i "s|$out/||g; s|$BUILD/bin/||g" "$file"
done
echo "$SECONDS s in all, on $gpus of $gpu" | tee -a "$out/summary.txt"
tar -C "$(dirname "$out")" -cJf "$out.tar.xz" "$(basename "$out")"
