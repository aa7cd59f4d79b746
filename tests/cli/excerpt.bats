#!/usr/bin/env bats
# rooflinectl pack --range, --from, --to: a part of a recording as a recording of its own.
load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	recordings="$root/tests/recordings"
}

# same EXCERPT_OPTIONS OPTION...: fails, with the key, unless the report of part/it has every figure that the one of whole/it
# with the options has.  What differs is what was selected, by which options commands choose it again, and what the facts of an
# excerpt tell.
same() {
	(cd whole && "$ROOFLINECTL" report it "${@:2}" -f json >../whole.json)
	(cd part && "$ROOFLINECTL" report it $1 -f json >../part.json)
	python3 - <<-'END'
		import json, re
		def unchosen(command):
		    command = re.sub(r"--(range|from|to|skip-first|kernels|stream|rank) \S+ ", "", command or "")
		    return command.replace("rooflinectl report --section advice ", "rooflinectl advise ")
		def plain(path):
		    report = json.load(open(path))
		    assert report.pop("selection")
		    report["verdict"]["next"] = unchosen(report["verdict"]["next"])
		    for step in report["next"]:
		        step["command"] = unchosen(step["command"])
		    for process in report["processes"]:
		        for key in [k for k in process["properties"] if k.startswith("excerpt")]:
		            del process["properties"][key]
		    return report
		whole, part = plain("whole.json"), plain("part.json")
		assert whole.keys() == part.keys()
		for key in whole:
		    assert whole[key] == part[key], key
	END
}

# cut RECORDING OPTION...: the whole one as whole/it, the excerpt as part/it
cut() {
	rm -rf whole part
	mkdir whole part
	cp "$recordings/$1.roofline" whole/it.roofline
	"$ROOFLINECTL" pack whole/it.roofline -o part/it.roofline "${@:2}"
}

# agree RECORDING OPTION...: an excerpt's report is that of the part
agree() {
	cut "$@"
	same "" "${@:2}"
}

@test "a report of an excerpt is the one of that part: an iteration of a loop" {
	agree graph_chain.naive --range iteration:7
	[ "$(stat -c %s part/it.roofline)" -lt 4000 ]
	[ "$(stat -c %Y part/it.roofline)" = "$(stat -c %Y whole/it.roofline)" ]
	run -0 "$ROOFLINECTL" report part/it -s kernels
	[[ "$output" == "A part of the recording"$'\n'"  packed as a part: 3 of 604 operations, by --range iteration:7 (iteration 7 of"$'\n'"  198, in NVTX range 'warm-up'), from "* ]]
}

@test "one with threads that take turns, and counters" {
	agree torch_train --range iteration:3
	[ "$(python3 -c 'import json; print(len(json.load(open("part.json"))["counters"]) > 100)')" = True ]
}

@test "one with samples, and of a run that was recorded twice" {
	agree dp_tokens.naive --range run
	agree device_graph.tail --from 200us
}

@test "one of several ranks, with allocations" {
	agree nccl_bucketed.naive --from 20ms --to 100ms
}

@test "a part of an excerpt is that part of the whole, and may be packed again" {
	cut graph_chain.naive --range run
	same "--from 4ms --to 4.2ms" --from 4ms --to 4.2ms
	"$ROOFLINECTL" pack part/it.roofline --from 4ms --to 4.2ms
	mv part/it.part.roofline part/it.roofline
	same "" --from 4ms --to 4.2ms
}

@test "a folder is cut as well, and stays as it is" {
	unpacked graph_chain.naive whole
	find whole -type f -exec sha256sum {} + >before
	"$ROOFLINECTL" pack whole/ --to 1ms
	sha256sum --quiet -c before
	run -0 "$ROOFLINECTL" report whole.part.roofline -s devices
	[[ "$output" == *"102 of 604 operations, by --to, from 0ns to 1ms after the"* ]]
	[ ! -e whole.roofline ]
}

@test "rows that could not be read are lost in an excerpt, too" {
	small run 10000
	echo "2000000,1999999" >>run/host.7/kernels.csv
	"$ROOFLINECTL" pack run --to 5us
	run -0 "$ROOFLINECTL" report run.part.roofline -s losses
	[[ "$output" == *"1 unreadable_rows"* ]]
}

@test "a part that is not there is a wrong argument, and leaves no file" {
	run -2 --separate-stderr "$ROOFLINECTL" pack "$recordings/graph_chain.naive.roofline" -o none.roofline --range nosuch
	[[ "$stderr" == "rooflinectl pack: "*"nosuch"* ]]
	[ ! -e none.roofline ]
	run -2 --separate-stderr "$ROOFLINECTL" pack "$recordings/graph_chain.naive.roofline" --from 9ms --to 8ms
	[[ "$stderr" == *"--from must lie before --to"* ]]
}

@test "facts of an excerpt that cannot be are none" {
	small run 10000
	printf 'excerpt,a \033[31mpart\nexcerpt_first_ns,-5\nexcerpt_from_ns,9223372036854775807\nexcerpt_to_ns,-1\n' >>run/host.7/process.csv
	printf 'excerpt_turns,7 7 999 x\nexcerpt_process_first_ns,99999999999\n' >>run/host.7/process.csv
	run -0 "$ROOFLINECTL" report run
	[[ "$output" != *"A part of the recording"* ]]
	printf 'excerpt_first_ns,9223372036854775807\nexcerpt_from_ns,1\nexcerpt_to_ns,9223372036854775806\n' >>run/host.7/process.csv
	run -0 "$ROOFLINECTL" report run
	[[ "$output" == *"packed as a part: a ?[31mpart"* ]]
	run -0 --separate-stderr "$ROOFLINECTL" report run -s kernels -f csv
	[[ "$stderr" != *$'\033'* ]]
}

@test "without memory for the range that was asked for it fails, and the argument is not blamed" {
	[[ $BUILD != */sanitized ]] || skip "the sanitizer's allocator cannot be replaced"
	local preload="$BUILD/tests/tools/libfail_malloc.so" packed="$recordings/graph_chain.naive.roofline" count
	FAIL_COUNT=$PWD/count LD_PRELOAD=$preload "$ROOFLINECTL" report "$packed" --range iteration:3 -s copies >/dev/null
	count=$(cat count)
	for percent in {1..20}; do
		LD_PRELOAD=$preload FAIL_FROM=$((count * percent / 100)) \
			run -1 "$ROOFLINECTL" report "$packed" --range iteration:3 -s copies
	done
}
