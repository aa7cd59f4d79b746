#!/usr/bin/env bats
# rooflinectl ceilings, with a stand-in for the driver and shell scripts for the measuring programs.
load common

setup() {
	# A house of our own, where we decide which programs there are and what they print.
	house="$BATS_TEST_TMPDIR/house"
	programs="$house/lib/rooflinectl/ceilings"
	mkdir -p "$house/bin" "$programs" "$BATS_TEST_TMPDIR/driver"
	cp "$ROOFLINECTL" "$house/bin/"
	ceilings=("$house/bin/rooflinectl" ceilings)
	ln -s "$BUILD/tests/tools/libfake_cuda.so" "$BATS_TEST_TMPDIR/driver/libcuda.so.1"
	export LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/driver"
	export XDG_DATA_HOME="$BATS_TEST_TMPDIR/data"
	stored="$BATS_TEST_TMPDIR/stored.json"
	cd "$BATS_TEST_TMPDIR"
}

# rows_of PROGRAM: lines 'NAME PARAMETER' of each of its ceilings, with a parameter where it has one
rows_of() {
	sed -nE "s/^\tCEILING\(([a-z0-9_]+), $1, \"[^\"]*\", \"([a-z]*)\",.*/\1 \2/p" \
		"$root/include/roofline/ceilings.h" | sed -E 's/ [a-z]+$/ 64/; s/ $/ 0/'
}

# lines_of PROGRAM: what a good program prints: five samples of each row, median 2e12 a second or 2e3 ns
lines_of() {
	local name parameter value exponent
	echo "plan $((5 * $(rows_of "$1" | wc -l)))"
	rows_of "$1" | while read -r name parameter; do
		exponent=12
		grep -qF "CEILING($name, $1, \"ns\"" "$root/include/roofline/ceilings.h" && exponent=3
		for value in 2.0 1.9 2.1 1.8 2.2; do
			echo "sample $name $parameter ${value}e$exponent 1980"
		done
	done
}

# program NAME: a measuring program whose lines after #!/bin/bash come from standard input
program() {
	{ echo '#!/bin/bash'; cat; } >"$programs/$1"
	chmod +x "$programs/$1"
}

# good NAME...: programs that work
good() {
	local name
	for name; do
		lines_of "$name" >"$BATS_TEST_TMPDIR/$name.lines"
		program "$name" <<<"cat '$BATS_TEST_TMPDIR/$name.lines'"
	done
}

# measure ARGUMENT...: memory only, into $stored
measure() {
	run --separate-stderr "${ceilings[@]}" --only=memory -o "$stored" "$@"
}

# fails_with TEXT: a failure with one complaint that has TEXT in it, besides what was or was not stored
fails_with() {
	[ "$status" -eq 1 ]
	[ "$(grep -vc ' stored' <<<"$stderr")" -eq 1 ]
	[[ "$stderr" == *"$1"* ]]
}

# a stored file of an H200, for tests to spoil
write_stored() {
	cat >"$stored" <<-'END'
		{"schema": 1, "kind": "rooflinectl ceilings", "gpu": "NVIDIA H200", "driver": "580.1",
		 "cuda": "13.0", "date": "2026-01-31T12:00:00Z", "command": "rooflinectl ceilings",
		 "quick": false,
		 "ceilings": [
		  {"name": "dram_copy", "parameter": 0, "unit": "B/s", "value": 4.32e12, "low": 4.2768e12,
		   "high": 4.3632e12, "samples": 9, "sm_mhz_low": 1965, "sm_mhz_high": 1980},
		  {"name": "atomic_add", "parameter": 1024, "unit": "op/s", "value": 5e10, "low": 5e10,
		   "high": 5e10, "samples": 9, "sm_mhz_low": 1980, "sm_mhz_high": 1980},
		  {"name": "launch_call", "parameter": 0, "unit": "ns", "value": 2150, "low": 2100,
		   "high": 2200, "samples": 9, "sm_mhz_low": 0, "sm_mhz_high": 0}],
		 "skipped": [{"name": "tensor_fp8", "parameter": 0, "reason": "compute capability 8.0"}]}
	END
}

# spoil PERL-CODE: changes the stored file
spoil() {
	perl -0pi -e "$1" "$stored"
}

