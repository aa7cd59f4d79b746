#!/usr/bin/env bats
# A part of a recording: by time, name, stream and rank; sections and the order of their rows.

load common

recording="$root/tests/recordings/graph_chain.naive"

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# field EXPRESSION: of the JSON in $output
field() {
	python3 -c "import json, sys; j = json.load(sys.stdin); print(($1))" <<<"$output"
}

# wrong TEXT ARGUMENT...: exit code 2, one line on stderr with that text
wrong() {
	local text=$1
	shift
	run -2 --separate-stderr "$ROOFLINECTL" report "$recording" "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl report: "*"$text"* ]] || {
		echo "$stderr"
		return 1
	}
}

@test "the first lines say what part it is, in JSON a key, and CSV's go to stderr" {
	run -0 "$ROOFLINECTL" report "$recording" --range run -s kernels
	[[ "$output" == "A part of the recording"$'\n'"  301 of 604 operations, by --range run, from 3.012208ms to 5.753689ms after the"$'\n'"  first; all else is left out"* ]]
	run -0 "$ROOFLINECTL" report "$recording" --range run -s kernels -f json
	[[ "$(field 'j["selection"]')" == "301 of 604 operations, by --range run"* ]]
	[ "$(field 'sum(k["count"] for k in j["kernels"])')" = 300 ]
	run -0 --separate-stderr "$ROOFLINECTL" report "$recording" --range run -f csv
	[[ "$stderr" == "rooflinectl report: note: 301 of 604 operations"* ]]
	run -0 "$ROOFLINECTL" report "$recording" -s kernels -f json
	[ "$(field 'j["selection"]')" = None ]
}

@test "a time, and all but the first operations" {
	run -0 "$ROOFLINECTL" report "$recording" --from 1ms --to 2ms -s devices -f json
	[ "$(field 'j["devices"][0]["wall_ns"] == 1e6')" = True ]
	run -0 "$ROOFLINECTL" report "$recording" --skip-first 600 -f csv
	[ "${#lines[@]}" -eq 5 ] # the note, the heads, one launch of each kernel
	run -0 "$ROOFLINECTL" report "$recording" --skip-first 3ms -s kernels -f json
	[ "$(field 'sum(k["count"] for k in j["kernels"]) < 320')" = True ]
	run -0 "$ROOFLINECTL" report "$recording" --skip-first 100
	[[ "$output" == *$'\nVerdict\n'*$'\nPlan'* ]]
}

@test "what is idle up to the ends of the chosen time counts, also where nothing ran in it" {
	run -0 "$ROOFLINECTL" report "$recording" --from 2.81ms --to 2.89ms -f json
	[ "$(field 'j["devices"][0]["wall_ns"], j["devices"][0]["idle_ns"], j["devices"][0]["idle_by_cause"]["host_compute"]')" = "(80000, 80000, 80000)" ]
	[ "$(field 'j["gaps"][0]["host"]["then_call"], j["gaps"][0]["host"]["after_call"], j["gaps"][0]["host"]["range"]')" = "('cudaMemcpy', 'cudaDeviceSynchronize', 'check')" ]
	run -0 "$ROOFLINECTL" report "$recording" --from 2.81ms --to 2.89ms
	[[ "$output" == *"GPU idle 100.0% of the chosen time's 80.0 us: host compute 100.0%"* ]]
	[[ "$output" == *"what was chosen"* && "$output" != *"no work recorded"* ]]
}

@test "the parts of a time have the idle time, by cause, and the calls of it together" {
	for part in "--to 2.85ms" "--from 2.85ms --to 3ms" "--from 3ms"; do
		# shellcheck disable=SC2086
		"$ROOFLINECTL" report "$recording" $part -f json >>parts
	done
	"$ROOFLINECTL" report "$recording" -f json >whole
	python3 - <<-'END'
		import json
		whole = json.load(open("whole"))["devices"][0]
		text, parts = open("parts").read(), []
		while text.strip():
		    part, end = json.JSONDecoder().raw_decode(text.lstrip())
		    parts.append(part["devices"][0])
		    text = text.lstrip()[end:]
		for key in "wall_ns", "busy_ns", "idle_ns", "kernel_ns":
		    assert sum(part[key] for part in parts) == whole[key], key
		for cause in "host_compute", "synchronization":
		    assert abs(sum(p["idle_by_cause"][cause] for p in parts) - whole["idle_by_cause"][cause]) < 1000
	END
}

