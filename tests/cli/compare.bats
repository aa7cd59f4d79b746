#!/usr/bin/env bats
# rooflinectl compare: sides and repeats, what is more than noise, and the gate.

load common

recordings="$root/tests/recordings"

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# field EXPRESSION: of the JSON in $output; figure(group, name, quantity, side) is one of it
field() {
	python3 -c "
import json, sys
j = json.load(sys.stdin)
def figure(group, name, quantity, side):
    return next(f['sides'][side] for f in j['figures']
                if (f['group'], f['name'], f['quantity'], f['shape']) == (group, name, quantity, None))
print(($1))" <<<"$output"
}

# wrong CODE TEXT ARGUMENT...: that exit code, one line on stderr with that text, nothing on stdout
wrong() {
	local code=$1 text=$2
	shift 2
	run -"$code" --separate-stderr "$ROOFLINECTL" compare "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl compare: "*"$text"* ]] || {
		echo "$stderr"
		return 1
	}
}

@test "a recording differs in nothing from itself" {
	run -0 --separate-stderr "$ROOFLINECTL" compare --gate 0% "$recordings"/graph_chain.naive{,}
	[ -z "$stderr" ]
	[[ "$output" == *"no difference"*"No difference in "*" figures." ]]
	[[ "$output" != *"Kernels"* ]]
	run -0 "$ROOFLINECTL" compare -f json "$recordings"/work_queue.naive.counted{,}
	[ "$(field '{s["change"] for f in j["figures"] for s in f["sides"][1:]}')" = "{'equal'}" ]
	[ "$(field '{"run", "idle", "kernels", "copies", "api", "ranges", "counters"} <= {f["group"] for f in j["figures"]}')" = True ]
}

@test "what a change brought is told beside each other, with what appeared and went" {
	run -0 "$ROOFLINECTL" compare "$recordings"/graph_chain.{naive,graph}
	[[ "$output" =~ "  B  "[^$'\n']*$'\n'"     4."[0-9]+"x as fast in the steady state, an iteration: 26.9 us to 5.50 us, beyond"$'\n'"     noise"$'\n' ]]
	[[ "$output" =~ $'\n'"  launch calls "\ +600\ +203\ +-66.2%$'\n' ]]
	[[ "$output" =~ $'\n'"  cudaStreamSynchronize"\ +3.22\ ms\ +-\ +gone$'\n' ]]
	[[ "$output" =~ $'\n'"  of 3 nodes"\ +-\ +700\ us\ +new$'\n' ]]
	[[ "$output" == *$'\nAPI calls  (10 of 14, 14 differ)\n'* ]]
	run -0 "$ROOFLINECTL" compare --top 2 "$recordings"/graph_chain.{naive,graph,no_sync}
	[[ "$output" == *$'\nAPI calls  (2 of 14, 14 differ)\n'* ]]
	[[ "$output" =~ "A         B   change           C   change" ]]
}

@test "kernels are matched by name and by launch shape" {
	small before 10000
	small after 4000
	sed -i 's/64,1,1,256/128,1,1,256/' after/host.7/signatures.csv
	run -0 "$ROOFLINECTL" compare before after
	[[ "$output" =~ "saxpy, grid 64x1x1 block 256x1x1"\ +200\ ns\ +-\ +gone ]]
	[[ "$output" =~ "saxpy, grid 128x1x1 block 256x1x1"\ +-\ +200\ ns\ +new ]]
	run -0 "$ROOFLINECTL" compare before after -f json
	[ "$(field 'figure("kernels", "saxpy(int, float, float*)", "launches", 1)["change"]')" = equal ]
}

# repeats SIDE LENGTH_US...: a recording of each length
repeats() {
	local side=$1 length
	shift
	for length; do small "$side/$length" $((length * 1000)); done
}