@test "all programs run in order, and what they print is shown and stored for this GPU" {
	names="memory caches arithmetic tensor transfer atomics orchestration device_launches links nvshmem"
	good $names
	for name in $names; do
		sed -i "1a echo $name \"\$*\" >>'$BATS_TEST_TMPDIR/order'" "$programs/$name"
	done
	run --separate-stderr "${ceilings[@]}"
	[ "$status" -eq 0 ]
	[ "$(tr '\n' ' ' <order)" = "memory  caches  arithmetic  tensor  transfer  atomics  orchestration  device_launches  links  nvshmem  " ]
	[[ "$output" == *"Ceilings of Imaginary GPU 0"* ]]
	[[ "$output" == *"atomic_add[64] "*"2.00 Top/s"*"+-8.0%"*"1980 MHz"* ]]
	[[ "$output" != *WARNING* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl ceilings: stored in $XDG_DATA_HOME/rooflinectl/ceilings/Imaginary_GPU_0-"*.json ]]
	perl -MJSON::PP -e 'my $d = decode_json(join "", <STDIN>);
		die unless $d->{schema} == 1 && $d->{kind} eq "rooflinectl ceilings";
		die unless $d->{gpu} eq "Imaginary GPU 0" && $d->{cuda} eq "13.0" && !$d->{quick};
		die unless $d->{date} =~ /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
		die unless $d->{command} eq "rooflinectl ceilings";
		die unless @{$d->{ceilings}} == shift;
		for (@{$d->{ceilings}}) {
			my $of = $_->{unit} eq "ns" ? 1e3 : 1e12;
			die $_->{name} unless $_->{value} == 2 * $of && $_->{samples} == 5;
			die $_->{name} if abs($_->{low} / $of - 1.84) > 1e-9 || abs($_->{high} / $of - 2.16) > 1e-9;
		}' "$(for name in $names; do rows_of $name; done | wc -l)" \
		<"$XDG_DATA_HOME/rooflinectl/ceilings/"Imaginary_GPU_0-*.json
}

@test "--quick reaches the programs and the file" {
	good memory
	sed -i '1a [ "$*" = --quick ] || exit 9' "$programs/memory"
	measure --quick
	[ "$status" -eq 0 ]
	grep -q '"quick": true' "$stored"
	measure
	fails_with "memory: failed with exit code 9"
}

@test "--format json prints what the file holds" {
	good memory
	measure --format=json
	[ "$status" -eq 0 ]
	[ "$output" = "$(cat "$stored")" ]
}

@test "--only runs only these programs, and a part does not replace the stored whole" {
	good memory caches
	run --separate-stderr "${ceilings[@]}" --only=caches,memory
	[ "$status" -eq 0 ]
	[[ "$output" == *"l2_read "* ]]
	[[ "$output" == *"dram_read "* ]]
	[[ "$stderr" == *"not stored, because only a part was measured; -o FILE stores it" ]]
	[ ! -e "$XDG_DATA_HOME" ]
}

@test "a part is stored beside what is known of the rest, in place of its own rows" {
	good memory caches arithmetic tensor transfer atomics orchestration device_launches links nvshmem
	run -0 --separate-stderr "${ceilings[@]}"
	sed -i 's/2\.0e12/4.0e12/; s/[12]\.[0-9]e3/5e3/' "$BATS_TEST_TMPDIR/links.lines"
	run -0 --separate-stderr "${ceilings[@]}" --links
	[[ "$stderr" == "rooflinectl ceilings: stored in $XDG_DATA_HOME/rooflinectl/ceilings/Imaginary_GPU_0-"*.json ]]
	perl -MJSON::PP -e 'my $d = decode_json(join "", <STDIN>);
		my %value = map { $_->{name} => $_->{value} } @{$d->{ceilings}};
		die unless $value{peer_signal} == 5000 && $value{launch_call} == 2000 && $value{dram_read} == 2e12;
		die unless @{$d->{ceilings}} == keys %value;
		die unless $d->{command} =~ /^rooflinectl ceilings; rooflinectl ceilings --links on 20\d\d-\d\d-\d\d$/;' \
		<"$XDG_DATA_HOME/rooflinectl/ceilings/"Imaginary_GPU_0-*.json
	run -0 --separate-stderr "${ceilings[@]}" --quick --links # fewer samples than what is known
	[[ "$stderr" == *"not stored"* ]]
}

@test "--links measures what lies between GPUs, by size, and stores it with -o" {
	good links nvshmem
	for name in links nvshmem; do
		sed -i "1a echo $name >>'$BATS_TEST_TMPDIR/order'" "$programs/$name"
	done
	run --separate-stderr "${ceilings[@]}" --links -o "$stored"
	[ "$status" -eq 0 ]
	[ "$(tr '\n' ' ' <order)" = "links nvshmem " ]
	[[ "$output" == *"between GPUs [bytes]"* ]]
	[[ "$output" == *"peer_out[64] "*"2.00 TB/s"* ]]
	[[ "$output" == *"peer_signal "*"2.00 us"* ]]
	[[ "$output" == *"nccl_all_reduce[64] "*"2.00 us"* ]]
	[[ "$output" == *"NVSHMEM between two GPUs [bytes]"*"nvshmem_put[64] "*"2.00 TB/s"*"nvshmem_store_signal[64] "*"2.00 us"* ]]
	perl -MJSON::PP -e 'my $d = decode_json(join "", <STDIN>);
		my ($row) = grep { $_->{name} eq "nccl_all_reduce" } @{$d->{ceilings}};
		die unless $row->{parameter} == 64 && $row->{unit} eq "ns" && $row->{value} == 2000;' <"$stored"
}

@test "--links on one GPU tells why nothing is there to measure" {
	for of in links nvshmem; do
		{
			echo plan 0
			rows_of $of | while read -r name parameter; do
				echo "skip $name $parameter there is one GPU"
			done
		} >"$BATS_TEST_TMPDIR/$of.lines"
		program $of <<<"cat '$BATS_TEST_TMPDIR/$of.lines'"
	done
	run --separate-stderr "${ceilings[@]}" --links -o "$stored"
	[ "$status" -eq 0 ]
	[[ "$output" == *"nccl_all_reduce[64]"*"skipped: there is one GPU"* ]]
	[[ "$output" == *"nvshmem_put[64]"*"skipped: there is one GPU"* ]]
}

@test "--only of a wrong name lists the right ones" {
	run --separate-stderr "${ceilings[@]}" --only=memory,dram_read
	[ "$status" -eq 2 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"no program 'dram_read'; there are memory, caches, arithmetic, tensor, transfer, atomics, orchestration, device_launches, links, nvshmem;"* ]]
}

@test "a program that fails is named, the others still run, and the file is without it" {
	good memory caches
	program memory <<-'END'
		echo plan 20
		echo sample dram_read 0 1e12 1980
		exit 3
	END
	run --separate-stderr "${ceilings[@]}" --only=memory,caches -o "$stored"
	fails_with "rooflinectl ceilings: memory: failed with exit code 3 after 1 of 20 samples"
	[[ "$stderr" == *"stored in $stored, without what failed" ]]
	grep -q l2_read "$stored"
	! grep -q dram_read "$stored"
}

@test "rows that a program finished before it died are kept" {
	good memory
	head -n 12 memory.lines >part.lines
	program memory <<<"cat '$PWD/part.lines'; kill -SEGV \$\$"
	measure
	fails_with "memory: killed by signal 11 (Segmentation fault) after 11 of 20 samples"
	[ "$(grep -c '"name"' "$stored")" -eq 2 ]
	! grep -q dram_copy "$stored"
}

@test "a program that ends before its plan is told so" {
	good memory
	sed -i '$d' memory.lines
	measure
	fails_with "memory: ended after 19 of the 20 samples it planned"
}

@test "a program that stops within a line is told so" {
	good memory
	printf 'sample dram_read 0 1e1' >>memory.lines
	measure
	fails_with "memory: ended within a line"
}

@test "lines that are no samples are refused with their text" {
	for line in 'hello world' 'sample dram_read 0 1e12' 'sample dram_read 0 1e12 1980 x' 'plan 7 8' \
		'skip dram_read 0' ''; do
		good memory
		{ head -n 2 memory.lines; echo "$line"; tail -n +3 memory.lines; } >more.lines
		mv more.lines memory.lines
		measure
		fails_with "memory: prints '$line', which is no sample"
	done
	good memory
	sed -i '3i plan 20' memory.lines
	measure
	fails_with "memory: prints a second plan"
	sed -i '1,3d' memory.lines
	measure
	fails_with "where its plan must stand"
}

@test "values, clocks and parameters that cannot be are refused" {
	for value in nan inf -1 0 1e999 1x ''; do
		good memory
		sed -i "2s/.*/sample dram_read 0 ${value:-''} 1980/" memory.lines
		measure
		fails_with "memory: dram_read cannot have the value '${value:-''}'"
	done
	good memory
	sed -i '2s/.*/sample dram_read 0 1e12 -1/' memory.lines
	measure
	fails_with "memory: dram_read cannot have the clock '-1'"
	sed -i '2s/.*/sample dram_read 5 1e12 1/' memory.lines
	measure
	fails_with "memory: dram_read cannot have the parameter '5'"
}

@test "names that are no ceiling, or one of another program, are refused" {
	good memory
	sed -i '2s/dram_read/dram_fetch/' memory.lines
	measure
	fails_with "memory: prints 'dram_fetch', which is no ceiling"
	sed -i '2s/dram_fetch/l2_read/' memory.lines
	measure
	fails_with "memory: prints l2_read, which is for the program caches"
}

@test "an endless line does not fill the memory" {
	program memory <<<'yes | tr -d "\n"'
	measure
	fails_with "memory: prints a line without an end"
	[ ! -e "$stored" ]
}

@test "too few samples of a row, or none, are told" {
	good memory
	sed -i -e '2d' -e '1s/.*/plan 19/' memory.lines
	measure
	fails_with "memory: 4 samples of dram_read are too few, 5 needed"
	! grep -q dram_read "$stored"
	grep -q dram_write "$stored"
	sed -i -e '/dram_read/d' -e '1s/.*/plan 15/' memory.lines
	measure
	fails_with "memory: ended without a sample of dram_read"
}

@test "what a GPU lacks is skipped with its reason, and stored" {
	good memory
	sed -i -e '/dram_read/d' memory.lines
	sed -i -e '1a skip dram_read 0 no memory  worth the name' memory.lines
	measure
	[ "$status" -eq 0 ]
	[[ "$output" == *"dram_read "*"skipped: no memory  worth the name"* ]]
	grep -q '"reason": "no memory  worth the name"' "$stored"
}

@test "nothing measured is nothing stored" {
	program memory <<<'exit 1'
	run --separate-stderr "${ceilings[@]}" --only=memory -o "$stored"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ "$stderr" == *"nothing could be measured, and nothing was stored" ]]
	[ ! -e "$stored" ]
}

