#!/usr/bin/env bats
# What is read of real machine code: nvcc compiles it here, and the driver of the mock loads it.
load common

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
source=$BATS_TEST_DIRNAME/machine_code.cu
kernels="singles halves conversion spilled constants dependent"

setup_file() {
	[ -x "$nvcc" ] || return 0
	for sm in 80 90 100; do
		"$nvcc" -O3 -cubin -arch=sm_$sm -o "$BATS_FILE_TMPDIR/sm_$sm.cubin" "$source" || true
	done
}

# load_and_run SM: each of the kernels runs once with the code of that chip
load_and_run() {
	local cubin=$BATS_FILE_TMPDIR/sm_$1.cubin steps=() kernel
	[ -s "$cubin" ] || skip "no nvcc that compiles for sm_$1"
	for kernel in $kernels; do
		steps+=("name:$kernel" kernels:2)
	done
	rm -rf "$recording"
	record cuda "module:$cubin" "${steps[@]}"
	warned 0
	readable
	equal kernels 12 "$(rows kernels)"
}

# code COLUMN: the kernels of which that column of machine_code is above 0, in order
code() {
	awk -F, -v column="$1" '
		FNR == 1 && /^id,text/ { is_names = 1; next }
		FNR == 1 { is_names = 0; for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
		is_names { name[$1] = $2; next }
		$at > 0 { print name[$1] }' "$(tables names)" "$(tables machine_code)" | sort | xargs
}

# column NAME TABLE: its values
column() {
	awk -F, -v column="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next } { print $at }' \
		"$(tables "$2")"
}

@test "of each kernel that ran: which computes in half precision, and which only converts" {
	for sm in 80 90 100; do
		load_and_run $sm
		equal rows 6 "$(rows machine_code)"
		equal "sm of the code" "$sm" "$(column sm machine_code | sort -u)"
		equal "arithmetic on sm_$sm" halves "$(code half_arithmetic_count)"
		equal "conversions on sm_$sm" conversion "$(code half_conversion_count)"
		equal instructions "constants conversion dependent halves singles spilled" "$(code instruction_count)"
	done
}

@test "constants that ptxas sets with HFMA2 are no arithmetic" {
	for sm in 80 90 100; do
		load_and_run $sm
		[[ " $(code half_constant_count) " = *" constants "* ]]
	done
}

@test "kernels that are made for dependent launch are known" {
	load_and_run 90
	equal waits dependent "$(code dependency_wait_count)"
	equal triggers dependent "$(code dependent_launch_count)"
	equal "loads before the wait" dependent "$(code load_before_wait_count)"
	load_and_run 80
	equal "no wait on Ampere" "" "$(code load_before_wait_count)"
	equal "waits on Ampere" "" "$(code dependency_wait_count)"
}

# sass SM KERNEL REGEX: how many instructions of a kernel match, as NVIDIA's own tool prints them
sass() {
	cuobjdump -sass -fun "$2" "$BATS_FILE_TMPDIR/sm_$1.cubin" | grep -cE "^\s+/\*[0-9a-f]{4,}\*/ .*$3" || true
}

@test "cuobjdump counts the same" {
	needs_command cuobjdump
	for sm in 80 90 100; do
		load_and_run $sm
		for kernel in $kernels; do
			id=$(sed -n "s/,$kernel\$//p" "$(tables names)")
			zero='HFMA2(\.MMA)? R[0-9]+, -?RZ, RZ, '
			equal "$kernel on sm_$sm" "$id,$sm,$(sass $sm $kernel ';'),$(sass $sm $kernel "$zero"),$(
				sass $sm $kernel 'HADD2\.F32 '),$(($(sass $sm $kernel 'H(ADD|MUL|FMA)2') -
				$(sass $sm $kernel "$zero") - $(sass $sm $kernel 'HADD2\.F32 ')))" \
				"$(grep "^$id," "$(tables machine_code)" | cut -d, -f1-6)"
		done
	done
}

@test "local memory of each kernel is known without counters" {
	load_and_run 90
	local bytes
	bytes=$(column local_bytes_per_thread signatures | xargs)
	equal "bytes for each thread" "0 0 0 256 0 0" "$bytes"
}

@test "kernels that never ran have no row, and of several of one name each has its own" {
	load_and_run 90
	rm -rf "$recording"
	record cuda "module:$BATS_FILE_TMPDIR/sm_90.cubin" name:halves kernels:3 different_grids:3 \
		"module:$BATS_FILE_TMPDIR/sm_80.cubin" kernels:1 "module:$BATS_FILE_TMPDIR/sm_80.cubin" kernels:1
	readable
	equal "chips" "80 90" "$(column sm machine_code | sort | xargs)"
}

@test "each module that is loaded has a row, in which equal code has an equal hash" {
	load_and_run 90
	local first=$BATS_FILE_TMPDIR/sm_90.cubin second=$BATS_FILE_TMPDIR/sm_80.cubin
	rm -rf "$recording"
	record cuda name:halves "module:$first" kernels:1 "module:$second" "module:$first"
	readable
	equal modules 3 "$(rows modules)"
	equal chips "90 80 90" "$(column sm modules | xargs)"
	equal sizes "$(stat -c %s "$first" "$second" "$first" | xargs)" "$(column bytes modules | xargs)"
	equal "kernels in each" "6 6 6" "$(column kernel_count modules | xargs)"
	equal "different code" 2 "$(column code modules | sort -u | wc -l)"
	equal "code of the first" "$(column code modules | sed -n 1p)" "$(column code modules | sed -n 3p)"
	equal "code of the kernel" "$(column code modules | sort -u | xargs)" "$(column code machine_code | sort -u | xargs)"
}

@test "a file that is no cubin changes nothing" {
	head -c 5000 "$source" >text
	head -c 3000 "$collector" >half
	record cuda module:text module:half kernels:3
	warned 0
	readable
	equal kernels 3 "$(rows kernels)"
	equal rows 0 "$(rows machine_code)"
}

@test "of each load: what it was given, and whether that lies in the program" {
	record cuda load:cubin load:ptx load:fatbin load:short load:empty load:wrapper load:embedded load:file load:none
	warned 0
	readable
	diff <(cut -d, -f2- "$(tables loads)") - <<-'END'
		kind,is_embedded
		1,0
		2,0
		3,0
		2,0
		0,0
		3,1
		3,1
		4,0
	END
}

@test "names of kernels are read before their code is unloaded" {
	record cuda load:cubin name:aaaa kernels:3 unload reuse_name:bbbb kernels:2
	warned 0
	readable
	equal kernels 5 "$(rows kernels)"
	equal signatures 2 "$(rows signatures)"
	grep -q ',records of unloaded code$' "$(tables names)" # what the call waited for is told
	equal names "aaaa bbbb" "$(sed -n 's/^[0-9]*,\(aaaa\|bbbb\)$/\1/p' "$(tables names)" | sort | xargs)"
}
