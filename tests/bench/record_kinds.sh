#!/bin/bash
# What each kind of record costs: the same operations bare, with a client of CUPTI that asks for that kind alone and throws
# its records away, and with the collector.  The ways take turns; medians over the rounds are compared.
#
#   make && make gpu-tests && tests/bench/record_kinds.sh [ROUNDS]      7 rounds when not given
#
# SHARED_CUPTI: the path of a CUPTI 13.3 or newer, whose records of chosen fields are then measured, too.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
rounds=${1:-7}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || {
	echo "record_kinds.sh: ROUNDS is a whole number from 1, not '$rounds'" >&2
	exit 2
}
nvidia-smi -L >/dev/null 2>&1 || {
	echo "record_kinds: skipped, no NVIDIA GPU"
	exit 0
}
program=$build/tests/gpu/record_kinds
client=$build/tests/gpu/libone_kind.so
collector=$build/lib/librooflinecollector.so
for file in "$program" "$client" "$collector"; do
	[[ -e $file ]] || {
		echo "record_kinds.sh: $file is not built: run make and make gpu-tests" >&2
		exit 1
	}
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
values=$scratch/values # row | way | value

# operation | number of them | ways: kinds of the client, and the collector with its variables
rows=(
	"launch|--launches 50000|10 launch_call callback collector collector:ROOFLINE_API=none"
	"copy|--copies 20000|1 collector collector:ROOFLINE_API=none"
	"memset|--memsets 20000|2 collector collector:ROOFLINE_API=none"
	"node|--nodes 50000|10 51 collector collector:ROOFLINE_GRAPHS=graph"
	"allocation|--allocations 20000|49 50 collector collector:ROOFLINE_ALLOCATIONS=0"
	"wait|--waits 50000|38 collector collector:ROOFLINE_SYNCS=1 collector:ROOFLINE_API=none"
	"range|--ranges 50000|12 collector collector:ROOFLINE_NVTX=0"
	"stream|--streams 300|37 collector"
)
# Of a kernel's record: what the collector reads, and its times alone (CUpti_ActivityKernelFieldIds of CUDA 13.5)
read_fields=0,4,7,8,10,11,12,13,14,15,16,17,18,19,20,21,22,24,27,31,33,35,38,39,40
time_fields=0,7,8,12,22,24
[[ -z ${SHARED_CUPTI:-} ]] ||
	rows+=("launch|--launches 50000|shared:whole shared:read shared:times")
declare -A names=([1]="copies" [2]="memsets" [37]="streams" [10]="kernels" [12]="NVTX ranges"
	[17]="overheads" [38]="synchronizations" [51]="graph launches" [49]="memory" [50]="memory pools"
	[launch_call]="calls that launch" [callback]="an empty callback")

# run_way WAY COMMAND...
run_way() {
	local way=$1 variable=ROOFLINE_X=
	shift
	case $way in
	bare) env -u CUDA_INJECTION64_PATH "$@" ;;
	shared:*)
		[[ $way != shared:read ]] || variable=ONE_KIND_FIELDS=$read_fields
		[[ $way != shared:times ]] || variable=ONE_KIND_FIELDS=$time_fields
		env "$variable" ONE_KIND=10 ONE_KIND_CUPTI="$SHARED_CUPTI" CUDA_INJECTION64_PATH="$client" "$@"
		;;
	collector*)
		[[ $way != *:* ]] || variable=${way#*:}
		env "$variable" CUDA_INJECTION64_PATH="$collector" NVTX_INJECTION64_PATH="$collector" \
			ROOFLINE_OUTPUT="$scratch/out" "$@"
		rm -rf "$scratch/out"
		;;
	*) env ONE_KIND="$way" CUDA_INJECTION64_PATH="$client" NVTX_INJECTION64_PATH="$client" "$@" ;;
	esac
}

measure() {
	local row operation options ways way value
	for row in "${rows[@]}"; do
		IFS='|' read -r operation options ways <<<"$row"
		for way in bare $ways; do
			# shellcheck disable=SC2086 # the options are words
			value=$(run_way "$way" "$program" $options 2>"$scratch/errors" |
				awk -v name="ns_per_$operation" '$1 == name { print $2 }') || true
			[[ -n $value ]] || value=died
			echo "$operation|$way|$value" >>"$values"
		done
	done
}

# median OPERATION WAY
median() {
	awk -F'|' -v operation="$1" -v way="$2" '$1 == operation && $2 == way { print $3 }' "$values" | sort -g |
		awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'
}

echo "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
echo "$rounds rounds; medians, ns of the host for each operation"
for ((round = 0; round < rounds; round++)); do measure; done
printf '\n%-11s %-44s %9s %9s\n' operation "what is recorded" "ns" "added"
for row in "${rows[@]}"; do
	IFS='|' read -r operation options ways <<<"$row"
	bare=$(median "$operation" bare)
	for way in bare $ways; do
		case $way in
		bare) what=nothing ;;
		shared:whole) what="newer CUPTI, kernels: whole records" ;;
		shared:read) what="newer CUPTI, kernels: fields that we read" ;;
		shared:times) what="newer CUPTI, kernels: times alone" ;;
		collector) what="collector, as it is" ;;
		collector:*) what="collector, ${way#*:}" ;;
		[0-9]*) what="kind $way alone: ${names[$way]}" ;;
		*) what="${names[$way]}, alone" ;;
		esac
		awk -v operation="$operation" -v what="$what" -v bare="$bare" -v value="$(median "$operation" "$way")" \
			'BEGIN { printf "%-11s %-44s %9.1f %9.1f\n", operation, what, value, value - bare }'
	done
done

echo
for kind in 49 49,50 10; do
	status=0
	run_way "$kind" "$program" --freed 10 >/dev/null 2>&1 || status=$?
	echo "memory of cudaMalloc freed by cudaFreeAsync, with kind $kind: exit code $status"
done
status=0
run_way collector "$program" --freed 10 >/dev/null 2>&1 || status=$?
echo "memory of cudaMalloc freed by cudaFreeAsync, with the collector: exit code $status"