@test "programs that were not built are one line with the remedy" {
	run --separate-stderr "${ceilings[@]}"
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"$programs/memory is missing: install the CUDA toolkit"* ]]
}

@test "one program that was not built or cannot be started does not stop the others" {
	good memory
	run --separate-stderr "${ceilings[@]}" --only=memory,caches -o "$stored"
	fails_with "caches: not built, $programs/caches is missing"
	echo nothing >"$programs/caches"
	run --separate-stderr "${ceilings[@]}" --only=memory,caches -o "$stored"
	fails_with "caches: cannot start $programs/caches: Permission denied"
	grep -q dram_read "$stored"
}

@test "without a GPU there is one line, and exit code 1" {
	good memory
	FAKE_CUDA=no_device measure
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"no GPU to measure (CUDA_ERROR_NO_DEVICE): see rooflinectl doctor"* ]]
}

@test "a signal ends the running program and stores nothing" {
	good caches
	program memory <<-'END'
		echo $$ >"$OLDPWD/pid"
		echo plan 20
		echo sample dram_read 0 1e12 1980
		exec sleep 60
	END
	sed -i "s#\$OLDPWD#$PWD#" "$programs/memory"
	for signal in INT TERM; do
		rm -f pid
		# timeout returns 128 + the signal when the program ended by it
		run --separate-stderr timeout --foreground --preserve-status -s "$signal" 2 \
			"${ceilings[@]}" --only=memory,caches -o "$stored"
		[ "$status" -eq "$((128 + $(kill -l "$signal")))" ]
		[[ "$stderr" == *"interrupted; nothing was stored" ]]
		[ ! -e "$stored" ]
		[ -s pid ]
		! kill -0 "$(cat pid)"
	done
}

