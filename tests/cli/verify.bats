#!/usr/bin/env bats
# rooflinectl verify: what it compares, what it warns of, what a gate refuses, and how it fails.


load common

recordings="$root/tests/recordings"

setup() {
	cd "$BATS_TEST_TMPDIR"
	small before 10000
	small after 4000
}

# field EXPRESSION: of the JSON in $output
field() {
	python3 -c "import json, sys; j = json.load(sys.stdin); print(($1))" <<<"$output"
}

# refused TEXT ARGUMENT...: exit code 2, one line on stderr with that text, nothing on stdout
refused() {
	local text=$1
	shift
	run -2 --separate-stderr "$ROOFLINECTL" verify "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl verify: "*"$text"* ]] || {
		echo "$stderr"
		return 1
	}
}

# not_judged TEXT ARGUMENT...: compared with exit code 0; a gate refuses it with that text in the one line on stderr
not_judged() {
	local text=$1
	shift
	run -3 --separate-stderr "$ROOFLINECTL" verify --gate "$@"
	[[ "$output" == *"  measured "*x*"not the same work: "* || "$output" == *"  measured "*x*"disturbed times: "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl verify: gate not met: "*"$text"* ]] || {
		echo "$stderr"
		return 1
	}
}

@test "the run before and after, and that nothing was predicted" {
	run -0 --separate-stderr "$ROOFLINECTL" verify before after
	[ -z "$stderr" ]
	[ "$output" = "Before and after  (the run: first operation to the last's end)
  before       10.0 us  before
  after        4.00 us  after
  measured       2.50x
  predicted          -  no prediction: no advice for the first recording has one" ]
}

@test "JSON has every key, null where nothing is known" {
	run -0 "$ROOFLINECTL" verify before after --format json
	[ "$(field 'j["schema"], j["before"], j["after"], j["range"]')" = "(4, 'before', 'after', None)" ]
	[ "$(field '[j[k] for k in ("strategy", "predicted", "low", "high", "error", "is_inside")]')" = \
		"[None, None, None, None, None, None]" ]
	[ "$(field 'j["measured"], j["compared"]["before_ns"], j["compared"]["after_ns"]')" = \
		"(2.5, 10000.0, 4000.0)" ]
	[ "$(field 'j["is_same_work"], j["differences"], j["warnings"]')" = "(True, [], [])" ]
}

@test "a range in place of the run" {
	run -0 "$ROOFLINECTL" verify before after --range step --format json
	[ "$(field 'j["range"], j["measured"], j["compared"]["before_count"]')" = "('step', 2.5, 1)" ]
	run -0 "$ROOFLINECTL" verify before after --range step
	[ "${lines[0]}" = "Before and after  (NVTX range step)" ]
}

@test "a range that is not in both" {
	refused "no NVTX range 'nosuch'; both have: step" before after --range nosuch
}

@test "a gate is not met by what was not predicted" {
	run -3 --separate-stderr "$ROOFLINECTL" verify before after --gate
	[[ "$output" == *"measured       2.50x"* ]]
	[ "$stderr" = "rooflinectl verify: gate not met: there is no prediction to compare the measured speedup with" ]
}

@test "advice that there is not" {
	refused "no advice 'nosuch' for before" before after --strategy nosuch
	refused "no advice 'nosuch' for $recordings/graph_chain.naive; there is: " \
		"$recordings/graph_chain.naive" "$recordings/graph_chain.graph" --strategy nosuch
}

@test "advice is chosen by its id and by its strategy" {
	local pair=("$recordings/graph_chain.naive" "$recordings/graph_chain.graph")
	run -0 "$ROOFLINECTL" report "${pair[0]}" --section advice --format json
	local id strategy
	id=$(field 'j["advice"][0]["id"]') strategy=$(field 'j["advice"][0]["strategy"]')
	run -0 "$ROOFLINECTL" verify "${pair[@]}" --strategy "$id" --format json
	[ "$(field 'j["advice"]')" = "$id" ]
	[ "$(field 'j["strategy"]')" = "$strategy" ]
	run -0 "$ROOFLINECTL" verify "${pair[@]}" --strategy "$strategy" --format json
	[ "$(field 'j["strategy"]')" = "$strategy" ]
}

@test "without a name the whole change is judged, unless it is advised for what came after as well" {
	run -0 "$ROOFLINECTL" verify --gate --format json "$recordings"/graph_chain.{naive,no_sync}
	[ "$(field 'j["advice"]')" = sync_every_kernel ]
	run -0 "$ROOFLINECTL" verify --gate --format json "$recordings"/graph_chain.{naive,graph}
	[ "$(field 'j["advice"]')" = launch_bound_graph ]
}

# pairs: before and after of every improved variant of a workload
pairs() {
	local workload naive improved
	for naive in $(recording_names | grep -E '[.]naive$|^torch_loop[.]eager$'); do
		workload=${naive%.*}
		for improved in $(recording_names | grep "^$workload[.]"); do
			case $improved in
			*.naive | *.eager | *.counted | *.sampled | *.four) continue ;;
			compute_bound.gemm_*) continue ;; # multiplies matrices, which the naive one does not
			# some variants have an input of their own, or are a mistake to be shown
			fuse_* | overfused.* | jit_* | tune_transpose.* | transformer.* | autotune.* | bank_conflict.*) continue ;;
			p2p_overlap.* | nccl_* | nvshmem_* | mpi_cuda.* | scaling.*) continue ;; # another number of kernels, for the same results
			esac
			echo "$recordings/$naive $recordings/$improved"
		done
	done
}

