#!/usr/bin/env bash
# Samples of every microsecond find what the device launches: against the stamps of the kernels themselves.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

workloads=$BUILD/lib/rooflinectl/workloads
tool=$BUILD/bin/rooflinectl

# compare GRAPHS WORKLOAD VARIANT OPTION...: one line into $scratch/lines, and as a TAP comment
compare() {
	local graphs=$1 workload=$2 variant=$3
	shift 3
	rm -rf "$recording"
	"$tool" record -o "$recording" --graphs="$graphs" --sample=1us --sample-metrics=sm,dram -- \
		"$workloads/$workload" "$variant" --repeats 1 --stamps "$scratch/stamps" "$@" \
		>"$scratch/out" 2>&1 || { sed 's/^/# /' "$scratch/out"; return; }
	tests/gpu/device_work.py "$tool" "$recording" "$scratch/stamps" >"$scratch/line"
	echo "# $workload $variant --graphs=$graphs $*: $(cat "$scratch/line")"
	cat "$scratch/line" >>"$scratch/lines"
}

# total WORD: the number behind the word, added up
total() {
	awk -v word="$1" '{ for (i = 1; i < NF; i++) if ($i == word) sum += $(i + 1) } END { print sum + 0 }' \
		"$scratch/lines"
}

: >"$scratch/lines"
for variant in fire_and_forget tail tail_queue sibling; do
	compare node device_graph "$variant"
	compare graph device_graph "$variant"
done
for variant in tail fire_and_forget one_graph; do compare node device_scheduler "$variant"; done
for variant in fire_and_forget tail relaunch; do compare node device_choice "$variant"; done
for variant in device_level device; do compare node dp_irregular "$variant"; done
compare node dp_tokens device
compare node dynamic_parallelism device --size 8388608 --iterations 20
# nothing is launched from the device here, so whatever is found is false
for workload in persistent dp_irregular dp_tokens device_graph; do compare node "$workload" naive; done
echo "# in all: long $(total long) found $(total found) close $(total close) bursts $(total bursts) false $(total false)"
check "every launch from the device of 3 us and longer is found" equal "$(total long)" "$(total found)"
check "there are more than 1000 of them" [ "$(total long)" -gt 1000 ]
check "start and length are within 2 us for 95 in 100" \
	[ $((100 * $(total close))) -ge $((95 * $(total long))) ]
check "at most 1 in 100 bursts is false" [ $((100 * $(total false))) -le "$(total bursts)" ]
finish