@test "the collector is not brought into the programs" {
	good memory
	sed -i '1a [ -z "$CUDA_INJECTION64_PATH$NVTX_INJECTION64_PATH" ] || exit 7' "$programs/memory"
	CUDA_INJECTION64_PATH=/x/librooflinecollector.so NVTX_INJECTION64_PATH=/x/y measure
	[ "$status" -eq 0 ]
}

@test "a place that cannot be written is a failure that names it, after the answer" {
	good memory
	touch file
	run --separate-stderr "${ceilings[@]}" --only=memory -o file/x.json
	[ "$status" -eq 1 ]
	[[ "$output" == *"dram_read"* ]]
	[[ "$stderr" == *"file/x.json"*"Not a directory"* ]]
	run --separate-stderr "${ceilings[@]}" --only=memory -o /dev/null
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"/dev/null: not a file"* ]]
	[ -c /dev/null ]
}

@test "the file is replaced whole, with nothing left beside it" {
	good memory
	mkdir place
	stored="$PWD/place/x.json"
	echo old >"$stored"
	measure
	[ "$status" -eq 0 ]
	grep -q dram_read "$stored"
	[ "$(ls place)" = x.json ]
}

@test "a stored file is shown with shares of the datasheet, spread and clocks" {
	write_stored
	run --separate-stderr "${ceilings[@]}" "$stored"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "Ceilings of NVIDIA H200  (driver 580.1, CUDA 13.0)" ]
	grep -qE '^  dram_copy +4\.32 TB/s +\+-1\.0% +1965-1980 MHz +90\.0%$' <<<"$output"
	grep -qE '^  atomic_add\[1024\] +50\.0 Gop/s +\+-0\.0% +1980 MHz +-$' <<<"$output"
	grep -qE '^  launch_call +2\.15 us +\+-2\.3% +- +-$' <<<"$output"
	grep -qE '^  tensor_fp8 +skipped: compute capability 8\.0$' <<<"$output"
	[[ "$output" != *WARNING* ]]
	[ "$(wc -L <<<"$(grep -v datasheet: <<<"$output")")" -le 80 ]
	run "${ceilings[@]}" --show "$stored"
	[ "${lines[0]}" = "Ceilings of NVIDIA H200  (driver 580.1, CUDA 13.0)" ]
}

