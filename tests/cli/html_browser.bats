#!/usr/bin/env bats
# rooflinectl report --html in a browser: every part loads, zooms and sorts, and no name of a recording runs.
# Skipped where there is no Chromium; `make check-html` installs it.

load common
load html

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
	PYTHONPATH=$root/tests/tools python3 -c "import browser, sys; sys.exit(not browser.find())" ||
		skip "no Chromium found: make check-html installs it"
	[[ "$BUILD" != *sanitized* ]] || skip "the page is the same one"
}

# try_page RECORDING [dark]: uses its page; what came of it is answer.json
try_page() {
	"$ROOFLINECTL" report "$1" --html page.html
	python3 "$root/tests/tools/html_try.py" page.html ${2:+"$2"} >answer.json
}

# try_torch: the page of torch_train, which is used once for all tests
try_torch() {
	[ -e "$BATS_FILE_TMPDIR/answer.json" ] || { try_page "$recordings/torch_train" && cp answer.json "$BATS_FILE_TMPDIR"; }
	cp "$BATS_FILE_TMPDIR/answer.json" .
}

# holds EXPRESSION: of that JSON, j, its timeline t and its tables b
holds() {
	python3 -c "
import json
j = json.load(open('answer.json')); t = j['timeline']; b = j['tables']
shown = lambda text: float(text.split()[0]) * {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}[text.split()[1]]
assert ($1), 'not so'"
}

@test "in a browser a page shows verdict, timeline, plan, rooflines and tables, zooms, sorts and searches" {
	try_torch
	holds "j['errors'] == 0 and j['complaints'] == [] and j['title'] == j['titleAtEnd']"
	holds "j['sections'] == ['verdict', 'timeline_section', 'plan', 'roofline', 'launch_roofline', 'kernels', 'gaps', 'details', 'losses']"
	holds "'GPU idle 78.6% of each step' in j['verdict'] and j['pictures'] == 1 and j['opened'] >= 10"
	# the timeline, by keys and by the wheel
	holds "abs(shown(t['zoomed']) / shown(t['all']) - 0.36) < 0.01 and shown(t['moved']) == shown(t['zoomed'])"
	holds "t['moved'] != t['zoomed'] and shown(t['wheel']) < 0.6 * shown(t['moved']) and t['home'] == t['all']"
	holds "t['chosen'] and shown(t['closest']) < shown(t['all']) and t['paintedColors'] > 8"
	holds "any(text.startswith('idle: ') for text in t['hover']) and len(t['hover']) >= 3"
	# tables
	holds "b['sort'] in ('ascending', 'descending') and b['byName'] != b['kernels']"
	holds "sorted(b['byName']) == sorted(b['kernels']) and len(b['kernels']) == 20"
	holds "b['found'].endswith(' of 100 rows') and shown(b['gap']) < shown(t['all'])"
	# the roofline of another memory, and its points by keyboard
	holds "'FLOP/byte of DRAM' in j['roofline']['first'] and 'FLOP/byte of L2' in j['roofline']['l2']"
	holds "'FLOP/s' in j['roofline']['tip']"
}

@test "in a browser every roof has its text beside it, none over another or beyond the page" {
	try_torch
	holds "all(any(text.startswith(roof + ' ') for text in j['roofline']['roofs']['texts']) for roof in ('DRAM', 'FP64', 'FP64 tensor', 'FP32', 'FP16', 'TF32 tensor', 'BF16 tensor', 'FP16 tensor', 'FP8 tensor'))"
	holds "j['roofline']['roofs']['crossed'] == j['roofline']['roofs']['beyond'] == 0"
	holds "[text.split(' ')[0] for text in j['roofline']['launching']['texts']] == ['a', 'always']"
}