@test "times of a part are those of the whole run, and calls of it are what lies in it" {
	run -0 "$ROOFLINECTL" report "$recording" --from 3ms --to 3.1ms -f json
	[ "$(field 'all(3e6 <= g["start_relative_ns"] < 3.1e6 for g in j["gaps"])')" = True ]
	[ "$(field 'sum(c["total_ns"] for c in j["api"]) <= 1e5')" = True ]
}

@test "iteration:N is an iteration of the steady state, or what is wrong with it" {
	run -0 "$ROOFLINECTL" report "$recording" --range iteration:7 -f json
	[ "$(field 'sorted(k["count"] for k in j["kernels"])')" = "[1, 1, 1]" ]
	[ "$(field '20e3 < j["devices"][0]["wall_ns"] < 40e3')" = True ]
	wrong "the steady state has 198 iterations: N in iteration:N is 1 to 198, not 199" --range iteration:199
	run -2 "$ROOFLINECTL" report "$root/tests/recordings/autotune.naive.roofline" --range iteration:1
	[[ "$output" == *"no loop of kernels takes most of the time, so it has no iterations"* ]]
}

@test "the head line says which iteration it is, of how many and in which NVTX range" {
	for lies in 7:warm-up 99:run 198:run; do
		run -0 "$ROOFLINECTL" report "$recording" --range "iteration:${lies%:*}" -s kernels -f json
		[[ "$(field 'j["selection"]')" == *", by --range iteration:${lies%:*} (iteration ${lies%:*} of 198, in NVTX range '${lies#*:}'), from "* ]]
	done
	unpacked graph_chain.naive none
	sed -i 2,\$d none/*/markers.csv
	run -0 "$ROOFLINECTL" report none --range iteration:7 -s kernels -f json
	[[ "$(field 'j["selection"]')" == *"(iteration 7 of 198), from "* ]]
	run -0 "$ROOFLINECTL" plot "$recording" timeline -f term --range iteration:7
	[[ "${lines[1]}" == "iteration, 7 of 198, in warm-up, at 298 us; "* ]]
}

@test "--range is given once" {
	wrong "--range is given twice, 'run' and 'iteration:7': one part at a time" --range run --range iteration:7
	for command in advise whatif "verify $recording" compare export pack plot; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr "$ROOFLINECTL" $command "$recording" --range run --range run
		[[ "${#stderr_lines[@]}" -eq 1 && "$stderr" == *"--range is given twice, 'run' and 'run'"* ]] || {
			echo "$command: $stderr"
			return 1
		}
	done
}

@test "what a report of a part says to do next is of that part" {
	run -0 "$ROOFLINECTL" report "$recording" --range iteration:7
	[[ "$output" == *"As a page for a browser:"$'\n'"  rooflinectl report --range iteration:7 $recording --html FILE" ]]
	run -0 "$ROOFLINECTL" report "$recording" --range iteration:7 -s gaps --top 1
	[[ "$output" == *"    rooflinectl plot $recording timeline --from 3"*us\ --to\ * ]]
	run -0 "$ROOFLINECTL" report "$recording" --kernels 'mix|shift' --range run -s gaps --top 1
	[[ "$output" == *"    rooflinectl plot --kernels 'mix|shift' $recording timeline --from "* ]]
	eval "$(grep -o 'rooflinectl plot .*' <<<"$output" | sed "s|^rooflinectl|$ROOFLINECTL|") -f term" >shown
	grep -q '400 of 604 operations, by --kernels mix|shift' shown
}

@test "a report of a range has the idle share that the picture of it has" {
	for range in check:1 run iteration:7; do
		run -0 "$ROOFLINECTL" plot "$recording" timeline -f term --range "$range"
		[[ "${lines[0]}" =~ idle\ for\ ([0-9.]+%)\ of\ ([0-9.]+\ [mun]?s) ]]
		share=${BASH_REMATCH[1]} wall=${BASH_REMATCH[2]}
		run -0 "$ROOFLINECTL" report "$recording" --range "$range" -s devices
		[[ "$output" =~ wall\ +"$wall" && "$output" =~ idle\ +[0-9.]+\ [mun]s\ +"$share" ]] || {
			echo "$range: $share of $wall"
			return 1
		}
	done
}

@test "two halves of the time have all operations, calls and idle time of the whole" {
	"$ROOFLINECTL" report "$recording" -f json >all
	"$ROOFLINECTL" report "$recording" --to 3ms -f json >early
	"$ROOFLINECTL" report "$recording" --from 3ms -f json >late
	python3 - <<-'END'
		import json
		whole, early, late = (json.load(open(name)) for name in ("all", "early", "late"))
		count = lambda report: sum(kernel["count"] for kernel in report["kernels"])
		busy = lambda report: report["devices"][0]["busy_ns"]
		launches = lambda report: next(c["count"] for c in report["api"] if c["name"] == "cudaLaunchKernel")
		for what in count, busy:
		    assert what(whole) == what(early) + what(late), what
		# a call on the border may belong to both
		assert launches(whole) <= launches(early) + launches(late) <= launches(whole) + 1
		for report in early, late:
		    device = report["devices"][0]
		    assert sum(device["idle_by_cause"].values()) == device["idle_ns"]
	END
}

@test "kernels by a regular expression, and without advice, which is about all that ran" {
	run -0 "$ROOFLINECTL" report "$recording" --kernels 'mix|shift'
	[[ "$output" == *"400 of 604 operations, by --kernels mix|shift;"*"no advice"$'\n'"  is given"* ]]
	[[ "$output" != *"step_kernel<&scale>"* && "$output" != *"Verdict"* ]]
	run -0 "$ROOFLINECTL" report "$recording" --stream 7 -s copies,kernels
	[[ "$output" == *"4 of 604 operations"*"no kernel was recorded"*"DtoH"* ]]
	wrong "none of its 604 operations is left by --kernels nosuch" --kernels nosuch
	wrong "section plan is about all that ran, not about --kernels or --stream" --kernels mix -s plan
	wrong "none of its 604 operations is left by --rank 3" --rank 3
}

@test "kernels by the names that the report prints" {
	run -0 "$ROOFLINECTL" report "$recording" --kernels 'step_kernel<&scale>' -f json
	[ "$(field '[k["count"] for k in j["kernels"]]')" = "[200]" ]
	run -0 "$ROOFLINECTL" report "$recording" --range 'step_kernel<&scale>:2' -f json
	[ "$(field '[k["count"] for k in j["kernels"]]')" = "[1]" ]
}

@test "a rank of a run with several" {
	small ranks 10000
	sed -i '$a rank,0' ranks/host.7/process.csv
	small other 4000
	sed -e '$a rank,1' -e 's/^pid,7/pid,8/' other/host.7/process.csv >process.csv
	mv process.csv other/host.7/process.csv
	mv other/host.7 ranks/host.8
	run -0 "$ROOFLINECTL" report ranks --rank 1 -s kernels,ranges,devices -f json
	[ "$(field '[k["count"] for k in j["kernels"]], [r["count"] for r in j["ranges"]], j["devices"][0]["wall_ns"]')" = "([2], [1], 4000)" ]
	[[ "$(field 'j["selection"]')" == "2 of 4 operations, by --rank 1"* ]]
}

@test "several sections, and why one that was asked for is empty" {
	run -0 "$ROOFLINECTL" report "$recording" -s memsets,power,devices
	[ "$(grep -c '^[A-Z]' <<<"$output")" -eq 3 ]
	[[ "$output" == "GPU 0 "*"Clocks and power"$'\n'"  clocks and power were not read: record with --power"*"Memsets"$'\n'"  no memory was set" ]]
	for section in $("$ROOFLINECTL" report -h | tr -s ' \n' ' ' | sed 's/.*these sections, of //; s/; csv has.*//'); do
		run -0 "$ROOFLINECTL" report "$recording" -s "$section"
		[ -n "$output" ] || {
			echo "$section prints nothing"
			return 1
		}
	done
}