@test "a ceiling far under the datasheet is warned of" {
	write_stored
	spoil 's/4.32e12/4.0e12/; s/4.2768e12/4e12/'
	run "${ceilings[@]}" "$stored"
	[ "$status" -eq 0 ]
	[[ "$output" == *"WARNING dram_copy is 83.3% of the datasheet's figure: below 85% doubt it"* ]]
}

@test "what was stored reads back as it was" {
	good memory atomics
	run --separate-stderr "${ceilings[@]}" --only=memory,atomics -o "$stored"
	measured="$output"
	run "${ceilings[@]}" "$stored"
	[ "$output" = "$measured" ]
	run "${ceilings[@]}" "$stored" -f json
	[ "$output" = "$(cat "$stored")" ]
}

@test "rows of a newer version are skipped and counted" {
	write_stored
	spoil 's/"launch_call"/"warp_drive"/; s/"tensor_fp8"/"tensor_fp2"/'
	run "${ceilings[@]}" "$stored"
	[ "$status" -eq 0 ]
	[[ "$output" == *"1 rows of the file are not known to this version"* ]]
	[[ "$output" == *"dram_copy"* ]]
}

@test "a file that was spoilt is one line that names the file and the remedy" {
	while IFS='|' read -r code text; do
		write_stored
		spoil "$code"
		run --separate-stderr "${ceilings[@]}" "$stored"
		echo "$code: $stderr"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ "$stderr" == "rooflinectl ceilings: $stored"*"$text"*"measure anew with 'rooflinectl ceilings'" ]]
	done <<-'END'
		$_ = ""|not JSON
		$_ = "[]"|its kind is not
		$_ = "{}"|its kind is not
		$_ = substr $_, 0, 300|not JSON
		s/"unit"/unit/|:5: not JSON
		s/4.32e12/NaN/|:5: not JSON
		s/4.32e12/1e999/|:5: not JSON
		s/"parameter"/"name": "x", "parameter"/|:5: not JSON
		s/NVIDIA/\xff/|not JSON
		s/"kind": "[a-z ]*"/"kind": "novel"/|its kind is not
		s/"schema": 1/"schema": 0/|schema is no version
		s/"schema": 1/"schema": "1"/|schema is no version
		s/"schema": 1/"schema": 2/|newer rooflinectl
		s/"gpu": "[^"]*"/"gpu": 7/|gpu is no text
		s/"driver": "[^"]*",//|driver is no text
		s/"date": "[^"]*"/"date": []/|date is no text
		s/"ceilings": \[/"ceilings": 7, "other": [/|ceilings is no list
		s/"ceilings": \[/"ceilings": [7,/|ceilings[0]: name is no text
		s/"skipped": \[/"skipped": {}, "other": [/|skipped is no list
		s/"reason": "[^"]*"/"reason": 1/|skipped[0]: reason is no text
		s/"name": "dram_copy"/"name": null/|ceilings[0]: name is no text
		s/"value": 4.32e12/"value": -4.32e12/|ceilings[0]: value is no positive number
		s/"value": 4.32e12/"value": "fast"/|ceilings[0]: value is no positive number
		s/"value": 4.32e12/"value": 0/|ceilings[0]: value is no positive number
		s/"low": 4.2768e12,//|ceilings[0]: low is no positive number
		s/4.2768e12/4.4e12/|low and high do not enclose
		s/"sm_mhz_low": 1965/"sm_mhz_low": -1/|sm_mhz_low is no non-negative number
		s/"samples": 9/"samples": 0/|samples cannot be 0
		s/"samples": 9/"samples": 9.5/|samples is no whole number
		s/"samples": 9/"samples": 99999999999/|samples cannot be
		s/"parameter": 1024/"parameter": -1/|ceilings[1]: parameter is no whole number
		s/"parameter": 1024/"parameter": 0/|atomic_add cannot have the parameter 0
		s/"parameter": 0/"parameter": 3/|dram_copy cannot have the parameter 3
		s/"unit": "B.s"/"unit": "GB\/s"/|the unit of dram_copy is not 'B/s'
		s/("ceilings": \[)(.*?\})/$1$2,$2/s|dram_copy with parameter 0 is there twice
	END
}

@test "a launch that takes longer than a second is no measurement" {
	python3 - "$root"/ceilings/NVIDIA_H200-*.json >slow.json <<-'END'
		import json, sys
		file = json.load(open(sys.argv[1]))
		for row in file["ceilings"]:
		    if row["name"] == "graph_launch":
		        row["value"] = row["low"] = row["high"] = 9e18
		json.dump(file, sys.stdout)
	END
	run -1 --separate-stderr "$ROOFLINECTL" whatif "$root/tests/recordings/graph_chain.naive" --graph --ceilings slow.json
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *": no GPU has a graph_launch of 9e+18 ns; measure anew with 'rooflinectl ceilings'" ]]
}

@test "what is no file is refused, and not waited for" {
	mkfifo pipe
	mkdir folder
	for path in pipe folder /dev/zero; do
		run --separate-stderr timeout 10 "${ceilings[@]}" "$path"
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ "$stderr" == *"$path: not a file"* ]]
	done
	run --separate-stderr "${ceilings[@]}" nosuch.json
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"nosuch.json: cannot be read: No such file or directory" ]]
}