@test "in a browser ? shows all keys and Escape closes them, with the focus where it was; each button has a name; nothing is cut on a narrow screen" {
	try_torch
	holds "j['keys']['open'] and j['keys']['hasFocus'] and j['keys']['staysInside'] and j['keys']['name'] == 'Keys'"
	holds "set('?0NP') <= set(''.join(j['keys']['shown'])) and {'Esc', 'Enter', 'Tab'} <= set(j['keys']['shown'])"
	holds "j['keys']['closed'] and j['keys']['focusIsBack'] and j['keys']['byButton'] and j['keys']['typed'] == ['?', False]"
	holds "j['nameless'] == 0"
	holds "j['narrow']['beyond'] <= 0 and j['narrow']['smallestText'] >= 12 and j['narrow']['covered'] == []"
}

@test "in a browser a table has a moment once, after the first operation began" {
	try_torch
	holds "not [text for table in j['moments'] for text in table['texts'] if 'relative' in text or 'from first' in text]"
	python3 - <<-'END'
		import json, re
		tables = {table["caption"]: table["texts"] for table in json.load(open("answer.json"))["moments"]}
		for caption in ("Processes", "Devices"):
		    texts = tables[caption]
		    for name in {"first", "last", "start"} & set(texts):
		        assert texts.count(name) == 1 and re.fullmatch(r"-?[0-9.]+ (ns|us|ms|s)", texts[texts.index(name) + 1]), name
		    assert "last" in texts, texts
	END
}

@test "in a browser a comparison shows verdicts, bars and every figure side by side, sorts, searches and runs no name" {
	hostile_recording hostile
	"$ROOFLINECTL" compare hostile "$recordings/graph_chain.naive" "$recordings/graph_chain.graph" --html page.html
	python3 "$root/tests/tools/html_compare_try.py" page.html dark >answer.json
	python3 - <<-'END'
		import json
		j = json.load(open("answer.json"))
		assert j["errors"] == 0 and j["complaints"] == [] and j["strange"] == 0, j
		assert j["beyond"] <= 0, j["beyond"] # on a narrow screen
		assert j["title"] == j["titleAtEnd"] and "hostile and " in j["title"], j
		assert j["sections"][:4] == ["verdict", "run", "steady_state", "idle"] and "graphs" in j["sections"], j["sections"]
		assert j["bars"] == 3 and j["background"] == "rgb(19, 20, 23)", j
		assert j["heads"] == ["of what", "quantity", "A", "B", "change of B", "C", "change of C"], j["heads"]
		assert "<img" in " ".join(j["kernels"]) or "<" in " ".join(j["kernels"]), j["kernels"]
		assert j["sort"] == "descending" and j["sorted"] != j["kernels"], j
		assert j["found"].endswith(" rows") and " of " in j["found"], j["found"]
	END
}

@test "in a browser no two kernels of a table look alike: names wrap, and are not cut at their ends" {
	"$ROOFLINECTL" report "$recordings/pytorch.compile" --html page.html
	PYTHONPATH=$root/tests/tools python3 - <<-'END'
		from browser import Browser
		with Browser() as browser:
		    browser.open("page.html")
		    cut = browser.evaluate("[...document.querySelectorAll('td.name')].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent).join('; ')")
		    assert cut == "", cut
		    names = browser.evaluate("[...document.querySelectorAll('#kernels td.name')].map((cell) => cell.innerText.trim())")
		    assert len(names) == len(set(names)) == 12 and "vectorized_elementwise_kernel<4, FillFunctor<float>>" in names, names
	END
}

@test "in a browser no name of a recording runs, and each is shown as it is" {
	hostile_recording hostile
	try_page hostile dark
	holds "j['errors'] == 0 and j['complaints'] == [] and j['scripts'] == 1 and j['strange'] == 0"
	holds "j['title'] == j['titleAtEnd'] and ' - rooflinectl' in j['title'] and '<' in j['title']"
	holds "any('<' in text for text in t['hover'] + b['kernels'])"
	holds "j['background'] == 'rgb(19, 20, 23)'" # dark mode
}

@test "in a browser the page of each recording, and of a part without idle time, shows all that it has" {
	for recording in "$recordings"/*.roofline; do
		"$ROOFLINECTL" report "$recording" --html "$(basename "$recording" .roofline).html"
	done
	"$ROOFLINECTL" report "$recordings/graph_chain.naive.roofline" --kernels step --html part.html
	python3 "$root/tests/tools/html_errors.py" ./*.html
}