@test "every improved variant of a workload is the same work as the naive one, and judged where predicted" {
	pairs | each_or_third | while read -r before after; do
		local code=0
		"$ROOFLINECTL" verify --force --gate --format json "$before" "$after" 2>/dev/null || code=$?
		echo ",$code,"
	done >answers
	run -0 python3 - <<-'END'
		import json
		answers = json.loads("[" + open("answers").read().rstrip().rstrip(",") + "]")
		pairs = list(zip(answers[::2], answers[1::2]))
		assert len(pairs) >= 17, len(pairs)
		for j, code in pairs:
		    assert j["is_same_work"], j
		    assert j["measured"] > 0, j
		    judged = j["steady"] if j["judged"] == "steady_state" else j
		    assert code == (0 if judged["is_inside"] else 3), (code, j)
		    if j["predicted"] is None:
		        assert j["low"] is j["high"] is j["error"] is j["is_inside"] is None, j
		        continue
		    assert abs(j["error"] - (j["predicted"] / j["measured"] - 1)) < 1e-9, j
		    assert j["is_inside"] == (j["low"] <= j["measured"] <= j["high"]), j
	END
}

@test "what repeats is compared beside the run, and a prediction of it is judged by it" {
	local pair=("$recordings"/graph_chain.{naive,graph})
	run -0 "$ROOFLINECTL" verify --gate "${pair[@]}"
	[[ "$output" == *$'\n'"Steady state  (what repeats; the advice is judged by it)"*"an iteration, the median of "*"measured "*"without what recording added: "*"predicted "*"lies inside the interval" ]]
	run -0 "$ROOFLINECTL" verify --format json "${pair[@]}"
	[ "$(field 'j["judged"], j["steady"]["before_row_count"], j["steady"]["after_row_count"]')" = "('steady_state', 1, 1)" ]
	[ "$(field 'abs(j["steady"]["measured"] - j["steady"]["before_ns"] * j["steady"]["before_share"] / (j["steady"]["after_ns"] * j["steady"]["after_share"])) < 1e-9')" = True ]
	[ "$(field 'j["measured"] < j["steady"]["measured"] and j["steady"]["is_inside"]')" = True ]
	run -0 "$ROOFLINECTL" verify --range run --format json "${pair[@]}"
	[ "$(field 'j["judged"], set(j["steady"].values())')" = "('range', {None})" ]
}

@test "as many iterations are compared as do the work of one after the change" {
	local pairs=$root/tests/pairs
	run -0 "$ROOFLINECTL" verify --format json "$pairs"/copy_overlap.{naive,streamed}
	[ "$(field 'j["steady"]["before_row_count"], j["steady"]["after_row_count"]')" = "(8, 1)" ]
	[ "$(field '12 < j["steady"]["measured"] < 13')" = True ] # untraced: 12.30
	run -0 "$ROOFLINECTL" verify "$pairs"/conditional_while.{naive,conditional}
	[[ "$output" == *"Steady state  (what repeats)"*"measured           -  other iterations than before: the run is judged"* ]]
}