@test "names in a file cannot move the cursor" {
	write_stored
	spoil 's/NVIDIA H200/x\\u001b[2J/'
	run "${ceilings[@]}" "$stored"
	[ "${lines[0]}" = "Ceilings of x?[2J  (driver 580.1, CUDA 13.0)" ]
}

@test "--show takes the file of this GPU, then one that came with rooflinectl, then fails with the remedy" {
	run --separate-stderr "${ceilings[@]}" --show
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"none for Imaginary GPU 0: measure with 'rooflinectl ceilings'" ]]
	shipped="$house/share/rooflinectl/ceilings"
	mkdir -p "$shipped"
	write_stored
	spoil 's/NVIDIA H200/Imaginary GPU 0/'
	cp "$stored" "$shipped/Imaginary_GPU_0-580.1.json"
	run --separate-stderr "${ceilings[@]}" --show
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == "  shipped with rooflinectl, measured on Imaginary GPU 0 with driver 580.1 on 2026-01-31; the driver here is "* ]]
	good memory caches arithmetic tensor transfer atomics orchestration device_launches links nvshmem
	"${ceilings[@]}" >/dev/null
	run --separate-stderr "${ceilings[@]}" --show
	[[ "${lines[1]}" == "  measured on Imaginary GPU 0 with driver "* ]]
	[[ "${lines[1]}" != *"the driver here"* ]]
}

@test "--show of a GPU that has only a datasheet shows that, marked" {
	export FAKE_CUDA_NAME="NVIDIA H200 NVL"
	run --separate-stderr "${ceilings[@]}" --show
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "Ceilings of NVIDIA H200 NVL" ]
	[[ "${lines[1]}" == "  datasheet figures, which no program reaches: measure with "* ]]
	grep -qE '^  fp32_fma +60\.0 TFLOP/s +- +- +100\.0%$' <<<"$output"
	[[ "$output" != *launch_call* ]]
	run "${ceilings[@]}" --show --format json
	[ "$status" -eq 0 ]
	[[ "$output" == *'"samples": 0,'* ]]
}
