#!/usr/bin/env bash
# Which versions of CUPTI end a program with their records of memory, and that the collector does not.
#
#   CUPTI_VERSIONS=/opt/cupti/12.8:/opt/cupti/13.5 tests/gpu/check_memory_records.sh
#
# CUPTI_VERSIONS: folders that hold a libcupti.so.12 or libcupti.so.13.  A program frees with cudaFreeAsync what cudaMalloc
# allocated, and another one what cudaMallocAsync did; a client of CUPTI asks for records of memory and nothing else.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
rooflinectl=$BUILD/bin/rooflinectl
program=$programs/record_kinds
client=$programs/libone_kind.so

# ended LIBRARY OPTION: exit code and number of records
ended() {
	local status=0
	ONE_KIND=49 ONE_KIND_CUPTI=$1 CUDA_INJECTION64_PATH=$client timeout -k 5 60 "$program" "$2" 10 \
		>/dev/null 2>"$scratch/said" || status=$?
	echo "exit code $status, $(grep '^records' "$scratch/said" || echo 'no record')"
}

IFS=: read -ra folders <<<"${CUPTI_VERSIONS-}"
for library in "" "${folders[@]/%//libcupti.so.1?}"; do
	# shellcheck disable=SC2086 # the name ends in a pattern
	[ -z "$library" ] || library=$(echo $library)
	name=${library:+$(basename "$(dirname "$library")")}
	echo "# CUPTI ${name:-of this machine}: pools: $(ended "${library:-libcupti.so.13}" --allocations)"
	echo "# CUPTI ${name:-of this machine}: memory of cudaMalloc: $(ended "${library:-libcupti.so.13}" --freed)"
done

recorded() {
	rm -rf "$recording"
	"$rooflinectl" record -o "$recording" -- "$program" --freed 10 --allocations 10 >/dev/null 2>&1
}
check "with the collector it ends as without it" recorded
check "each allocation is recorded, with its pool or without" equal "11 12" "$(awk -F, '
	FNR > 1 && $2 == 1 && $3 == 3 && $5 == 4096 { if ($7) of_pool++; else plain++ }
	END { print of_pool, plain }' "$recording"/*/allocations.csv)"
finish
