#!/usr/bin/env bats
# rooflinectl report --html: what the page has, and what it must not have.  html_browser.bats uses it.

load common
load html

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
}

# page RECORDING [OPTION...]: writes page.html, and what it has as JSON into page.json
page() {
	"$ROOFLINECTL" report "$@" --html page.html && python3 "$root/tests/tools/html_data.py" page.html >page.json
}

# holds EXPRESSION...: of that JSON, j, its report r, and of rows, by kind
holds() {
	python3 - "$@" <<-'END'
		import json, sys
		j = json.load(open("page.json"))
		r = j["report"]
		rows = lambda kind: [row for row in j["rows"] if row["kind"] == kind]
		sum_of = lambda kind, key: sum(row[key] for row in rows(kind))
		for expression in sys.argv[1:]:
		    assert eval(expression), expression
	END
}

@test "a page has every operation, call, range and gap by itself, and they last as long as the report says, gaps by cause" {
	for name in torch_train nvtx_ranges; do
		page "$recordings/$name"
		holds "sum_of('stream', 'count') == sum(d['operation_count'] for d in r['devices'])" \
			"sum_of('stream', 'total_ns') == sum(k['total_ns'] for k in r['kernels'] + r['copies'] + r['memsets'])" \
			"sum_of('calls', 'count') == sum(a['count'] for a in r['api'])" \
			"sum_of('calls', 'total_ns') == sum(a['total_ns'] for a in r['api'])" \
			"sum_of('ranges', 'count') == sum(a['count'] for a in r['ranges'])" \
			"sum_of('idle', 'count') == sum(d['gap_count'] for d in r['devices'])" \
			"sum_of('idle', 'total_ns') == sum(d['idle_ns'] for d in r['devices'])" \
			"rows('idle')[0]['by_class'][:20] == list(r['devices'][0]['idle_by_cause'].values())"
		cp page.json "$BATS_FILE_TMPDIR/$name.json"
	done
}

@test "a page begins with few entries, and has more the closer one looks" {
	cp "$BATS_FILE_TMPDIR/torch_train.json" page.json
	holds "[level['entries'] for level in j['levels']] == sorted(level['entries'] for level in j['levels'])" \
		"len(j['levels']) == 3 and j['levels'][0]['entries'] < 1000 and j['levels'][2]['column_ns'] == 0"
}

@test "a page runs one script and one style, which its policy names by their hashes, and loads nothing" {
	cp "$BATS_FILE_TMPDIR/nvtx_ranges.json" page.json
	holds "j['scripts'] == 1 and j['is_in_policy'] == [True, True] and j['loads'] == []" \
		"j['policy'].startswith(\"default-src 'none'; script-src 'sha256-\") and 'unsafe' not in j['policy']"
	! grep -oE '(https?:)?//[a-z.]+\.(org|com|net|io)[^ ]*' "$BUILD/share/rooflinectl/html/page.html" |
		grep -v '^http://www.w3.org/2000/svg'
}

@test "whatever a recording's names hold, they are text in a page and add no element to it" {
	hostile_recording hostile
	page hostile
	for name in "${hostile[@]}"; do
		grep -qF -- "${name:0:12}" page.json
	done
	holds "j['scripts'] == 1 and j['loads'] == [] and j['is_in_policy'] == [True, True]" \
		"j['tags'] == json.load(open('$BATS_FILE_TMPDIR/nvtx_ranges.json'))['tags']"
	! grep -q '<img\|<svg\|<b>' page.html
}

@test "a page shows each step of the plan before and after, as whatif predicts it" {
	page "$recordings/graph_chain.naive"
	holds "[s['options'] for s in j['steps']] == [p['options'] for p in r['plan']] and len(j['steps']) == 2" \
		"all(s['after']['length_ns'] < 0.5 * s['before']['length_ns'] for s in j['steps'])" \
		"all(len(s['before']['ops']) == len(s['after']['ops']) == 24 for s in j['steps'])"
}

@test "a page has rows of samples where there are any" {
	page "$recordings/dynamic_parallelism.device.sampled"
	holds "[row['label'] for row in rows('samples')][:2] == ['SM activity', 'DRAM']" \
		"len(rows('bursts')) == 1 and rows('bursts')[0]['count'] == len(r['bursts'])"
}

@test "a page of a part of a recording has that part, says so, and asks nothing of advice where there are holes" {
	page "$recordings/graph_chain.naive" --from 1ms --kernels scale
	holds "r['selection'] and 'advice' not in r and j['steps'] == []" \
		"0 < sum_of('stream', 'count') == sum(k['count'] for k in r['kernels'] + r['copies'] + r['memsets']) < 200"
}

@test "a recording with nothing on a GPU gives a page, too" {
	mkdir -p empty/host.1
	printf 'key,value\nschema,1\npid,1\ncommand,./app\n' >empty/host.1/process.csv
	page empty
	holds "r['kernels'] == [] and j['rows'] == []"
}

@test "--html goes without the options of other formats" {
	for option in "--format json" "--section gaps" "--top 3" --wide "-o other"; do
		run --separate-stderr -2 "$ROOFLINECTL" report "$recordings/nvtx_ranges" --html page.html $option
		[[ "$stderr" == *"--html writes a whole page to its own FILE"* ]]
		[ ! -e page.html ]
	done
}

@test "a page that cannot be written is a failure that leaves nothing behind" {
	run --separate-stderr -1 "$ROOFLINECTL" report "$recordings/nvtx_ranges" --html missing/page.html
	[[ "$stderr" == "rooflinectl report: missing/page.html: cannot be written: No such file"* ]]
	if [ -w /dev/full ]; then
		ln -s /dev/full full.html
		run -1 "$ROOFLINECTL" report "$recordings/nvtx_ranges" --html full.html
	fi
	(ulimit -f 20 && trap '' XFSZ && ! "$ROOFLINECTL" report "$recordings/nvtx_ranges" --html page.html 2>told)
	grep -q "could not be written" told
	[ ! -e page.html ]
	! compgen -G 'page.html.*'
}