# unpacked NAME: a recording of tests/pairs, as a folder
unpacked() {
	mkdir "$1"
	zstd -dcq "$root/tests/pairs/$1.roofline" | tar -C "$1" -xf -
}

# untraced DIR: process folders of the runs without recording
untraced() {
	grep -l '^run,5$' "$1"/*/process.csv | xargs dirname
}

@test "what recording added is measured where the program also ran without" {
	unpacked graph_chain.naive
	unpacked graph_chain.graph
	local pair=(graph_chain.naive graph_chain.graph)
	run -0 "$ROOFLINECTL" verify --range run --format json "${pair[@]}"
	[ "$(field 'j["compared"]["before_is_measured"] and j["compared"]["after_is_measured"]')" = True ]
	local share=$(field 'j["compared"]["before_share"]')
	run -0 "$ROOFLINECTL" verify --range run "${pair[@]}"
	[[ "$output" == *"as runs without recording took: "* ]]
	# Twice as long without recording: so is what is measured.
	for folder in $(untraced graph_chain.naive); do
		python3 -c '
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
first = int(rows[1][0])
for row in rows[1:]:
    row[:2] = [first + 2 * (int(time) - first) for time in row[:2]]
csv.writer(open(sys.argv[1], "w"), lineterminator="\n").writerows(rows)' "$folder/api.csv"
	done
	run -0 "$ROOFLINECTL" verify --range run --format json "${pair[@]}"
	[ "$(field "abs(j['compared']['before_share'] / (2 * $share) - 1) < 1e-3")" = True ]
}

@test "a run without recording that launched otherwise tells nothing" {
	unpacked graph_chain.naive
	unpacked graph_chain.graph
	local pair=(graph_chain.naive graph_chain.graph)
	for folder in $(untraced graph_chain.naive); do
		awk -F, '!(NR > 1 && $3 == 1 && !gone++)' "$folder/api.csv" >fewer && mv fewer "$folder/api.csv"
	done
	run -0 "$ROOFLINECTL" verify --range run --format json "${pair[@]}"
	[ "$(field 'j["compared"]["before_is_measured"], j["compared"]["after_is_measured"]')" = "(False, True)" ]
	run -0 "$ROOFLINECTL" verify --range run "${pair[@]}"
	[[ "$output" == *"an estimate: a run without recording launched otherwise"* ]]
	rm -r $(untraced graph_chain.naive)
	run -0 "$ROOFLINECTL" verify --range run "${pair[@]}"
	[[ "$output" == *"an estimate: record both with --untraced to measure it"* ]]
}

@test "a pair without counters needs no force" {
	while read -r workload before after; do
		run -0 "$ROOFLINECTL" verify "$recordings/$workload.$before" "$recordings/$workload.$after"
		[[ "$output" == *"measured"* ]]
	done <<-END
		graph_chain naive graph
		persistent naive persistent
		dp_tiny naive one_kernel
		device_scheduler naive tail
		pytorch naive compile
		torch_loop eager graph
	END
}

@test "no naive variant is the same work as that of another workload" {
	local before after
	for before in graph_chain persistent work_queue pytorch device_choice; do
		for after in memory_bound graph_chain work_queue_mild graph_modes conditional_if dp_tiny; do
			[ "$before" = "$after" ] && continue
			not_judged "not the same work: " "$recordings/$before.naive" "$recordings/$after.naive"
		done
	done
	not_judged "not the same work: graph_chain before, memory_bound after, with no kernel name in common" \
		"$recordings/graph_chain.naive" "$recordings/memory_bound.naive"
	not_judged "torch_loop.py before, torch_train.py after" \
		"$recordings/torch_loop.eager" "$recordings/torch_train"
}

@test "another number of iterations is not the same work" {
	small more 20000 "--iterations 100"
	small less 10000 "naive --iterations=10"
	not_judged "--iterations 10 before, 100 after; record the same program with the same sizes" less more
	not_judged "--iterations 20 only before, and every kernel of both was launched 5 times as often after" \
		"$recordings/syncs" "$recordings/graph_chain.graph"
	not_judged "--count 24 before, 2 after" "$recordings/known_counts" "$recordings/known_counts.replay"
}

@test "another GPU is not compared" {
	sed -i 's/H200/H100/' after/host.7/devices.csv
	not_judged "NVIDIA H200 before, NVIDIA H100 after" before after
}

@test "what reading counters took is taken out of both, and where that cannot be told it is said" {
	run -0 "$ROOFLINECTL" verify --gate "$recordings/graph_chain.naive.counted" "$recordings/graph_chain.graph"
	[[ "$output" == *"without what recording added: 9"*"% of before"*"by cuda_graph (launch_bound_graph)"* ]]
	# 5.21x without counters
	run -0 "$ROOFLINECTL" verify --range run "$recordings"/graph_chain.{naive,graph.counted}
	[[ "$output" == *"measured       5."*"without what recording added: "*"98.9% of after"* ]]
	not_judged "was recorded with hardware counters, which change its times; record without --counters" \
		"$recordings/known_counts.replay" "$recordings/known_counts.replay"
}

@test "what is not the same work is compared with a warning, and only a gate refuses it" {
	small more 20000 "--iterations 100"
	small less 10000 "--iterations 10"
	run -0 --separate-stderr "$ROOFLINECTL" verify less more
	[ -z "$stderr" ]
	[[ "$output" == *"measured       0.50x"*"not the same work: --iterations 10 before, 100 after"* ]]
	not_judged "not the same work: --iterations 10 before, 100 after; record the same program" less more
	run -0 "$ROOFLINECTL" verify --gate --force "$recordings"/graph_chain.{naive,graph}
}

@test "--force has a gate judge it nevertheless" {
	small more 20000 "--iterations 100"
	small less 10000 "--iterations 10"
	run -0 "$ROOFLINECTL" verify --force less more
	[[ "$output" == *"measured       0.50x"* ]]
	[[ "$output" == *"not the same work: --iterations 10 before, 100 after"* ]]
	run -0 "$ROOFLINECTL" verify --force --format json less more
	[ "$(field 'j["is_same_work"], len(j["differences"])')" = "(False, 1)" ]
	run -0 "$ROOFLINECTL" verify --force "$recordings"/known_counts.replay{,}
	[[ "$output" == *"disturbed times: "*"hardware counters"* ]]
}

@test "a recording that was cut off is compared with a warning" {
	sed -i '/sealed_ns/d' after/host.7/process.csv
	run -0 "$ROOFLINECTL" verify before after
	[[ "$output" == *"measured       2.50x"*"warning: after was cut off: its end is missing"* ]]
	printf '1004500,1004' >>after/host.7/kernels.csv
	run -0 "$ROOFLINECTL" verify before after
	[[ "$output" == *"warning: after has losses (1, first: cut_off_rows)"* ]]
	run -0 "$ROOFLINECTL" verify before after --format json
	[ "$(field 'len(j["warnings"])')" = 2 ]
}

@test "a change that made it slower is measured as well" {
	run -0 "$ROOFLINECTL" verify after before --format json
	[ "$(field 'j["measured"]')" = 0.4 ]
}

@test "wrong arguments" {
	refused "BEFORE and AFTER are missing"
	refused "AFTER is missing" before
	refused "two recordings are compared, not also 'before'" before after before
	refused "no format 'xml'; there are: text json csv" before after --format xml
	refused "nosuch" before after --nosuch
	refused "range" before after --range
}

# failed TEXT ARGUMENT...: exit code 1, one line on stderr, nothing on stdout
failed() {
	local text=$1
	shift
	run -1 --separate-stderr "$ROOFLINECTL" verify "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl verify: "*"$text"* ]]
}

@test "a recording that cannot be read is a failure, whichever it is" {
	mkdir empty
	failed empty empty after
	failed empty before empty
	failed nosuch before nosuch
	printf 'key,value\nschema,1\n' >after/host.7/process.csv
	rm after/host.7/kernels.csv
	failed "after: no GPU operation was recorded" before after
	run -3 --separate-stderr "$ROOFLINECTL" verify --gate before after
	[ "$stderr" = "rooflinectl verify: gate not met: after: no GPU operation was recorded, so there is nothing to compare" ]
	failed nosuch --gate before nosuch
	failed nosuch.json before before --ceilings nosuch.json
}

@test "an answer that cannot be written is a failure" {
	for format in text json; do
		run -1 bash -c "'$ROOFLINECTL' verify before after --format $format >/dev/full"
		[[ "$output" == *"No space left on device"* ]]
	done
}

@test "bytes of a range are those of an occurrence, and what compiling returned is not told of one" {
	local pair=("$recordings/fuse_elementwise.naive" "$recordings/fuse_elementwise.fused")
	bytes() { run -0 "$ROOFLINECTL" verify --format json "$@" && field 'j["traffic"]["before_dram_bytes"]'; }
	# the range ran twice, and warm-ups are outside of it
	[ "$(python3 -c "print(2 < $(bytes "${pair[@]}") / $(bytes --range run "${pair[@]}"))")" = True ]
	run -0 "$ROOFLINECTL" verify --range run "${pair[@]}"
	[[ "$output" == *"Bytes that kernels move  (of an occurrence in the mean, by counters)"* ]]
	pair=("$recordings/jit_gemm.naive" "$recordings/jit_gemm.jit" --force --range run)
	run -0 "$ROOFLINECTL" verify "${pair[@]}"
	[[ "$output" == *"Code compiled at run time  (not told of a range: "* ]]
	run -0 "$ROOFLINECTL" verify "${pair[@]}" --format json
	[ "$(field 'set(j["jit"].values())')" = "{None}" ]
}

@test "what compiling at run time returned is told, and from how many launches on it pays" {
	local pair=("$recordings/jit_gemm.naive" "$recordings/jit_gemm.jit" --force)
	run -0 "$ROOFLINECTL" verify "${pair[@]}"
	[[ "$output" == *"Code compiled at run time"* ]]
	[[ "$output" =~ "it pays from "[0-9,]+" launches on" ]]
	run -0 "$ROOFLINECTL" verify "${pair[@]}" --format json
	python3 - "$output" <<-'END'
		import json, sys
		jit = json.loads(sys.argv[1])["jit"]
		saved = jit["saved_per_launch_ns"] * jit["launch_count"]
		assert abs(jit["return"] - (saved - jit["cost_ns"]) / jit["cost_ns"]) < 1e-6
		assert abs(jit["least_launches"] - jit["cost_ns"] / jit["saved_per_launch_ns"]) <= 1
	END
	run -0 "$ROOFLINECTL" verify "$recordings/graph_chain.naive" "$recordings/graph_chain.graph" --format json
	[ "$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["jit"]["cost_ns"])' "$output")" = None ]
}

@test "of several recordings of a side the one with the median time is compared, and the spread is told" {
	mkdir several changed
	for time_ns in 10000 30000 12000; do
		small "several/$time_ns" "$time_ns"
	done
	for time_ns in 4000 5000; do
		small "changed/$time_ns" "$time_ns"
	done
	run -0 --separate-stderr "$ROOFLINECTL" verify several changed
	[ -z "$stderr" ]
	[[ "${lines[1]}" == *" several/12000" ]]
	[[ "${lines[2]}" == *"the median of 3 repeats: "*" to "* ]]
	[[ "${lines[3]}" == *" changed/4000" ]]
	[[ "${lines[4]}" == *"the median of 2 repeats: "*" to "* ]]
	[[ "$output" == *" of single repeats"* ]]
	run -0 "$ROOFLINECTL" verify --format json several changed
	[ "$(field 'j["before"], j["compared"]["before_repeat_count"], j["compared"]["after_repeat_count"]')" = "('several/12000', 3, 2)" ]
	[ "$(field 'j["measured_low"] < j["measured"] < j["measured_high"]')" = True ]
	[ "$(field 'j["compared"]["before_repeats_low_ns"] < j["compared"]["before_ns"] < j["compared"]["before_repeats_high_ns"]')" = True ]
}

@test "a repeat that cannot be read, or has no such range, is told with its name" {
	mkdir several
	small several/1 10000
	small several/2 20000
	refused "several/1 has no NVTX range 'nowhere'" --range nowhere several after
	echo damaged >"$(echo several/2/*/kernels.csv)"
	run -1 --separate-stderr "$ROOFLINECTL" verify several after
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *": several/2: "* ]]
}