@test "repeats tell what is more than noise" {
	repeats old 100 104 102
	repeats same 101 104
	repeats slower 110 112
	run -0 "$ROOFLINECTL" compare old same slower -f json
	[ "$(field 'figure("run", "first to last operation", "time", 0)["value"]')" = 102000.0 ]
	[ "$(field 'figure("run", "first to last operation", "time", 0)["ratio"]')" = 1.0 ]
	[ "$(field '[figure("run", "first to last operation", "time", 0)[k] for k in ("low", "high")]')" = "[100000.0, 104000.0]" ]
	[ "$(field '[figure("run", "first to last operation", "time", i)["change"] for i in (1, 2)]')" = "['within_noise', 'more']" ]
	run -0 "$ROOFLINECTL" compare old slower
	[[ "$output" == *"old, the mean of 3 recordings"*"8.8% slower from first to last operation: 102 us to 111 us, beyond noise"* ]]
	run -0 "$ROOFLINECTL" compare --before old/100 old/104 old/102 --after slower/110 slower/112 -f json
	[ "$(field '[len(s["recordings"]) for s in j["sides"]], figure("run", "first to last operation", "time", 1)["ratio"] > 1.08')" = "([3, 2], True)" ]
}

@test "with one recording of each side the noise of what happens once is not known, and that is told" {
	small before 10000
	small after 4000
	run -0 "$ROOFLINECTL" compare before after
	[[ "$output" =~ "first to last operation"\ +10.0\ us\ +4.00\ us\ +-60.0%\ \? ]]
	[[ "$output" == *"  Marks behind a change:"*"  ?  noise not known: one recording does not tell by how much"*$'\nRun\n'* ]]
	[[ "$output" != *record\ --repeats* && "$output" != *"  ~  "* ]]
}

@test "a gate is not met by what is slower than it allows, beyond noise" {
	repeats old 100 104 102
	repeats same 101 106
	repeats slower 110 112
	run -0 --separate-stderr "$ROOFLINECTL" compare --gate 5% old same
	[ -z "$stderr" ]
	run -0 "$ROOFLINECTL" compare --gate 9% old slower
	run -3 --separate-stderr "$ROOFLINECTL" compare --gate 5% old same slower
	[ "$stderr" = "rooflinectl compare: gate not met: slower is 8.8% slower than old, 5% are allowed: the run takes 111 us, 102 us before" ]
	run -0 --separate-stderr "$ROOFLINECTL" compare --gate 1% old same
	[ "$stderr" = "rooflinectl compare: warning: same is 1.5% slower than old, within noise: the gate cannot tell; record more repeats" ]
	run -3 "$ROOFLINECTL" compare --gate 5% old slower same # whichever of the sides it is
	run -3 "$ROOFLINECTL" compare --gate 5% "$recordings"/graph_chain.{graph,naive}
}

@test "a gate is not met by a side of which nothing ran on a GPU, nor beside one" {
	small one 1000
	small none 1000
	sed -i 2,3d none/host.7/kernels.csv
	for sides in "one none" "none one"; do
		run -3 --separate-stderr "$ROOFLINECTL" compare --gate 5% $sides
		[ "$stderr" = "rooflinectl compare: gate not met: nothing of ${sides#* } can be compared with ${sides% *}" ]
		[[ $output != *"as fast"* && $output != *slower* ]]
	done
}

@test "other work is compared with a warning" {
	run -0 "$ROOFLINECTL" compare "$recordings"/{graph_chain,conditional_if}.naive
	[[ "$output" == *"not the same work: graph_chain before, conditional_if after"* ]]
}

@test "a part of each recording is compared by the options of report" {
	run -0 "$ROOFLINECTL" compare --range run "$recordings"/graph_chain.{naive,graph}
	[[ "$output" == *"301 of 604 operations, by --range run"*"301 of 604 operations, by --range run"* ]]
	[[ "$output" =~ "first to last operation"\ +2.74\ ms\ +568\ us ]]
	wrong 2 "none of its 604 operations is left by --kernels nosuch" "$recordings"/graph_chain.{naive,graph} --kernels nosuch
}

@test "a gate refuses other work, and counters on one side, in one line; --force judges them" {
	cp "$recordings"/{graph_chain.naive,graph_chain.naive.counted,syncs}.roofline .
	run -3 --separate-stderr "$ROOFLINECTL" compare -f json --gate 50% graph_chain.naive syncs.roofline
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"gate not met: syncs.roofline is not the same work: --iterations 20 only after"*"with --force" ]]
	run -0 "$ROOFLINECTL" compare --gate 50% --force graph_chain.naive syncs.roofline
	run -3 --separate-stderr "$ROOFLINECTL" compare -f json --gate 50% graph_chain.naive{,.counted}
	[[ "$stderr" == *"gate not met: graph_chain.naive.counted alone was recorded with hardware counters"* ]]
	[ "$(field '[len(s["obstacles"]) for s in j["sides"]]')" = "[0, 1]" ]
	run -0 "$ROOFLINECTL" compare --gate 50% --force graph_chain.naive{,.counted}
}

