#!/usr/bin/env bash
# Several versions of CUPTI: each records the same program, and says what it cannot.
#
#   CUPTI_VERSIONS=/opt/cupti/12.4:/opt/cupti/13.5 tests/gpu/check_cupti_versions.sh
#
# CUPTI_VERSIONS: folders that hold a libcupti.so.12 or libcupti.so.13 with its libnvperf_host.so and libnvperf_target.so
# CUDA12_PROGRAM: tests/gpu/version_work.cu as built by CUDA 12, which then is recorded, too
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

rooflinectl=$BUILD/bin/rooflinectl
rounds=${ROUNDS:-200}

if [ -z "${CUPTI_VERSIONS-}" ]; then
	skip "each CUPTI records the same program" "CUPTI_VERSIONS names no folders"
	finish
	exit
fi
IFS=: read -ra folders <<<"$CUPTI_VERSIONS"

# ---- what a recording holds ----

# property KEY: its value in process.csv
property() {
	tail -q -n +2 "$recording"/*/process.csv 2>/dev/null | sed -n "s/^$1,//p"
}

# expected NAME: what the program said
expected() {
	awk -v name="$1" '$1 == name { print $2 }' "$scratch/out"
}

# column TABLE NAME: its values
column() {
	awk -F, -v name="$2" 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' \
		"$recording"/*/"$1".csv
}

