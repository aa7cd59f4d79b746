#!/usr/bin/env bats
# rooflinectl export: a recording in the formats of other tools.
load common

setup() {
	mkdir "$BATS_TEST_TMPDIR/here" # bats keeps files of its own beside it
	cd "$BATS_TEST_TMPDIR/here"
}

# exported NAME FILE ARGUMENT...: that recording of tests/recordings
exported() {
	"$ROOFLINECTL" export "$root/tests/recordings/$1" -o "$2" "${@:3}"
}

# figure NAME PATH: a number of the JSON report, such as devices.0.idle_ns
figure() {
	"$ROOFLINECTL" report "$root/tests/recordings/$1" --format json | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[int(key) if key.isdigit() else key]
print(value)' "$2"
}

@test "SQLite has every operation, and idle time by cause adds up to that of the report" {
	exported pytorch.naive run.sqlite
	run -0 python3 - run.sqlite "$root" <<-'END'
		import sqlite3, sys
		file = sqlite3.connect(sys.argv[1])
		one = lambda query: file.execute(query).fetchone()[0]
		assert file.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
		print(one("SELECT count(*) FROM kernels"), one("SELECT count(*) FROM copies"),
		      one("SELECT count(*) FROM memsets"), one("SELECT count(*) FROM calls"))
		# Each kernel leads to its name, its stream, its device and the call that launched it.
		assert one("SELECT count(*) FROM kernels k JOIN signatures s ON s.id = k.signature JOIN streams t "
		           "ON t.id = k.stream JOIN devices d ON d.id = k.device JOIN calls c ON c.id = k.call "
		           "WHERE c.start_ns <= k.start_ns") == one("SELECT count(*) FROM kernels")
		assert one("SELECT sum(cause_ns) FROM gaps") == one("SELECT sum(idle_ns) FROM devices")
		assert one("SELECT total_ns FROM kernel_times") == one(
		    "SELECT sum(end_ns - start_ns) FROM kernels JOIN signatures s ON s.id = signature WHERE name = "
		    "(SELECT name FROM kernel_times)")
	END
	[ "$output" = "2405 14 400 2862" ]
}

# packaged ARGUMENT...: Python with the packages of this machine
packaged() {
	command "${PYTHON:-python3}" "$@"
}

# recipe NAME: the lines of that recipe in the page of export, which writes run1.sqlite itself
recipe() {
	sed -n "/<!-- recipe: $1 -->/,/^$/p" "$root/docs/commands/export.md" | sed '/^<!--/d;/^```/d;s/^\$ //;/^rooflinectl /d'
}

@test "the page's recipe for Parquet by pyarrow gives every table with the rows and types that SQLite has" {
	packaged -c 'import pyarrow.parquet' || skip "no pyarrow found: pip install pyarrow"
	exported pytorch.naive run1.sqlite
	recipe pyarrow >recipe.py
	packaged recipe.py
	packaged - <<-'END'
		import glob, pyarrow.parquet, sqlite3
		file = sqlite3.connect("run1.sqlite")
		names = [name for name, in file.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")]
		assert sorted(glob.glob("*.parquet")) == sorted(name + ".parquet" for name in names) and "kernel_times" in names
		for name in names:
		    assert pyarrow.parquet.read_metadata(name + ".parquet").num_rows == \
		        file.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0], name
		table = pyarrow.parquet.read_table("kernels.parquet")
		assert str(table.schema.field("start_ns").type) == "int64"
		assert table["end_ns"].to_pylist() == [end for end, in file.execute("SELECT end_ns FROM kernels")]
	END
}

@test "the page's recipe for Parquet by DuckDB gives the kernels with the rows and types that SQLite has" {
	packaged -c 'import duckdb, pyarrow.parquet' || skip "no DuckDB and pyarrow found: pip install duckdb pyarrow"
	needs_command sqlite3
	duckdb() { packaged -c 'import duckdb, sys; duckdb.sql(sys.argv[1])' "$2"; }
	exported pytorch.naive run1.sqlite
	eval "$(recipe duckdb)"
	packaged - <<-'END'
		import pyarrow.parquet, sqlite3
		table = pyarrow.parquet.read_table("kernels.parquet")
		rows = sqlite3.connect("run1.sqlite").execute("SELECT end_ns FROM kernels")
		assert sorted(table["end_ns"].to_pylist()) == sorted(end for end, in rows)
		assert str(table.schema.field("start_ns").type) == "int64"
	END
}