# empty RECORDING SECTION SENTENCE: what the text of that section says
empty() {
	run -0 "$ROOFLINECTL" report "$1" -s "$2"
	[ "$(sed 1d <<<"$output" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" = "$3" ] ||
		{ echo "$1 $2: $output" && return 1; }
}

@test "an empty section says which of its reasons it is, and what fills it" {
	cd "$root/tests/recordings"
	empty streams sampling "nothing was sampled: record with --sample"
	empty dp_tokens.naive device_work "samples show no work that the device launched itself, in the time that was sampled"
	empty streams device_graphs "no CUDA graph was launched, and only a graph can launch others"
	empty graph_chain.graph device_graphs "graphs were recorded node by node, which does not tell who launched them: record with --graphs=both"
	empty streams counters "no hardware counters were read: record with --counters"
	empty pitfalls.other_profiler roofline "counters were asked for and could not be read: the counters of this GPU cannot be asked for: CUPTI_ERROR_HARDWARE_BUSY (26); 'rooflinectl doctor' tells what they need"
	empty torch_train atomics "no launch was counted that has them: record with --counters=atomics, and with --counters-share=100 where the program is short"
	empty streams memory "the program allocates memory, but that was not recorded: with ROOFLINE_ALLOCATIONS=0, or by an older collector; record it again"
	empty streams managed_memory "no use of managed memory is seen in what was recorded"
	empty streams plan "no two changes are known to gain together: see --section advice,rejected"
	"$ROOFLINECTL" import foreign/linear.json.gz -o "$BATS_TEST_TMPDIR/imported" >/dev/null
	empty "$BATS_TEST_TMPDIR/imported" power "clocks and power were not read: record with --power (this is imported from PyTorch profiler, whose files do not tell it)"
}