# median_ns TABLE: of how long its rows took
median_ns() {
	awk -F, 'FNR > 1 { print $2 - $1 }' "$recording"/*/"$1".csv | sort -n |
		awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] + 0 }'
}

# near PERCENT WANTED GOT
near() {
	awk -v percent="$1" -v wanted="$2" -v got="$3" \
		'BEGIN { off = got - wanted; exit !(wanted > 0 && (off < 0 ? -off : off) <= wanted * percent / 100) }' ||
		{ echo "# wanted $2 within $1%, got $3"; return 1; }
}

above() {
	[ "${2:-0}" -gt "$1" ] || { echo "# more than $1, got ${2:-nothing}"; return 1; }
}

# recorded PROGRAM OPTION...: with the library $library (empty: the one that is found), into $recording
recorded() {
	local program=$1 variables=()
	shift
	rm -rf "$recording"
	[ -z "$library" ] ||
		variables=(ROOFLINE_CUPTI="$library" LD_LIBRARY_PATH="$(dirname "$library")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
	timeout -k 5 120 env "${variables[@]}" "$rooflinectl" record -o "$recording" "$@" -- "$program" --rounds "$rounds" \
		>"$scratch/out" 2>"$scratch/complaints"
}

said() {
	grep rooflinecollector "$scratch/complaints" | sort -u | sed "s/^/# $1 says: /"
}

# ---- one library, one program ----

# check_rows WHAT GRAPHS: numbers of rows are those that the program tells; GRAPHS: node or graph
check_rows() {
	local what=$1 kernels graphs=0
	kernels=$(expected kernels)
	if [ "$2" = graph ]; then
		graphs=$(expected graphs)
		kernels=$((kernels - 4 * graphs))
	fi
	check "$what: kernels" equal "$kernels" "$(rows kernels)"
	check "$what: none of them is said to be launched by the device" equal 0 "$(column signatures launch_type | sort -u | xargs)"
	check "$what: launches of graphs" equal "$graphs" "$(rows graphs)"
	check "$what: copies" equal "$(expected copies)" "$(rows copies)"
	check "$what: none of them is a batch" equal 1 "$(column copies copy_count | sort -u | xargs)"
	check "$what: memsets" equal "$(expected memsets)" "$(rows memsets)"
	check "$what: NVTX ranges" equal "$(expected markers)" "$(rows markers)"
	check "$what: times are valid" equal 0 "$(invalid_kernels)"
	check "$what: nothing is lost but what the version lacks" equal "" \
		"$(lost | sed -E 's/missing_features [0-9]+ //' | xargs)"
	# An older CUPTI need not know the calls of a newer runtime.
	if [ "$(property cupti)" -ge 130000 ] || [ "$(expected cuda)" -lt 13000 ]; then
		check "$what: each kernel has the call that launched it" equal 0 "$(orphans)"
	else
		echo "# $what: kernels without the call that launched them: $(orphans)"
	fi
	echo "# $what: losses: $(lost); rows of api: $(rows api); kernel $(median_ns kernels) ns, copy $(median_ns copies) ns"
}

# orphans: kernels without a call of their correlation id
orphans() {
	column api correlation | sort -u >"$scratch/calls"
	column kernels correlation | sort -u | comm -23 - "$scratch/calls" | wc -l
}

check_trace() {
	local what=$1 program=$2
	recorded "$program"
	check "$what: the program ends as ever" equal "0 right" "$? $(expected sum)"
	said "$what"
	check "$what: there is a recording" test -n "$(find "$recording" -name process.csv 2>/dev/null)"
	[ -n "$(find "$recording" -name process.csv 2>/dev/null)" ] || return
	echo "# $what: cupti $(property cupti), from $(property cupti_path)"
	[ -z "$library" ] || check "$what: it is the library that was named" equal "$library" "$(property cupti_path)"
	check_rows "$what" node
	kernel_ns=$(median_ns kernels) copy_ns=$(median_ns copies)
	recorded "$program" --graphs=graph
	check "$what: graphs as one, the program ends as ever" equal 0 $?
	check_rows "$what, graphs as one" graph
	"$rooflinectl" report "$recording" >"$scratch/report" 2>&1
	check "$what: report reads it" equal 0 $?
}

# has FUNCTION: the library exports it
has() {
	grep -q "$1" "${library:-$system}"
}

# A CUPTI that is newer than the driver is not asked for counters and samples, which ended programs.
is_too_new() {
	ROOFLINE_CUPTI=$library "$rooflinectl" doctor 2>/dev/null | grep -q 'is newer than the driver'
}

check_counters() {
	local what=$1 program=$2
	recorded "$program" --counters=roofline
	check "$what: with --counters the program ends as ever" equal "0 right" "$? $(expected sum)"
	said "$what, --counters"
	if [ -n "$library" ] && is_too_new; then
		check "$what: that there are no counters is said" grep -q 'this CUPTI is newer than the driver' "$scratch/complaints"
		check "$what: and the trace is whole" equal "$(expected kernels)" "$(rows kernels)"
	elif has cuptiRangeProfilerEnable; then
		check "$what: launches are counted" above 0 "$(rows counted)"
		check "$what: with values" above 0 "$(rows counters)"
	else
		check "$what: that there are no counters is said" grep -q 'no hardware counters: this CUPTI lacks' "$scratch/complaints"
		check "$what: and the trace is whole" equal "$(expected kernels)" "$(rows kernels)"
	fi
	echo "# $what, --counters: $(rows counted) counted, $(rows counters) values; $(property counters_problem); losses: $(lost)"
}

# check_samples WHAT PROGRAM HOW OPTION...
check_samples() {
	local what="$1, $3" program=$2
	shift 3
	recorded "$program" --sample=50us "$@"
	check "$what: the program ends as ever" equal "0 right" "$? $(expected sum)"
	said "$what"
	if [ -n "$library" ] && is_too_new; then
		check "$what: that there are none is said" grep -q 'this CUPTI is newer than the driver' "$scratch/complaints"
	elif has cuptiPmSamplingEnable; then
		check "$what: there are samples" above 0 "$(rows samples)"
	else
		check "$what: that there are none is said" grep -q 'no samples: this CUPTI lacks' "$scratch/complaints"
	fi
	check "$what: the trace is whole" equal "$(expected kernels)" "$(rows kernels)"
	echo "# $what: $(rows samples) samples in $(rows sampled_spans) spans; losses: $(lost)"
}

# subscribes WAY FIRST: a program that subscribes to the same CUPTI, as second_subscriber says
subscribes() {
	local path=${library:-$system}
	rm -rf "$recording"
	ROOFLINE_CUPTI=$path LD_LIBRARY_PATH=$(dirname "$path"):${LD_LIBRARY_PATH-} \
		record timeout -k 5 60 "$programs/second_subscriber" --way "$1" --first "$2" "$path" \
		>"$scratch/out" 2>"$scratch/complaints"
}

# check_subscribers WHAT: ours is first, then second; the other is an old one, one alone, and one that allows others
check_subscribers() {
	local what=$1 way
	for way in 0 1 2; do
		subscribes $way 0
		check "$what: a program that subscribes after us (way $way) ends as ever" equal "0 1" "$? $(expected counted)"
		check "$what: and what it does is recorded (way $way)" above 999 "$(rows kernels)"
		echo "# $what: after us (way $way) CUPTI answers $(expected subscribed)"
		said "$what, after us (way $way)"
		subscribes $way 1
		check "$what: a program that subscribes before us (way $way) ends as ever" equal "0 1" "$? $(expected counted)"
		echo "# $what: before us (way $way) CUPTI answers $(expected subscribed);" \
			"recorded kernels: $(ls -d "$recording" >/dev/null 2>&1 && rows kernels)"
		said "$what, before us (way $way)"
	done
}

check_version() {
	local what=$1 program=$2
	check_trace "$what" "$program" || return
	check_counters "$what" "$program"
	check_samples "$what" "$program" "the whole GPU"
	check_samples "$what" "$program" "inside ranges" --sample-range='^round$'
}

# ---- the library that is found, then each other ----

library='' kernel_ns=0 copy_ns=0
recorded "$programs/version_work"
system=$(property cupti_path)
if ! check "the library that is found records" test -n "$system" || [ -z "$system" ]; then
	sed 's/^/# /' "$scratch/complaints"
	finish
	exit
fi
check_version "system's" "$programs/version_work"
check_subscribers "system's"
system_kernel_ns=$kernel_ns system_copy_ns=$copy_ns
for folder in "${folders[@]}"; do
	library=$(find "$folder" -maxdepth 1 -name 'libcupti.so.1[23]' | head -1)
	[ -n "$library" ] || { check "$folder has a libcupti.so.12 or .13" false; continue; }
	library=$(realpath "$library")
	what=$(basename "$folder")
	ROOFLINE_CUPTI=$library "$rooflinectl" doctor 2>&1 | grep -E -A1 '^(CUPTI|tracing|counters|sampling) ' | grep -v '^collector ' | sed "s/^/# $what doctor: /"
	check_version "$what" "$programs/version_work" || continue
	check "$what: a kernel takes as long as by the system's library" near 5 "$system_kernel_ns" "$kernel_ns"
	check "$what: so does a copy" near 5 "$system_copy_ns" "$copy_ns"
	check_subscribers "$what"
	[ -z "${CUDA12_PROGRAM-}" ] || check_trace "$what, program of CUDA 12" "$CUDA12_PROGRAM"
done
if [ -n "${CUDA12_PROGRAM-}" ]; then
	library=
	check_trace "system's, program of CUDA 12" "$CUDA12_PROGRAM"
	echo "# the program of CUDA 12 was built with $(expected cuda)"
else
	skip "a program that CUDA 12 built" "CUDA12_PROGRAM names none"
fi
finish