@test "Chrome's JSON has a slice for each operation, call, range and gap, and an arrow to each launched one" {
	exported pytorch.naive run.json
	exported pytorch.naive run.sqlite
	python3 - <<-'END'
		import collections, json, sqlite3
		events = json.load(open("run.json"))["traceEvents"]
		phases = collections.Counter(event["ph"] for event in events)
		assert set(phases) <= set("MXsfC"), phases
		slices = [event for event in events if event["ph"] == "X"]
		kinds = collections.Counter(event["cat"] for event in slices)
		file = sqlite3.connect("run.sqlite")
		for kind, query in (("kernel", "kernels"), ("copy", "copies"), ("memset", "memsets"), ("call", "calls"),
		                    ("range", "ranges"), ("gap", "(SELECT DISTINCT start_ns FROM gaps)")):
		    assert kinds[kind] == file.execute("SELECT count(*) FROM " + query).fetchone()[0], kind
		names = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M"}
		for event in slices:
		    assert (event["pid"], event["tid"]) in names and event["ts"] >= 0 and event["dur"] >= 0, event
		starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
		ends = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}
		assert starts.keys() == ends.keys() and len(starts) == 2819
		assert all(starts[flow] <= ends[flow] for flow in starts)
	END
}

# No reader of Perfetto's format is packaged, so this one reads what the encoding says: varints and lengths.
@test "Perfetto's packets are well-formed: slices begin and end on tracks that are described, with names that are known" {
	exported nvtx_ranges run.pftrace
	run -0 python3 - run.pftrace <<-'END'
		import collections, struct, sys
		def fields(data):
		    at = 0
		    def varint():
		        nonlocal at
		        number = shift = 0
		        while True:
		            byte = data[at]
		            at += 1
		            number |= (byte & 127) << shift
		            shift += 7
		            if byte < 128:
		                return number
		    while at < len(data):
		        tag = varint()
		        if tag & 7 == 0:
		            yield tag >> 3, varint()
		        elif tag & 7 == 1:
		            yield tag >> 3, struct.unpack_from("<Q", data, at)[0]
		            at += 8
		        else:
		            assert tag & 7 == 2
		            length = varint()
		            assert at + length <= len(data)
		            yield tag >> 3, data[at:at + length]
		            at += length
		tracks, names, flows, events = {}, {}, collections.Counter(), []
		for number, packet in fields(open(sys.argv[1], "rb").read()):
		    assert number == 1
		    packet = list(fields(packet))
		    values = dict(packet)
		    for key, value in fields(values.get(12, b"")):
		        if key == 2:
		            entry = dict(fields(value))
		            names[entry[1]] = entry[2].decode()
		    if 60 in values:
		        track = dict(fields(values[60]))
		        assert track.get(5, 0) in tracks or 5 not in track
		        tracks[track[1]] = track
		    if 11 in values:
		        event = dict(fields(values[11]))
		        assert event[11] in tracks
		        events.append((values[8], len(events), event))
		        assert event[9] != 1 or event[10] in names
		        flows[event.get(47, 0)] += 1
		        flows[event.get(48, 0)] -= 1
		depth = collections.Counter()
		for _, _, event in sorted(events, key=lambda item: item[:2]): # as Perfetto does
		    depth[event[11]] += {1: 1, 2: -1}[event[9]]
		    assert depth[event[11]] >= 0
		assert not any(depth.values())
		del flows[0]
		assert not any(flows.values())
		print(len(tracks), sum(event[9] == 1 for _, _, event in events), len(flows), "empty_kernel" in names.values())
	END
	[ "$output" = "19 254 40 True" ]
}

@test "speedscope's profiles open and close frames in order" {
	exported graph_chain.graph run.speedscope.json
	python3 - <<-'END'
		import json
		file = json.load(open("run.speedscope.json"))
		assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
		assert len(file["profiles"]) >= 4
		for profile in file["profiles"]:
		    assert profile["type"] == "evented" and profile["unit"] == "nanoseconds" and profile["name"]
		    open_frames, at = [], profile["startValue"]
		    for event in profile["events"]:
		        assert at <= event["at"] <= profile["endValue"]
		        at = event["at"]
		        if event["type"] == "O":
		            open_frames.append(event["frame"])
		            assert event["frame"] < len(file["shared"]["frames"])
		        else:
		            assert open_frames.pop() == event["frame"]
		    assert not open_frames
	END
}

@test "samples become counters over time, and hardware counters fields of kernels" {
	exported work_queue.naive.sampled run.json
	exported graph_chain.naive.counted counted.json
	python3 - <<-'END'
		import json
		events = json.load(open("run.json"))["traceEvents"]
		counts = [event for event in events if event["ph"] == "C"]
		assert {event["name"] for event in counts} >= {"SMs active (%)", "DRAM read (B/s)"}
		assert all(0 <= event["args"]["value"] <= 100.01 for event in counts if event["name"] == "SMs active (%)")
		events = json.load(open("counted.json"))["traceEvents"]
		kernels = [event["args"] for event in events if event.get("cat") == "kernel"]
		assert any("dram__bytes_read.sum" in arguments for arguments in kernels), kernels[0]
	END
}

