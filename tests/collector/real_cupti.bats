#!/usr/bin/env bats
# The real libcupti, as far as it works without a driver.
load common

setup_file() {
	local folder
	for folder in /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64 \
		/usr/local/cuda/targets/x86_64-linux/lib; do
		[ -e "$folder/libcupti.so.13" ] || continue
		export REAL_CUPTI=$folder/libcupti.so.13
		ask_chips
		return
	done
}

# CUPTI's answers take seconds, so all chips are asked once, for all tests.  Not with ASan: need_host_interface.
ask_chips() {
	[ -z "$runtimes" ] || return 0
	"$BUILD/tests/collector/metric_table" "$REAL_CUPTI" >"$BATS_FILE_TMPDIR/sets" || touch "$BATS_FILE_TMPDIR/sets.wrong"
	"$BUILD/tests/collector/sample_table" "$REAL_CUPTI" >"$BATS_FILE_TMPDIR/samples" || touch "$BATS_FILE_TMPDIR/samples.wrong"
}

need_cupti() {
	[ -n "${REAL_CUPTI-}" ] || skip "no libcupti.so.13 here"
	export ROOFLINE_CUPTI=$REAL_CUPTI
}

need_no_driver() {
	need_cupti
	[ ! -e /proc/driver/nvidia/version ] || skip "this machine has an NVIDIA driver"
}

@test "every call that launches, runs a graph, copies or sets is recorded" {
	need_cupti
	"$BUILD/tests/collector/real_cupti" "$REAL_CUPTI" names
}

@test "every row of the table of calls decides about a call that it knows" {
	need_cupti
	"$BUILD/tests/collector/real_cupti" "$REAL_CUPTI" rows
}

@test "its records are at least as long as the collector and the mock believe" {
	need_cupti
	"$BUILD/tests/collector/real_cupti" "$REAL_CUPTI" lengths
}

# CUPTI_VERSIONS: folders of other libraries, parted by colons
@test "records of other versions, of 12.4 and newer, are as long as the collector and the mock believe" {
	local folders folder library status
	[ -n "${CUPTI_VERSIONS-}" ] || skip "CUPTI_VERSIONS names no folders"
	IFS=: read -ra folders <<<"$CUPTI_VERSIONS"
	for folder in "${folders[@]}"; do
		library=$(ls -d "$folder"/libcupti.so.1[23])
		status=0
		"$BUILD/tests/collector/real_cupti" "$library" lengths || status=$?
		[ "$status" -eq 0 ] || [ "$status" -eq 2 ] # 13.3 and newer tell nothing without a driver
	done
}

@test "without a driver the program runs as ever and is reported once" {
	need_no_driver
	record cuda kernels:5 exit:6
	warned 1 'CUPTI cannot be used: CUPTI_ERROR_[A-Z_]+ \([0-9]+\); nothing is recorded'
	ended_with 6
	wrote_nothing
}

@test "found by its name alone" {
	need_no_driver
	unset ROOFLINE_CUPTI
	record_preloaded cuda exit:6
	warned 1 'CUPTI cannot be used'
	wrote_nothing
}

@test "a program with NVTX and no CUDA does not crash in CUPTI, says and writes nothing" {
	need_no_driver
	unset ROOFLINE_OUTPUT
	capture bare "$BUILD/tests/collector/nvtx_app"
	capture with env LD_PRELOAD="$runtimes$collector" "$BUILD/tests/collector/nvtx_app"
	same_as_bare
	warned 0
	ended_with 5
	[ "$(cat with.out)" = ok ]
	wrote_nothing
}

# The host interface loads libnvperf_host, with RTLD_DEEPBIND.
need_host_interface() {
	need_cupti
	[ -z "$runtimes" ] || skip "ASan refuses the way in which libcupti loads libnvperf_host"
}

# sets CHIP: its sets, what passes they take and what it has no counter for
sets() {
	grep "^$1 " "$BATS_FILE_TMPDIR/sets"
}

@test "on every chip that CUPTI knows, each set and all together are counters of one pass that can be configured" {
	need_host_interface
	[ ! -e "$BATS_FILE_TMPDIR/sets.wrong" ]
	sed 's/^/# /' "$BATS_FILE_TMPDIR/sets" >&3
	[ "$(grep -cv unusable "$BATS_FILE_TMPDIR/sets")" -ge $((20 * 7)) ]
	[ "$(grep -c unusable "$BATS_FILE_TMPDIR/sets")" -le 3 ]
}

@test "on Hopper the default set takes two passes, and no role is a gap" {
	need_host_interface
	equal Hopper "roofline-without-tensor-types 2 none
roofline 8 none
atomics 2 none
shared 1 none
global 4 none
sm 1 none
stalls 5 none
roofline,atomics,shared,global,sm,stalls 13 none" "$(sets GH100 | awk '{ print $2, $4, $8 }')"
}

@test "what Ampere and consumer Blackwell have no counter for is a gap" {
	need_host_interface
	equal GA100 tensor_fp8_ops,tensor_int8_ops "$(sets GA100 | awk '$2 == "roofline" { print $8 }')"
	equal GB202 dram_read_bytes,dram_write_bytes,tensor_fp8_ops \
		"$(sets GB202 | awk '$2 == "roofline" { print $8 }')"
	equal "GB202 can still" 2 "$(sets GB202 | awk '$2 == "roofline-without-tensor-types" { print $4 }')"
}

@test "a chip that CUPTI does not know is unusable, not a chip without counters" {
	need_host_interface
	equal XX100 "XX100 unusable" "$("$BUILD/tests/collector/metric_table" "$REAL_CUPTI" XX100)"
}

# samples CHIP [SET]: what can be sampled of it over time, and what it has no counter for
samples() {
	awk -v chip="$1" -v set="${2-}" '$1 == chip && (set == "" || $2 == set)' "$BATS_FILE_TMPDIR/samples"
}

@test "on every chip that CUPTI can sample, each set and all together are one pass" {
	need_host_interface
	[ ! -e "$BATS_FILE_TMPDIR/samples.wrong" ]
	cp "$BATS_FILE_TMPDIR/samples" .
	sed 's/^/# /' samples >&3
	[ "$(grep -c ' all passes 1 ' samples)" -ge 25 ]
	equal "more than a pass" "" "$(awk '$2 != "unsampled" && $4 != 1' samples)"
	[ "$(grep -c unsampled samples)" -le 3 ]
}

@test "every chip that can be sampled tells dispatches, cycles and how busy its SMs are" {
	need_host_interface
	equal "gaps in front and sm" "" "$(cat "$BATS_FILE_TMPDIR/samples" |
		awk '$2 == "front" || $2 == "sm" { print $NF }' | tr , '\n' | sort -u |
		grep -vx 'none\|blocks\|pcie_read_bytes\|pcie_write_bytes' || true)"
}

@test "Hopper can sample everything at once" {
	need_host_interface
	equal Hopper "front 7 none
sm 10 none
dram 9 none
tensor 8 none
l2 10 none
nvlink 9 none
all 18 none" "$(samples GH100 | awk '{ print $2, $6, $8 }')"
}

@test "before Turing nothing can be sampled" {
	need_host_interface
	equal Volta "GV100 unsampled" "$(samples GV100)"
}
