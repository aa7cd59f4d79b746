#!/usr/bin/env bats
# report --section events: operations and calls as they followed each other.

load common

recording="$root/tests/recordings/graph_chain.naive"

setup() {
	cd "$BATS_TEST_TMPDIR"
}

events() {
	"$ROOFLINECTL" report "$recording" --section events "$@"
}

@test "events are the operations and calls of the chosen time, in the order in which they began" {
	run -0 events --range iteration:3
	[[ "$output" == *$'\nEvents  (3 operations, 9 calls)\n'* ]]
	[[ "$output" =~ [0-9.]+ms\ +|[0-9.]+us\ +1.02\ us\ \ stream\ 13\ +"step_kernel<&scale>" ]]
	[[ "$output" == *" thread 483 "*" cudaStreamSynchronize"* ]]
	[[ "$output" != *" more: "* ]]
	events --range iteration:3 -f json | python3 -c "
import json, sys
events = json.load(sys.stdin)['events']
assert [e['start_ns'] for e in events] == sorted(e['start_ns'] for e in events)
kinds = [e['kind'] for e in events]
assert (kinds.count('call'), kinds.count('kernel'), len(kinds)) == (9, 3, 12), kinds
launches = {e['correlation']: e for e in events if e['name'] == 'cudaLaunchKernel'}
for e in events:
	assert e['end_ns'] - e['start_ns'] == e['duration_ns']
	if e['kind'] == 'kernel':
		assert e['stream'] == 13 and e['result'] is None
		assert launches[e['correlation']]['start_ns'] < e['start_ns']
	else:
		assert e['stream'] is None and e['result'] == 0"
}

@test "what --top leaves out of a list is told, in text with how to read on, and reading on goes on there" {
	run -0 events --top 50
	[[ "$output" =~ ([0-9,]+)" more: the list goes on with --from "([0-9.a-z]+)", is whole with --top "([0-9]+) ]]
	local from=${BASH_REMATCH[2]} all=${BASH_REMATCH[3]}
	events --from "$from" -f json >rest.json
	events --top 51 -f json | python3 -c "
import json, sys
shown, rest = json.load(sys.stdin)['events'], json.load(open('rest.json'))['events']
what = lambda event: (event['name'], event['start_ns'])
assert what(shown[50]) in map(what, rest) and shown[50]['start_ns'] >= shown[49]['start_ns']
assert shown[50]['start_relative_ns'] == shown[50]['start_ns'] - json.load(open('rest.json'))['first_ns']
assert {e['range'] for e in rest} >= {None, 'run', 'check'}, {e['range'] for e in rest}"
	[ "$(events --top "$all" -f csv | wc -l)" -eq $((all + 1)) ]
	run -0 --separate-stderr events --top 50 -f csv
	[[ "$stderr" == "rooflinectl report: note: "*" more rows are left out by --top 50" ]]
	events --top 50 -f json | python3 -c "
import json, sys
report = json.load(sys.stdin)
assert len(report['events']) == 50 and report['left_out'] == {'events': $all - 50}"
	run -0 --separate-stderr events --top "$all" -f csv
	[ -z "$stderr" ]
}

@test "events stand in no report that does not ask for them, and can be sorted" {
	run -0 "$ROOFLINECTL" report "$recording"
	[[ "$output" != *$'\nEvents'* ]]
	"$ROOFLINECTL" report "$recording" -f json | python3 -c "
import json, sys
assert 'events' not in json.load(sys.stdin)"
	run -0 events --sort duration_ns --top 1
	[[ "$output" == *"-104.328607ms   96.2 ms  thread 483         cuDevicePrimaryCtxRetain" ]]
}