@test "JSON and CSV say why a section has no row" {
	run -0 "$ROOFLINECTL" report "$recording" -s memsets,kernels -f json
	[ "$(field 'j["empty"]')" = "{'memsets': 'no memory was set'}" ]
	run -0 --separate-stderr "$ROOFLINECTL" report "$recording" -s memsets -f csv
	[ "$stderr" = "rooflinectl report: note: section memsets is empty: no memory was set" ]
	run -0 --separate-stderr "$ROOFLINECTL" report "$recording" -s kernels -f csv
	[ -z "$stderr" ]
}

@test "rows by a column of theirs" {
	run -0 "$ROOFLINECTL" report "$recording" -s api --sort count -n 2
	[[ "${lines[2]}" == "  cudaStreamSynchronize "* && "${lines[3]}" == "  cudaLaunchKernel "* ]] ||
		[[ "${lines[2]}" == "  cudaLaunchKernel "* && "${lines[3]}" == "  cudaStreamSynchronize "* ]]
	run -0 "$ROOFLINECTL" report "$recording" --sort max_ns -f json -s kernels
	[ "$(field '[k["max_ns"] for k in j["kernels"]] == sorted((k["max_ns"] for k in j["kernels"]), reverse=True)')" = True ]
	run -0 --separate-stderr "$ROOFLINECTL" report "$recording" --sort start_ns -s gaps -f csv -n 1
	[ "${#lines[@]}" -eq 2 ]
	run -0 "$ROOFLINECTL" report "$recording" --sort name -s kernels -f csv
	[[ "${lines[1]}" == *mix* && "${lines[2]}" == *scale* && "${lines[3]}" == *shift* ]]
	wrong "section kernels has no column 'nosuch' to sort by; it has: name, count, total_ns" --sort nosuch
	wrong "one section at a time with --sort" --sort count -s api,kernels
	wrong "the text of section devices has an order of its own" --sort wall_ns -s devices
}