@test "hostile names stay texts in every format" {
	unpacked graph_chain.naive there
	python3 - there/*/names.csv <<-'END'
		import sys
		text = open(sys.argv[1], "rb").read()
		name = b'"</script>""\\\x1b[31m\xff\xc3"'
		lines = [line if b"step_kernel" not in line else line.split(b",")[0] + b"," + name for line in text.split(b"\n")]
		open(sys.argv[1], "wb").write(b"\n".join(lines))
	END
	for file in run.json run.speedscope.json run.pftrace run.sqlite; do
		"$ROOFLINECTL" export there -o $file
	done
	python3 - <<-'END'
		import json
		for name in "run.json", "run.speedscope.json":
		    text = open(name, "rb").read().decode("utf-8")
		    assert "\x1b" not in text and json.loads(text)
		assert "</script>" in open("run.json").read()
		assert b"\x1b[31m" not in open("run.pftrace", "rb").read()
	END
}

@test "a part of a recording is exported alone" {
	exported graph_chain.naive run.sqlite --from 1ms --to 2ms
	run -0 python3 - <<-'END'
		import sqlite3
		file = sqlite3.connect("run.sqlite")
		first, last, count = file.execute("SELECT min(start_ns), max(end_ns), count(*) FROM kernels").fetchone()
		print(0 < last - first <= 1000000 and 0 < count < 600)
	END
	[ "$output" = True ]
}

@test "the format follows from the file's suffix, and --format goes before it" {
	exported graph_chain.naive run.json --format sqlite
	[ "$(head -c 15 run.json)" = "SQLite format 3" ]
	run -2 exported graph_chain.naive run.txt
	[[ "$output" == *"which --format has 'run.txt'?"*perfetto*sqlite* ]]
	run -2 exported graph_chain.naive run.json --format csv
	[[ "$output" == *"no format 'csv'; there are:"*speedscope* ]]
	run -2 "$ROOFLINECTL" export "$root/tests/recordings/graph_chain.naive"
	[[ "$output" == *"-o wants the file to write"* ]]
}

@test "a file that cannot be written whole is not there at all" {
	unpacked pytorch.naive "$BATS_TEST_TMPDIR/recording"
	for format in perfetto chrome sqlite speedscope; do
		(
			ulimit -f 16
			run -1 --separate-stderr "$ROOFLINECTL" export "$BATS_TEST_TMPDIR/recording" -o run.$format --format $format
			[ "${#stderr_lines[@]}" -eq 1 ]
			[[ "$stderr" == "rooflinectl export: run.$format"* ]] || { echo "$stderr"; false; }
		)
		[ -z "$(ls)" ]
	done
	run -1 exported pytorch.naive nowhere/run.json
	[[ "$output" == "rooflinectl export: nowhere/run.json: cannot be written: No such file or directory"* ]]
}
@test "-o - and /dev/stdout are stdout: the same bytes, after what is there, and no file of that name" {
	for format in perfetto chrome speedscope; do
		exported graph_chain.naive file -f $format
		exported graph_chain.naive - -f $format | cmp - file
		exported graph_chain.naive /dev/stdout -f $format | cat | cmp - file
		echo before >all
		exported graph_chain.naive - -f $format >>all
		exported graph_chain.naive /dev/stdout -f $format >>all
		{ echo before; cat file file; } | cmp - all
		exported graph_chain.naive >(cat >through) -f $format
		wait $!
		cmp file through
		[ "$(ls -A | tr '\n' ' ')" = "all file through " ]
	done
	run -2 exported graph_chain.naive -
	[[ "$output" == *"which --format has '-'?"* ]]
}

@test "what cannot go to stdout says so in one line: a database, anything on a terminal or on a full disk" {
	needs_terminal
	run -1 --separate-stderr exported graph_chain.naive - -f sqlite
	[ -z "$output" ]
	[ "$stderr" = "rooflinectl export: stdout: a database is not written from front to back; give -o the name of a file" ]
	run -1 python3 "$root/tests/tools/on_terminal.py" 24 80 "$ROOFLINECTL" export "$root/tests/recordings/graph_chain.naive" -f chrome -o - </dev/null
	[ "$output" = "rooflinectl export: stdout is a terminal; send it to a file or a pipe" ]
	for format in perfetto chrome speedscope; do
		run -1 bash -c '"$1" export "$2" -f "$3" -o - >/dev/full' - "$ROOFLINECTL" "$root/tests/recordings/graph_chain.naive" $format
		[[ "$output" == "rooflinectl export: stdout: could not be written: "* ]] && [ "${#lines[@]}" -eq 1 ]
	done
	[ -z "$(ls -A)" ]
}