@test "of other work an iteration is compared with one, whatever their numbers" {
	run -0 "$ROOFLINECTL" compare "$recordings"/{graph_chain.naive,syncs}
	[[ "$output" == *"7.3% slower in the steady state, an iteration: 26.9 us to 28.9 us"* ]]
}

@test "where several iterations do the work of one, both times are those of that work" {
	run -0 "$ROOFLINECTL" compare "$recordings"/pytorch.{naive,graph}
	[[ "$output" == *"2.58x as fast in the steady state, 4 iterations in a row to 1: 189 us to"*"73.4 us"* ]]
	[[ "$output" =~ "An iteration of the steady state  (of A, and the same work of the others)"$'\n'[^$'\n']*$'\n'"  an iteration "\ +47.3\ us\ +18.4\ us\ +-61.2% ]]
}

@test "CSV has each figure of each side" {
	run -0 "$ROOFLINECTL" compare -f csv "$recordings"/graph_chain.{naive,graph}
	[ "${lines[0]}" = "group,name,shape,quantity,unit,side,value,low,high,repeat_count,ratio,change" ]
	[[ "${lines[1]}" == "run,first to last operation,,time,ns,A,"*",not_compared" ]]
	[[ "${lines[2]}" == "run,first to last operation,,time,ns,B,"*",noise_unknown" ]]
}

@test "wrong arguments" {
	small one 1000
	mkdir empty
	wrong 2 "two recordings or more are compared: which?"
	wrong 2 "two recordings or more are compared: one is missing" one
	wrong 2 "--gate wants a percentage such as 5%, not 'x'" one one --gate x
	for percent in -1 nan 1e7 ""; do
		wrong 2 "--gate wants a percentage such as 5%, not '$percent'" one one --gate="$percent"
	done
	wrong 2 "--before stands before all other recordings" one --before one
	wrong 2 "--after stands behind --before" --after one
	wrong 2 "no format 'xml'; there are: text json csv" one one -f xml
	wrong 1 "empty: no recording there, nor a folder with several of them" one empty
	wrong 1 "nosuch" one nosuch
}

@test "--html writes one page with every figure that JSON has, which loads nothing and lets no name run" {
	load html
	hostile_recording hostile
	"$ROOFLINECTL" compare hostile "$recordings/graph_chain.naive" --html page.html
	"$ROOFLINECTL" compare hostile "$recordings/graph_chain.naive" -f json >figures.json
	python3 - "$root/tests/tools" <<-'END'
		import json, sys
		sys.path.insert(0, sys.argv[1])
		from html_data import Page
		page = Page(open("page.html").read())
		assert json.loads(page.blocks["comparison"]) == json.load(open("figures.json"))
		assert json.loads(page.blocks["causes"])[0] == "launch"
		assert page.loads == [] and len(page.scripts) == 1 and "unsafe" not in page.policy
		assert not {"img", "svg", "b"} & set(page.tags)
	END
	run -3 --separate-stderr "$ROOFLINECTL" compare "$recordings"/graph_chain.{graph,naive} --gate 5% --html gate.html
	[ -z "$output" ] && [ -s gate.html ]
	wrong 2 "--html writes a whole page to its own FILE" hostile hostile --html other.html -f json
	wrong 1 "missing/page.html: cannot be written" hostile hostile --html missing/page.html
	[ ! -e other.html ]
}

@test "a part of a run does other work than a whole run" {
	recording=$root/tests/recordings/graph_chain.naive.roofline
	"$ROOFLINECTL" pack --range iteration:7 -o part.roofline "$recording"
	run -0 "$ROOFLINECTL" compare part.roofline "$recording"
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *"not the same work: a part of a run before, a whole run after"* ]]
	run -3 "$ROOFLINECTL" verify --gate "$recording" part.roofline
	[[ "$output" == *"a whole run before, a part of one after"* ]]
}