@test "times relative to the first operation stand beside those of the recording" {
	run -0 "$ROOFLINECTL" report "$recording" -s gaps -f json
	[ "$(field 'all(g["start_relative_ns"] == g["start_ns"] - j["first_ns"] >= 0 for g in j["gaps"])')" = True ]
	[ "$(field 'all(g[o][m + "_relative_ns"] == g[o][m + "_ns"] - j["first_ns"] for g in j["gaps"] for o in ("before", "after") for m in ("start", "end"))')" = True ]
	run -0 "$ROOFLINECTL" report "$recording" -s devices,processes,memory -f json
	[ "$(field 'j["devices"][0]["first_relative_ns"], j["devices"][0]["last_relative_ns"] == j["devices"][0]["wall_ns"]')" = "(0, True)" ]
	[ "$(field 'j["processes"][0]["start_relative_ns"] < 0 and j["processes"][0]["last_relative_ns"] == j["processes"][0]["last_ns"] - j["first_ns"]')" = True ]
}

@test "a wider terminal has longer lines, with names that are not cut, and figures stay beside them" {
	needs_terminal
	run -0 script -qec "stty cols 150; '$ROOFLINECTL' report '$recording' -s api,kernels --kernels 'mix|scale'" /dev/null
	[[ "$output" == *"all else is left out of what follows: time in which only other"* ]]
	[[ "$output" =~ "cuDevicePrimaryCtxRetain "\ {1,20}[0-9] ]]
	run -0 script -qec "stty cols 150; '$ROOFLINECTL' report '$root/tests/recordings/pytorch.naive' -s kernels" /dev/null
	[[ "$output" == *"  sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 34>  grid 1x1x4 block 16x16, 32 regs, 4.25 KiB shared, <0.01 waves"* ]]
	run -0 "$ROOFLINECTL" report "$recording" -s api,kernels
	[ "$(awk '{ if (length > most) most = length } END { print most }' <<<"$output")" -le 80 ]
}

@test "memory that is freed after the time that is looked at is followed until then" {
	run -0 --separate-stderr "$ROOFLINECTL" report "$root/tests/recordings/transformer.selected" --from 1ms --to 3ms -f json
	[ "$(field 'len(j["memory"]) > 0 and len(j["kernels"]) > 0')" = True ]
}

@test "times of gaps and the command below them can be pasted" {
	run -0 "$ROOFLINECTL" report "$recording" -s gaps --top 1
	[[ "$output" == *"108 us  from 2.797051ms to 2.905274ms: host compute 87%"* ]]
	[[ "$output" == *"host   thread 483 in 'check': 94.0 us of its own code after"* ]]
	[[ "$output" == *"to see the first:"*"    rooflinectl plot $recording timeline --from 2.786228ms --to 2.916097ms" ]]
	run -0 "$ROOFLINECTL" report "$recording" --from 2.797051 --to 2.905274ms -f json
	[ "$(field 'j["devices"][0]["idle_ns"], j["devices"][0]["busy_ns"]')" = "(108223, 0)" ]
}

@test "of a folder with packed recordings the newest is reported, with a note" {
	mkdir folder
	cp "$recording.roofline" folder/old.roofline
	cp "$root/tests/recordings/graph_chain.graph.roofline" folder/new.roofline
	touch -d yesterday folder/old.roofline
	run -0 --separate-stderr "$ROOFLINECTL" report folder -f json
	[ "$stderr" = "rooflinectl report: note: this is of folder/new.roofline, the newest recording in folder" ]
	[ "$(field 'j["recording"]')" = folder/new.roofline ]
}

@test "another tool's file is said to be one, with what reads it" {
	printf 'SQLite format 3' >x.sqlite
	run -1 "$ROOFLINECTL" report x.sqlite
	[[ "$output" == *"make one of another tool's file with: rooflinectl import x.sqlite -o DIR" ]]
	echo x >x.nsys-rep
	run -1 "$ROOFLINECTL" report x.nsys-rep
	[[ "$output" == *"read it with: nsys export --type sqlite x.nsys-rep"* ]]
	run -1 "$ROOFLINECTL" import x.nsys-rep -o y
	[[ "$output" == *"only nsys reads this format; run nsys export --type sqlite x.nsys-rep"* ]]
}

@test "wrong arguments" {
	wrong "--from wants a time such as 12ms or 1.5s, or a number of milliseconds, not 'soon'" --from soon
	run -0 "$ROOFLINECTL" report "$recording" --from 0ns -s devices
	wrong "--from must lie before --to" --from 3ms --to 2ms
	wrong "--skip-first wants a number of operations or a time" --skip-first x
	wrong "--stream wants a number, not 'x'" --stream x
	wrong "--kernels '(': " --kernels '('
	wrong "nosuch" --range nosuch
	wrong "no section 'kernel', did you mean 'kernels'?" -s kernel
	wrong "one section at a time with --format csv" -s kernels,gaps -f csv
}

@test "the next commands are of the same part" {
	recording=$root/tests/recordings/graph_chain.naive.roofline
	run -0 "$ROOFLINECTL" report --format json --section next --range run "$recording"
	[[ "$output" == *"rooflinectl report --section advice --range run $recording"* ]]
	[[ "$output" == *"rooflinectl verify --range run $recording"* ]]
	run -0 "$ROOFLINECTL" report --format json --section next --range run:1 --from 1ms --to '5s' "$recording"
	[[ "$output" == *"rooflinectl report --section advice --range run:1 --from 1000000ns --to 5000000000ns $recording"* ]]
	[[ "$output" == *"rooflinectl verify $recording"* ]]
	run -0 "$ROOFLINECTL" report --section advice --range run:1 --from 1000000ns --to 5000000000ns "$recording"
	run -0 "$ROOFLINECTL" report --format json --section next "$recording"
	[[ "$output" == *"rooflinectl advise $recording"* ]]
}

@test "advise, whatif and verify take a part of a range's name as report does, where only one range has it" {
	local naive="$root/tests/recordings/graph_chain.naive.roofline" graph="$root/tests/recordings/graph_chain.graph.roofline"
	diff <("$ROOFLINECTL" advise --range arm- "$naive") <("$ROOFLINECTL" advise --range warm-up "$naive")
	diff <("$ROOFLINECTL" whatif --graph --range arm- "$naive") <("$ROOFLINECTL" whatif --graph --range warm-up "$naive")
	diff <("$ROOFLINECTL" whatif --graph=arm- "$naive") <("$ROOFLINECTL" whatif --graph=warm-up "$naive")
	diff <("$ROOFLINECTL" verify --range arm- "$naive" "$graph") <("$ROOFLINECTL" verify --range warm-up "$naive" "$graph")
	diff <("$ROOFLINECTL" verify --range arm- -a "$naive" -a "$naive" -b "$graph" 2>&1) \
		<("$ROOFLINECTL" verify --range warm-up -a "$naive" -a "$naive" -b "$graph" 2>&1)
	for command in "advise $naive" "whatif --graph $naive" "verify $naive $graph"; do
		run -2 "$ROOFLINECTL" $command --range ar
		[[ "$output" == *"'ar' matches several NVTX ranges, such as 'prepare' and 'warm-up'; give more of the name" ]]
	done
}

@test "a stream, a rank or kernels that there are not are answered with those that there are" {
	local several="$root/tests/recordings/collectives.ordered.roofline"
	wrong "none of its 604 operations is left by --stream 99; its streams are 7" --stream 99
	wrong "is left by --rank 99; none of its processes tells a rank" --rank 99
	wrong "is left by --kernels nothing; its kernels are step_kernel<&scale>, step_kernel<&shift>, step_kernel<&mix>" --kernels nothing
	run -2 "$ROOFLINECTL" report "$several" --rank 99
	[[ "$output" =~ "; its ranks are 0"(, [1-9])*$ ]] || [[ "$output" == *"; none of its processes tells a rank" ]]
	run -2 "$ROOFLINECTL" report "$recording" --stream 99 --kernels mix
	[[ "$output" == *"is left by --kernels mix, --stream 99" ]]
}
