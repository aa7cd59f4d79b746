#!/usr/bin/env bats
# The analyzer on recordings of a real GPU: what it counts is what the recorded programs did.
#
# The counts come from the sources: workloads/*.cu warm up once and run once, 100 iterations each
# (20 for work_queue*, and for `syncs`, which is graph_chain with --iterations 20); tests/gpu/* print theirs.
# Roofs are those that come with rooflinectl: XDG_DATA_HOME keeps this user's own away.

load common

# The JSON report of each recording is made once, for all tests.
setup_file() {
	cd "$root"
	export XDG_DATA_HOME="$BATS_FILE_TMPDIR/no-ceilings" reports="$BATS_FILE_TMPDIR" ROOFLINECTL
	{ recordings; of_two_ranks; of_several_gpus; } | xargs -P "$(nproc)" -I '{}' \
		sh -c '"$ROOFLINECTL" report tests/recordings/{} --format json >"$reports/{}.json"'
}

# With sanitizers every recording is read and shown; what its figures are the plain build tells.
setup() {
	cd "$root"
	export XDG_DATA_HOME="$BATS_TEST_TMPDIR/no-ceilings"
	[[ $BUILD != */sanitized || $BATS_TEST_DESCRIPTION =~ ^every.*(:\ (whole|text)|picture) ]] || skip "the plain build's figures are compared"
}

recordings() {
	recording_names | grep -vE "$two_ranks|$several_gpus"
}

# Of two processes with a GPU each: record.sh makes them where there are two.
two_ranks='^collectives[.]|^pitfalls[.]collective_order$'
of_two_ranks() {
	recording_names | grep -E "$two_ranks" || true
}

# Of workloads that take two GPUs.
several_gpus='^ddp[.]|^pitfalls[.](no_)?staged_peer_copy$|^nvshmem_|^mpi_|^two_stage[.]|^p2p_overlap[.]|^nccl_|^scaling[.]'
of_several_gpus() {
	recording_names | grep -E "$several_gpus" || true
}

# launched(what) are the launches of graphs by the device in that mode.
# expect RECORDINGS PYTHON...: each expression over the JSON report of each is true.  In them `name` is the recording, `r` is the report,
# `d` the first device, kernels() the counts by a name without arguments, row() the only row with the given
# values, and advice() the ids of the advice, most at stake first; point() is a counted kernel's place under
# the roofs, by the beginning of its name, and counter() what all counted launches of it read, the same each time.
expect() {
	python3 -c '
import collections, json, os, re, sys, xml.dom.minidom
def kernels():
    names = collections.Counter()
    for k in r["kernels"]:
        names[re.sub(r"^void |[(](?!anonymous namespace[)]).*", "", k["name"])] += k["count"]
    return dict(names)
def row(section, **values):
    [found] = [x for x in r[section] if all(x[k] == v for k, v in values.items())]
    return found
def advice():
    return [a["id"] for a in r["advice"]]
def point(name):
    [found] = [k for k in r["roofline"]["kernels"]
               if re.sub("^void ", "", k["name"]).startswith(name) and k["is_counted"]]
    return found
def counter(kernel, role):
    [found] = [c for c in r["counters"] if c.get("name") == kernel and c["role"] == role]
    return found["mean"] if found["min"] == found["mean"] == found["max"] else None
def launched(mode):
    return sum(x["count"] for x in r["device_graphs"]["launches"] if x["mode"] == mode)
def largest_cause(*but):
    causes = {k: v for k, v in d["idle_by_cause"].items() if k not in but}
    return max(causes, key=causes.get)
def sampled_sms():
    [found] = r["sm_activity"]
    return found
def bars(chart):
    svg = os.environ["pictures"] + "/" + name + "/roofline-" + chart + ".svg"
    return len(xml.dom.minidom.parse(svg).getElementsByTagName("polygon"))
timed = [(s, "total_ns") for s in ("kernels", "copies", "memsets", "api", "ranges", "graphs")] + \
    [("streams", "busy_ns"), ("concurrency", "time_ns"), ("gaps", "duration_ns")]
def points():
    return r["roofline"]["kernels"] + r["roofline"]["graphs"] + [r["roofline"]["application"]]
# pitfalls that cost no time that anybody could tell
untimed = ("low_occupancy", "latency_bound", "legacy_stream_capture", "refused_in_capture", "allocation_in_capture", "leaked_graphs",
           "register_spills", "collective_order", "pending_launches", "other_profiler")
failed = 0
for name in sys.argv[1].split():
    with open(os.environ["reports"] + "/" + name + ".json") as file:
        r = json.load(file)
    d = r["devices"][0]
    for e in sys.argv[2:]:
        if not eval("(" + e + ")"):
            print(f"{name}: not true: {e}")
            failed = 1
sys.exit(failed)' "$@"
}

# value RECORDING PYTHON: an expression over its JSON report
value() {
	python3 -c 'import json, sys; r = json.load(sys.stdin); [d] = r["devices"]; print(eval(sys.argv[1]))' \
		"$2" <"$reports/$1.json"
}

# variants WORKLOAD: as its source has them
variants() {
	if [ -e "workloads/$1.py" ]; then
		sed -n 's/^ *Variant("\([a-z0-9_]*\)".*/\1/p' "workloads/$1.py"
	else
		sed -n '/> variants = {/,/^};/s/^\t{"\([a-z0-9_]*\)".*/\1/p' "workloads/$1.cu"
	fi
}

@test "there are recordings of all variants of all workloads" {
	for workload in $(sed -n 's/^\tWORKLOAD(\([a-z_]*\),.*/\1/p' workloads/workloads.h); do
		variants=$(variants "$workload")
		[ -n "$variants" ]
		for variant in $variants; do
			[ -f "tests/recordings/$workload.$variant.roofline" ] || missing+=" $workload.$variant"
		done
		[ -f "tests/recordings/$workload.naive.roofline" ] || [[ $workload. =~ $several_gpus ]]
	done
	[ -z "${missing-}" ] || skip "record.sh makes these on a GPU:$missing"
}

@test "every recording: whole, nothing lost, every row readable, JSON for any parser" {
	expect "$(recordings)" 'r["losses"] == {}' 'd["name"] == "NVIDIA H200"' 'd["operation_count"] > 0' \
		'sum(device["busy_ns"] > 0 for device in r["devices"]) == 1' \
		'[p["is_cut_off"] or p["is_filtered"] for p in r["processes"]] == [False]'
}

# A replay ends without its last API calls.
@test "every recording: wall is busy and idle, and causes add up to idle, to the nanosecond" {
	expect "$(recordings)" 'd["wall_ns"] == d["last_ns"] - d["first_ns"]' \
		'd["wall_ns"] == d["busy_ns"] + d["idle_ns"]' \
		'd["idle_ns"] == sum(d["idle_by_cause"].values())' \
		'd["gap_count"] == sum(d["gap_count_by_cause"].values())' \
		'all(g["duration_ns"] == sum(g["by_cause"].values()) for g in r["gaps"])' \
		'sum(x["time_ns"] for x in r["concurrency"] if x["device"] == 0) == d["wall_ns"]' \
		'sum(s["operation_count"] for s in r["streams"]) == d["operation_count"]' \
		'd["operation_count"] == sum(x["count"] for x in r["kernels"] + r["copies"] + r["memsets"])
		 + sum(g["count"] for g in r["graphs"] if r["processes"][0]["is_graph_level"])' \
		'd["idle_by_cause"]["unknown"] == 0 or name.endswith(".replay")'
}

# Of what is nested or side by side the parts of each row add up, of what is not those of all rows, too.
@test "every recording: what is steady and what happens once add up to each time, to the nanosecond" {
	{ recordings; of_two_ranks; of_several_gpus; } >"$BATS_TEST_TMPDIR/names"
	expect "$(cat "$BATS_TEST_TMPDIR/names")" \
		'all(x["steady"]["time_ns"] + x["once"]["time_ns"] == x[time] and min(x["steady"]["time_ns"], x["once"]["time_ns"]) >= 0
		 for section, time in timed for x in r[section] if x["steady"]["time_ns"] is not None)' \
		'all(x["steady"]["count"] + x["once"]["count"] == x["count"]
		 for section in ("kernels", "copies", "memsets", "api", "ranges", "graphs") for x in r[section] if x["steady"]["count"] is not None)' \
		'all((x["steady"]["time_ns"] is None) == (d["steady"]["wall_ns"] is None) == (x["once"]["time_ns"] is None)
		 for section, _ in timed for x in r[section] if len(r["devices"]) == 1 and x.get("count") != 0)' \
		'all(sum(x["steady"]["time_ns"] for x in r["concurrency"] if x["device"] == i and x["operation_count"] >= least) == g["steady"][key]
		 for i, g in enumerate(r["devices"]) if g["steady"]["wall_ns"] is not None for least, key in ((0, "wall_ns"), (1, "busy_ns")))'
}

@test "every recording: none is a dead end: there is a command, or kernels are at their roof" {
	expect "$(recordings)" 'r["verdict"]["limit"] and r["verdict"]["change"]' \
		'r["next"] or "of a roof" in r["verdict"]["change"]' \
		'bool(r["advice"]) == any(n["id"] == "check" for n in r["next"])'
	python3 -c '
import json, sys
for name in sys.argv[1:]:
    print(*[n["command"] for n in json.load(open(name))["next"]], sep="\n")' "$reports"/*.json >"$BATS_TEST_TMPDIR/commands"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/commands")" -gt 100 ]
	bash -n "$BATS_TEST_TMPDIR/commands"
}

# Commands stand on one line, to be pasted.
@test "every recording: text fits 80 columns" {
	recordings | each_or_third >"$BATS_TEST_TMPDIR/names"
	NO_COLOR=1 texts="$BATS_TEST_TMPDIR" xargs -P "$(nproc)" -I '{}' sh -c \
		'"$ROOFLINECTL" report tests/recordings/{} >"$texts/{}.txt"' <"$BATS_TEST_TMPDIR/names"
	[ "$(ls "$BATS_TEST_TMPDIR"/*.txt | wc -l)" -eq "$(wc -l <"$BATS_TEST_TMPDIR/names")" ]
	[ "$(cat "$BATS_TEST_TMPDIR"/*.txt | awk 'length > 80 && !/^ +(next: +|how: +|check it: )?(rooflinectl|ncu|perf|py-spy) /' | wc -l)" -eq 0 ]
}

# Charts of a workload's other variants differ from its naive one's in their figures alone.
naive_of_each() {
	recordings | while read -r name; do
		[[ $name != *.naive && -e "tests/recordings/${name%%.*}.naive.roofline" ]] || echo "$name"
	done | each_or_third
}

# A replay is busy all the time: it has no chart of gaps.
@test "every workload: every chart of its recordings is a picture" {
	naive_of_each | pictures="$BATS_TEST_TMPDIR" xargs -P "$(nproc)" -I '{}' sh -c \
		'"$ROOFLINECTL" plot tests/recordings/{} -o "$pictures/{}" >/dev/null 2>&1'
	pictures="$BATS_TEST_TMPDIR" expect "$(naive_of_each)" 'bars("timeline") > 9' \
		'name.endswith(".replay") or bars("gaps") > 9' \
		'not r["kernels"] or bars("kernels") >= min(len(r["kernels"]), 16)' # fifteen and the rest
}

@test "graph_chain: 600 kernels of three names, in 200 launches of one graph of three nodes" {
	for variant in naive no_sync graph; do
		expect graph_chain.$variant \
			'kernels() == {"step_kernel<&(anonymous namespace)::%s>" % k: 200 for k in ("scale", "shift", "mix")}' \
			'all(k["grid"] == [256, 1, 1] and k["block"] == [256, 1, 1] for k in r["kernels"])'
	done
	for variant in naive no_sync; do
		expect graph_chain.$variant 'r["graphs"] == []' \
			'row("api", name="cudaLaunchKernel")["count"] == 600'
	done
	expect graph_chain.naive 'row("api", name="cudaStreamSynchronize")["count"] == 600'
	expect graph_chain.no_sync '"cudaStreamSynchronize" not in [c["name"] for c in r["api"]]'
	expect graph_chain.graph 'len(r["graphs"]) == 1' \
		'row("graphs", launch_count=200)["node_count"] == 3' \
		'row("graphs", launch_count=200)["operation_count"] == 600' \
		'row("api", name="cudaGraphLaunch")["count"] == 200'
}

@test "graph_chain: less idle time without waits, still less as a graph, with nearly the same kernel time" {
	naive=$(value graph_chain.naive 'd["idle_ns"]')
	no_sync=$(value graph_chain.no_sync 'd["idle_ns"]')
	graph=$(value graph_chain.graph 'd["idle_ns"]')
	[ "$naive" -gt "$((2 * no_sync))" ]
	[ "$no_sync" -gt "$((2 * graph))" ]
	[ "$(value graph_chain.graph 'd["kernel_ns"]')" -lt "$(($(value graph_chain.naive 'd["kernel_ns"]') * 5 / 4))" ]
}

@test "graph_chain: waits and launches are blamed where they are, and only there" {
	expect graph_chain.naive 'd["idle_by_cause"]["synchronization"] > 0.2 * d["idle_ns"]' \
		'd["idle_by_cause"]["launch"] > 0.5 * d["idle_ns"]'
	expect graph_chain.no_sync 'd["idle_by_cause"]["synchronization"] < 0.01 * d["idle_ns"]' \
		'd["idle_by_cause"]["launch"] > 0.5 * d["idle_ns"]'
	expect graph_chain.graph 'd["idle_by_cause"]["launch"] < 0.05 * d["idle_ns"]'
}

# In ifelse and precision the host also computes what must come out, longer than all decisions take.
@test "causes: a host that decides is blamed where it does, and only there" {
	for name in if switch while nested; do
		expect conditional_$name.naive 'largest_cause() == "host_decision"' \
			'd["idle_by_cause"]["host_decision"] > 0.5 * d["idle_ns"]'
	done
	expect conditional_ifelse.naive 'largest_cause("host_compute") == "host_decision"'
	expect conditional_precision.naive 'd["gap_count_by_cause"]["host_decision"] >= 20'
	for name in if ifelse switch while nested precision; do
		expect conditional_$name.conditional 'd["idle_by_cause"]["host_decision"] == 0'
	done
	for name in graph_chain.naive graph_chain.graph work_queue.naive copy_overlap.naive; do
		expect $name 'd["idle_by_cause"]["host_decision"] == 0'
	done
}

@test "causes: pageable copies, graphs made anew, allocations and waits across streams are told apart" {
	expect copy_overlap.naive 'largest_cause() == "pageable_staging"' \
		'd["idle_by_cause"]["blocking_copy"] == 0'
	expect graph_update.naive 'd["idle_by_cause"]["graph_instantiation"] > 0.2 * d["idle_ns"]' \
		'd["idle_by_cause"]["graph_capture"] > 0.05 * d["idle_ns"]' \
		'd["idle_by_cause"]["graph_update"] == 0'
	expect graph_update.exec_update 'd["idle_by_cause"]["graph_update"] > 0'
	expect graph_memory.malloc 'largest_cause() == "allocation"'
	expect graph_memory.preallocated 'd["idle_by_cause"]["allocation"] < 0.05 * d["idle_ns"]'
	expect graph_forkjoin.streams 'd["idle_by_cause"]["cross_stream_dependency"] > 0.1 * d["idle_ns"]'
	expect streams 'd["idle_by_cause"]["cross_stream_dependency"] > 0.1 * d["idle_ns"]'
	expect graph_forkjoin.naive 'd["idle_by_cause"]["cross_stream_dependency"] == 0'
}

@test "dynamic_parallelism: the host launches parents and children, the device's children are not visible and that is said" {
	for variant in naive no_sync; do
		expect dynamic_parallelism.$variant 'kernels() == {"parent_kernel": 200, "child_kernel": 400}'
	done
	expect dynamic_parallelism.naive 'row("api", name="cudaStreamSynchronize")["count"] == 400'
	expect dynamic_parallelism.device 'kernels() == {"launching_parent_kernel": 200}' \
		'row("api", name="cudaLaunchKernel")["count"] == 200' \
		'any("kernels launched by kernels" in line for line in r["not_visible"])'
}

@test "work_queue: one kernel an iteration, and a clearing of the queue's head before each" {
	for name in work_queue work_queue_mild; do
		expect $name.naive 'kernels() == {"static_kernel": 40}' 'row("memsets")["count"] == 2'
	done
	for name in work_queue.warp_queue work_queue.persistent work_queue_mild.queue; do
		expect $name 'kernels() == {"queue_kernel": 40}' 'row("memsets")["count"] == 42'
	done
	expect work_queue.persistent 'r["kernels"][0]["grid"] == [8 * d["sm_count"], 1, 1]'
}

@test "work_queue: the queue halves the kernels' time where blocks are unequal and lengthens it where they are not" {
	[ "$(value work_queue.naive 'd["kernel_ns"]')" -gt "$((2 * $(value work_queue.warp_queue 'd["kernel_ns"]')))" ]
	[ "$(value work_queue.naive 'd["kernel_ns"]')" -gt "$((2 * $(value work_queue.persistent 'd["kernel_ns"]')))" ]
	[ "$(value work_queue_mild.naive 'd["kernel_ns"]')" -lt "$(value work_queue_mild.queue 'd["kernel_ns"]')" ]
}

@test "torch_loop: 200 iterations, three times, of three kernels; with capture one graph launched 600 times" {
	expect torch_loop.eager '[k["count"] for k in r["kernels"]] == [600, 600, 600, 1]' \
		'row("api", name="cudaLaunchKernel")["count"] == 1801' 'r["graphs"] == []'
	expect torch_loop.graph '[k["count"] for k in r["kernels"]][:3] == [603, 603, 603]' \
		'len(r["graphs"]) == 1' 'row("graphs", launch_count=600)["node_count"] == 3' \
		'row("api", name="cudaGraphLaunch")["count"] == 600'
}

@test "device_graph: graphs that the device launches, beside those of the host, each launch as one" {
	expect device_graph 'r["kernels"] == []' 'r["processes"][0]["is_graph_level"]' \
		'sorted(g["launch_count"] for g in r["graphs"]) == [20, 20, 20, 20, 60]' \
		'row("graphs", launch_count=60)["is_device_launched"]' \
		'sum(g["is_device_launched"] for g in r["graphs"]) == 2' \
		'row("api", name="cudaGraphLaunch")["count"] == 61' \
		'any("nodes of CUDA graphs" in line for line in r["not_visible"])'
}

# Fire and forget 20; tail 20 and 19 of the graph that launches itself; sibling 20.
@test "device_graph: the table tells fire and forget, tail and sibling launches apart" {
	unpacked device_graph "$BATS_TEST_TMPDIR/device_graph"
	run python3 -c '
import collections, csv, glob, sys
[table] = glob.glob(sys.argv[1] + "/*/graphs.csv")
modes = collections.Counter(row["launch_mode"] for row in csv.DictReader(open(table)))
print(sorted(modes.items()))' "$BATS_TEST_TMPDIR/device_graph"
	[ "$output" = "[('0', 61), ('1', 20), ('2', 39), ('3', 20)]" ]
}

@test "nvtx_ranges: nested, in a domain, across threads, and one that never ended" {
	expect nvtx_ranges 'kernels() == {"empty_kernel": 40}' \
		'sum(x["count"] for x in r["ranges"]) == 4 * (2 + 3 * 10) + 1' \
		'row("ranges", name="step")["count"] == 40' 'row("ranges", name="step")["operation_count"] == 40' \
		'row("ranges", domain="trial", name="in a domain")["count"] == 40' \
		'row("ranges", domain="trial", name="registered name")["operation_count"] == 40' \
		'row("ranges", name="across threads")["count"] == 4' \
		'all(row("ranges", name="worker %d" % i)["operation_count"] == 10 for i in range(4))' \
		'[(x["name"], x["open_count"]) for x in r["ranges"] if x["open_count"]] == [("never ended", 1)]'
}

@test "streams: four streams, copies told apart by direction and memory, with their rates" {
	expect streams 'kernels() == {"empty_kernel": 40}' 'row("memsets")["count"] == 80' \
		'[s["operation_count"] for s in r["streams"]] == [70] * 4' \
		'sorted((c["kind"], c["src_memory"], c["dst_memory"]) for c in r["copies"]) ==
		 [("DtoD", "device", "device"), ("DtoH", "device", "pinned"), ("HtoD", "pageable", "device"), ("HtoD", "pinned", "device")]' \
		'all(c["count"] == 40 and c["bytes"] == 40 << 20 and c["is_async"] for c in r["copies"])' \
		'all(abs(c["byte_per_s"] - c["bytes"] / c["total_ns"] * 1e9) < 1 for c in r["copies"])' \
		'row("copies", src_memory="pinned")["byte_per_s"] > row("copies", src_memory="pageable")["byte_per_s"]'
}

@test "syncs: every wait of the API table has its record with the stream that it was for" {
	expect syncs 'sum(kernels().values()) == 120' 'row("api", name="cudaStreamSynchronize")["count"] == 120'
	unpacked syncs "$BATS_TEST_TMPDIR/syncs"
	run python3 -c '
import collections, csv, glob, sys
[table] = glob.glob(sys.argv[1] + "/*/syncs.csv")
waits = collections.Counter((row["kind"], row["stream"]) for row in csv.DictReader(open(table)))
print(waits["3", "13"], sum(n for (kind, _), n in waits.items() if kind == "4"))' "$BATS_TEST_TMPDIR/syncs"
	[ "$output" = "120 4" ]
}

@test "advice: a graph and fewer waits where they help, nothing for the controls" {
	expect graph_chain.naive 'sorted(advice()) == ["launch_bound_graph", "sync_every_kernel"]'
	expect graph_chain.no_sync 'advice() == ["launch_bound_graph"]'
	expect graph_chain.graph 'advice() == []'
	expect dynamic_parallelism.naive '"sync_every_kernel" in advice()'
	expect torch_loop.eager 'advice() == ["launch_bound_graph"]'
	expect torch_loop.graph '"launch_bound_graph" not in advice()'
	# its pageable copies are as fast as the pinned ones, and graphs of what lies between them may lose
	expect streams '"pageable_copy" not in advice()' 'all(a["unsure"] for a in r["advice"])'
	for name in if ifelse switch nested; do expect conditional_$name.naive 'advice()[0] == "host_decision"'; done
	expect conditional_while.naive 'advice()[0] == "while_node"' '"host_decision" not in advice()'
	expect device_graph.naive 'advice() == ["while_node"]'
	# a kernel of one block has a third of an iteration; measured of the first two: 1.00x
	expect device_scheduler.naive 'set(advice()) <= {"while_node", "check_every", "fill_gpu"}'
	expect conditional_while.naive 'advice()[:2] == ["while_node", "check_every"]'
	for name in if.naive nested.naive while.conditional; do expect conditional_$name '"check_every" not in advice()'; done
	for name in device_graph.no_read device_graph.tail conditional_while.conditional graph_pipeline.graph_wait; do
		expect $name '"while_node" not in advice()'
	done
	expect pytorch.naive 'advice() == ["launch_bound_graph"]'
	expect graph_forkjoin.naive 'advice()[0] == "underfilled_gpu"'
	expect graph_manual.naive 'advice() == ["host_node", "underfilled_gpu"]'
	for name in graph_pipeline.stream graph_pipeline.graph graph_manual.forked; do expect $name 'advice() == ["host_node"]'; done
	for name in graph_pipeline.naive graph_pipeline.graph_wait; do expect $name '"host_node" not in advice()'; done
	expect dependent_launch.naive 'advice()[0] == "dependent_launch"'
	for name in dependent dependent_graph; do expect dependent_launch.$name '"dependent_launch" not in advice()'; done
	expect graph_update.stream 'advice()[:2] == ["persistent_kernel", "launch_bound_graph"]' # a graph is launched each time
	expect persistent.naive '"persistent_kernel" not in advice()' # a graph brings nearly as much
	expect concurrent_kernels.naive 'advice()[0] == "underfilled_gpu" and set(advice()) == {"underfilled_gpu", "batch_launches", "fill_gpu"}'
	for name in atomic_batch.batch_512 atomic_hierarchy.tree device_choice.naive graph_large.naive; do
		expect $name '"one_time_copy" not in advice()'
	done
	for name in concurrent_kernels.streams graph_forkjoin.streams graph_manual.forked; do
		expect $name '"underfilled_gpu" not in advice()' '"fill_gpu" not in advice()' '"batch_launches" not in advice()'
	done
	for name in concurrent_kernels graph_forkjoin; do expect $name.naive '{"fill_gpu", "batch_launches"} <= set(advice())'; done
	for name in persistent.naive memory_bound.naive work_queue.persistent dp_tokens.compacted; do
		expect $name '"fill_gpu" not in advice()' '"batch_launches" not in advice()'
	done
	expect dp_tiny.device 'advice() == ["aggregate_children"]'
	# launched by the host without waiting it takes 1/2.4 of the time (docs/results/medians.txt)
	expect dynamic_parallelism.device.sampled 'advice()[0] == "host_launch"' 'r["advice"][0]["at_stake_ns"] > 1e6'
	for name in dp_irregular.device dp_irregular.device_level dp_tokens.device dp_tiny.device; do
		expect $name '"host_launch" not in advice()'
	done
	for name in dp_irregular.device dp_tokens.device device_scheduler.tail dynamic_parallelism.device.sampled; do
		expect $name '"aggregate_children" not in advice()'
	done
	for name in atomic_batch.naive atomic_hierarchy.naive histogram.naive histogram.naive_one; do
		expect $name 'advice() == ["hot_atomics"]'
	done
	for name in atomic_batch.batch_128 atomic_hierarchy.two_level histogram.shared; do expect $name '"hot_atomics" not in advice()'; done
	# two_level is 1.09 times as fast (docs/results/atomic_hierarchy.txt)
	expect atomic_hierarchy.tree 'r["advice"][0]["id"] == "hot_atomics"' \
		'r["advice"][0]["place"]["low"] < 1.09 < r["advice"][0]["place"]["high"]'
	expect graph_update.naive 'advice() == ["graph_rebuilt"]' \
		'r["advice"][0]["place"]["low"] < 1.97 < r["advice"][0]["place"]["high"]' # docs/results/workloads-graphs.txt
	expect graph_update.bucket '"graph_rebuilt" not in advice()'
	expect dp_tokens.naive '"device_launch" in advice()'
	for name in dp_tokens.compacted dynamic_parallelism.naive conditional_if.naive conditional_while.naive; do
		expect $name '"device_launch" not in advice()'
	done
	expect graph_memory.malloc 'advice()[0] == "allocation_in_loop"'
	expect graph_memory.stream_ordered '"allocation_in_loop" not in advice()'
	expect work_queue.naive.sampled 'advice() == ["sm_imbalance"]'
	expect work_queue_mild.naive.sampled 'advice() == []'
	expect graph_pipeline.naive 'advice() == ["launch_bound_graph"]'
	for name in precision.naive memory_bound.naive; do expect $name '"memory_roof" in advice()'; done
	for name in compute_bound.naive clusters.cluster atomic_batch.naive; do expect $name '"memory_roof" not in advice()'; done
	expect persistent.naive 'advice() == ["launch_bound_graph"]'
	for control in work_queue_mild.naive work_queue_mild.queue; do
		expect $control 'advice() == []'
	done
}

# Where kernels run side by side, a change can also bring more of them together: more than the idle time is at stake.
@test "advice: nothing promises more than what is at stake, and no part gains less than the whole" {
	expect "$(recordings)" 'all(1 - 1 / max(a["speedup"], a["high"]) <= a["at_stake_ratio"] + 1e-6 for a in r["advice"] if a["speedup"])' \
		'all(a["at_stake_ratio"] <= 1 for a in r["advice"])' \
		'all(a["place"][end] * 1.01 >= a[end] for a in r["advice"] if a["speedup"] for end in ("speedup", "high"))'
}

# Only the end of an interval may reach further than idle time.
@test "advice: what is at stake lies within the idle time, and the evidence counts what was recorded" {
	expect "$(recordings)" 'all(a["evidence"] and (0 < a["at_stake_ns"] <= d["wall_ns"] or a["id"] in untimed) for a in r["advice"])' \
		'd["kernel_concurrent_ns"] or all(a["at_stake_ns"] <= max(d["idle_ns"], (1 - 1 / (a["high"] or 1)) * d["wall_ns"] + 1) for a in r["advice"] if a["id"] not in ("pageable_copy", "copy_overlap", "sm_imbalance", "long_block", "underfilled_gpu", "fill_gpu", "hot_atomics", "fuse_neighbors", "bank_conflicts"))'
	expect graph_chain.naive 'any(e.startswith("604 waits of the host for 600 launches") for a in r["advice"] for e in a["evidence"])'
}

# memory_bound and precision launch one kernel again and again, clusters.totals_first reduces; the two kernels of
# clusters.naive are one in a cluster.  Those of overfused.naive have different grids: a thread of one kernel would need
# more values than it has registers for.
@test "advice: neighbors that hand arrays on are told to be one kernel, and no others" {
	neighbors='^fuse_[a-z_]*\.\(nchw_\|\)naive\(_mask\|_relu\|\)$\|^clusters.naive$\|^overfused.\(single\|three\)$'
	expect "$(recordings | grep -v "$neighbors")" '"fuse_neighbors" not in advice()'
	expect "$(recordings | grep "$neighbors" | grep -v ^fuse_horizontal)" 'advice()[0] == "fuse_neighbors"'
	[ -f tests/recordings/fuse_elementwise.naive.roofline ] || skip "record.sh makes fuse_elementwise.naive on a GPU"
	expect fuse_elementwise.naive 'advice()[0] == "fuse_neighbors"' '"memory_roof" not in advice()' \
		'any("_kernel right after it reads 256 MiB" in e for e in r["advice"][0]["evidence"])' \
		'any("these 3 need about 24 registers a thread: 100.0% of the warps" in e for e in r["advice"][0]["evidence"])'
	expect overfused.three 'any("a thread holds 512 values at once" in e for e in r["advice"][0]["evidence"])'
}

# Each of the others is a recording in which the same was done well, or not at all.
@test "pitfalls: each is named in the recording that has it and in no other" {
	expect graph_update.exec_update 'advice() == ["refused_update"]' \
		'r["advice"][0]["evidence"][0].startswith("updates of graphs that were refused: 24 of 198")'
	expect graph_modes.legacy_stream '"legacy_stream_capture" in advice()' \
		'"2 of 2 captures ended without a graph" in sum((a["evidence"] for a in r["advice"]), [])'
	expect graph_modes.global 'advice()[0] == "refused_in_capture"' \
		'r["advice"][0]["evidence"][0].startswith("calls refused while a stream was captured: 40, the first a cudaMalloc")'
	expect graph_memory.naive 'advice() == ["allocation_in_capture"]' 'r["advice"][0]["at_stake_ns"] == 0'
	pitfalls='{"refused_update": "graph_update.exec_update", "legacy_stream_capture": "graph_modes.legacy_stream",
		"refused_in_capture": "graph_modes.global", "allocation_in_capture": "graph_memory.naive"}'
	found='{"blocking_copy", "late_module_load", "leaked_graphs", "register_spills", "bank_conflicts",
		"collective_order", "collective_wait", "pending_launches", "other_profiler"}'
	expect "$(recordings | grep -v '^pitfalls')" "all($pitfalls[x] == name for x in advice() if x in $pitfalls)"
	expect "$(recordings | grep -v '^pitfalls\|^transformer\|^tune_transpose\|^bank_conflict.naive$\|^overfused.\(limited\|nine\)$')" "not $found & set(advice())"
}

@test "advice: columns in one bank are told to be padded, and kernels fused until they spill to be no larger" {
	expect bank_conflict.naive 'advice()[0] == "bank_conflicts"' \
		'"% of its wavefronts to shared memory are bank conflicts" in r["advice"][0]["evidence"][0]'
	expect "overfused.limited overfused.nine" 'advice() == ["register_spills"]'
	expect "overfused.naive overfused.seven" '"register_spills" not in advice()' '"fuse_neighbors" not in advice()'
}

@test "advice: a library's products of one shape in a row are told to be one call, and no others" {
	expect transformer.naive '"concatenate_products" in advice()' \
		'any("of cuBLAS: 3 launches of one shape in a row" in e for a in r["advice"] for e in a["evidence"])'
	expect "$(recordings | grep -v '^transformer')" '"concatenate_products" not in advice()'
}

@test "next: where warps wait, or other blocks hold more of them, a search for the launch is told, and nowhere else" {
	tunes='any(n["id"] == "tune" for n in r["next"])'
	expect tune_transpose.naive '"rooflinectl tune --param block=64..1024:x2 --objective kernel:untiled_kernel -- tune_transpose naive" in r["next"][-1]["command"]'
	expect autotune.naive '" --objective kernel:multiply -- autotune naive " in r["next"][-1]["command"]'
	expect overfused.seven "$tunes" 'any("blocks of 256 threads leave" in n["why"] for n in r["next"])'
	expect "memory_bound.naive transformer.naive nvtx_ranges graph_chain.naive device_scheduler.tail fuse_layernorm_gemm.naive" "not $tunes"
}

# Made by record.sh from tests/gpu/pitfalls.cu, one of each.
@test "pitfalls: each that tests/gpu/pitfalls.cu has is named in its recording, and no other of them" {
	recordings | grep -q '^pitfalls' || skip "record.sh tests/recordings ^pitfalls makes these recordings on a GPU"
	made=$(sed -n '/ pitfalls\[\] = {/,/^};/p' tests/gpu/pitfalls.cu | grep -o '{"[a-z_]*' | tr -d '{"')
	[ "$(wc -l <<<"$made")" -ge 7 ]
	for name in $made; do
		[ -f "tests/recordings/pitfalls.$name.roofline" ] || { missing+=" pitfalls.$name"; continue; }
		expect "pitfalls.$name" \
			"set('$(xargs <<<"$made")'.split()) & set(advice()) == ({'$name'} if '$name'[:3] != 'no_' else set())"
	done
	[ -z "${missing-}" ] || skip "record.sh makes these on a GPU:$missing"
}

@test "pitfalls: counters that another recording reads are missing, and that is said" {
	[ -f tests/recordings/pitfalls.other_profiler.roofline ] || skip "record.sh makes pitfalls.other_profiler on a GPU"
	expect pitfalls.other_profiler '"other_profiler" in advice()' \
		'any("HARDWARE_BUSY" in e for a in r["advice"] for e in a["evidence"])' \
		'"counters_problem" in r["processes"][0]["properties"]'
}

# In tests/gpu/collectives.py rank 1 comes late, or takes the collectives in another order.
@test "collectives: the rank that waits is told so, ranks in different orders are named, each only there" {
	[ -n "$(of_two_ranks)" ] || skip "record.sh tests/recordings collective makes these recordings on two GPUs"
	expect "$(of_two_ranks)" 'r["losses"] == {}' \
		'sum(x["operation_count"] > 0 for x in r["devices"]) == 2' \
		'all(x["idle_ns"] == sum(x["idle_by_cause"].values()) for x in r["devices"])'
	expect collectives.ordered '"collective_wait" in advice()' '"collective_order" not in advice()' \
		'sum(x["inside_kernels"]["collective_wait_ns"] > 0.1 * x["wall_ns"] for x in r["devices"]) == 1'
	expect pitfalls.collective_order '"collective_order" in advice()' '"collective_wait" not in advice()' \
		'all(x["inside_kernels"]["collective_wait_ns"] is None for x in r["devices"])'
}

# edited RECORDING TABLE AWK: a copy of the recording, one table of which went through awk
edited() {
	rm -rf "$BATS_TEST_TMPDIR/edited"
	unpacked "$1" "$BATS_TEST_TMPDIR/edited"
	for table in "$BATS_TEST_TMPDIR"/edited/*/"$2".csv; do
		awk -F, -v OFS=, -v names="${table%/*}/names.csv" "$3" "$table" >"$BATS_TEST_TMPDIR/table"
		cmp -s "$BATS_TEST_TMPDIR/table" "$table" && return 1
		mv "$BATS_TEST_TMPDIR/table" "$table"
	done
	"$ROOFLINECTL" report --format json "$BATS_TEST_TMPDIR/edited" >"$BATS_TEST_TMPDIR/edited.json"
}

# What a recording of these pitfalls would have: others, changed in what makes the difference.
@test "pitfalls: graphs that nobody destroys, updates that nobody looks at, spills, counters that somebody else reads" {
	id_of='function id(text) { while ((getline line < names) > 0) if (index(line, text)) return line + 0 }'
	edited graph_update.naive api "$id_of BEGIN { destroy = id(\"GraphExecDestroy\") } \$3 != destroy"
	reports=$BATS_TEST_TMPDIR expect edited '"leaked_graphs" in advice()' \
		'any("200 executable graphs were made and 0 destroyed" in e for a in r["advice"] for e in a["evidence"])'
	edited graph_update.exec_update api "$id_of BEGIN { made = id(\"GraphInstantiate\") } \$3 != made || NR < 40"
	reports=$BATS_TEST_TMPDIR expect edited 'any("as if nothing had happened" in e for a in r["advice"] for e in a["evidence"])'
	edited graph_large.naive signatures '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "local_bytes_per_thread") column = i }
		NR > 1 { $column = 128 } { print }'
	reports=$BATS_TEST_TMPDIR expect edited 'advice() == ["register_spills"]' \
		'r["advice"][0]["evidence"][0].startswith("churn_kernel: 128 bytes of local memory")'
	edited graph_chain.naive process \
		'{ print } /^pid,/ { print "counters_problem,cannot count: CUPTI_ERROR_HARDWARE_BUSY (26)" }'
	reports=$BATS_TEST_TMPDIR expect edited 'advice()[-1] == "other_profiler"' \
		'"launch_bound_graph" in advice()[:2]'
}

# Where two processes run graph_large on a GPU each, its kernel is called as one of NCCL is, and the second
# process comes for half of each kernel later.
@test "inside kernels: tails where samples tell, and waits of ranks that are alike, in every format" {
	expect work_queue.naive.sampled 'd["inside_kernels"]["collective_wait_ns"] is None' \
		'd["inside_kernels"]["tail_ns"] == sum(x["tail_ns"] for x in r["sm_activity"]) > 0.1 * d["wall_ns"]'
	expect graph_chain.naive 'd["inside_kernels"] == {"tail_ns": None, "collective_wait_ns": None}'
	edited graph_large.naive names '{ gsub(/churn_kernel/, "ncclDevKernel_AllReduce_Sum_f32_RING_LL") } { print }'
	cp -r "$BATS_TEST_TMPDIR"/edited/* "$BATS_TEST_TMPDIR/edited/other.2"
	awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		NR > 1 { i = column["start_ns"]; $i = sprintf("%.0f", ($i + $column["end_ns"]) / 2) } { print }' \
		"$BATS_TEST_TMPDIR"/edited/vm.*/kernels.csv >"$BATS_TEST_TMPDIR/edited/other.2/kernels.csv"
	sed -i 's/GPU-[0-9a-f]*/GPU-other/' "$BATS_TEST_TMPDIR/edited/other.2/devices.csv"
	sed -i 's/^pid,.*/pid,2/' "$BATS_TEST_TMPDIR/edited/other.2/process.csv"
	"$ROOFLINECTL" report --format json "$BATS_TEST_TMPDIR/edited" >"$BATS_TEST_TMPDIR/edited.json"
	reports=$BATS_TEST_TMPDIR expect edited 'len(r["devices"]) == 2' '"collective_wait" in advice()' \
		'[x["inside_kernels"]["tail_ns"] for x in r["devices"]] == [None, None]' \
		'[round(2 * x["inside_kernels"]["collective_wait_ns"] / r["devices"][1]["kernel_ns"], 2) for x in r["devices"]] == [0, 1]'
	"$ROOFLINECTL" report --section devices "$BATS_TEST_TMPDIR/edited" | grep -A 1 '^  inside kernels' |
		grep -qE '^    collective wait .* [0-9.]+%( |$)'
	"$ROOFLINECTL" report --format csv --section devices "$BATS_TEST_TMPDIR/edited" | python3 -c '
import csv, sys
assert [row["tail_ns"] + row["collective_wait_ns"] == "0" for row in csv.DictReader(sys.stdin)] == [True, False]'
}

# The host checks all results after each 20 launches.  Of the whole run that is more time than kernels take,
# so the regime may be the host's; never latency, for the roof explains the kernel's time.
@test "memory_bound: the triad stands at the DRAM's roof, at an intensity of 1/6" {
	expect memory_bound.naive 'point("triad4_kernel")["binding"] == "dram"' \
		'0.85 <= point("triad4_kernel")["binding_share"] <= 1.02' \
		'point("triad4_kernel")["regime"] in ("memory", "host")' \
		'point("fill_kernel")["regime"] == "memory"' \
		'abs(6 * point("triad4_kernel")["intensity"]["dram"] - 1) < 0.02' \
		'point("triad4_kernel")["quantities"]["fp32"]["per_launch"] == 2 << 26'
	expect memory_bound.scalar 'point("triad_kernel")["binding"] == "dram"' \
		'abs(6 * point("triad_kernel")["intensity"]["dram"] - 1) < 0.02' \
		'point("triad_kernel")["binding_share"] < 0.85'
}

@test "compute_bound: each format stands at the roof of its own" {
	expect compute_bound.naive 'r["roofline"]["application"]["regime"] == "compute"' \
		'point("fma_kernel")["regime"] == "compute"' 'point("fma_kernel")["binding"] == "fp32"' \
		'0.9 <= point("fma_kernel")["binding_share"] <= 1.02' \
		'point("fma_kernel")["quantities"]["fp32"]["per_launch"] == 32768 << 20'
	expect compute_bound.fp64 "point('fma_kernel')['binding'] == 'fp64'" \
		'0.8 <= point("fma_kernel")["binding_share"] <= 1.02'
	# recorded before machine code was: that it is arithmetic is not known
	expect compute_bound.fp16 'point("fma_kernel")["quantities"]["fp16"]["state"] == "not_trusted"' \
		'point("fma_kernel")["flops"] == 0' \
		'0.8 <= point("fma_kernel")["quantities"]["fp16"]["at_most"] / point("fma_kernel")["time_ns"] * 1e9 / r["roofline"]["ceilings"]["roofs"]["fp16"] <= 1.02'
	for format in tf32 bf16 fp8; do # 2 * 8192^3 operations, and those of tiles that reach over the edge
		expect compute_bound.gemm_$format "r['roofline']['kernels'][0]['binding'] == 'tensor_$format'" \
			'r["roofline"]["kernels"][0]["regime"] == "compute"' \
			'0.8 <= r["roofline"]["kernels"][0]["binding_share"] <= 1.25' \
			"0 <= r['roofline']['kernels'][0]['quantities']['tensor_$format']['per_launch'] / 2**40 - 1 < 0.05"
	done
}

@test "graph_chain: launches bound it, with counters as without" {
	expect graph_chain.naive.counted 'r["roofline"]["application"]["regime"] == "launch"' \
		'all(k["regime"] == "launch" for k in r["roofline"]["kernels"])' \
		'all(k["is_counted"] and k["binding_share"] < 0.25 for k in r["roofline"]["kernels"])'
}

@test "atomic_batch: the batch that the naive variant is told is within a factor of two of the best one measured" {
	best=$(awk '$1 == "naive" || $1 ~ /^batch_/ { sub("batch_", "", $1); print $2, $1 == "naive" ? 1 : $1 }' \
		docs/results/atomic_batch.txt | sort -g | awk 'NR == 1 { print $2 }')
	[ "$best" -gt 1 ]
	expect atomic_batch.naive 'len(r["atomics"]["kernels"]) == 1' 'r["atomics"]["kernels"][0]["is_bottleneck"]' \
		"$best / 2 <= r['atomics']['kernels'][0]['batch'] <= $best * 2" \
		'point("batch_kernel<1>")["regime"] == "atomic"'
}

@test "atomic_hierarchy, histogram: one hot address is a bottleneck, atomics spread over the slices are none" {
	for name in atomic_hierarchy.naive histogram.naive histogram.naive_one; do
		expect $name 'r["atomics"]["kernels"][0]["is_bottleneck"]' 'r["atomics"]["kernels"][0]["batch"] > 1' \
			'point("naive_kernel")["regime"] == "atomic"'
	done
	for name in atomic_hierarchy.two_level histogram.shared histogram.shared_one; do
		expect $name 'not r["atomics"]["kernels"][0]["is_bottleneck"]' 'r["atomics"]["kernels"][0]["batch"] == 1'
	done
}

@test "precision: bytes of DRAM halve, and halve again, and the intensity follows" {
	naive=$(value precision.naive '[k["quantities"]["dram"]["per_launch"] for k in r["roofline"]["kernels"] if "axpy" in k["name"]][0]')
	expect precision.naive 'abs(point("axpy_kernel")["quantities"]["dram"]["per_launch"] / (12 << 26) - 1) < 0.05' \
		'point("axpy_kernel")["binding"] == "dram"'
	expect precision.fp16 "abs(2 * point('axpy_kernel')['quantities']['dram']['per_launch'] / $naive - 1) < 0.05"
	expect precision.fp8 "abs(4 * point('axpy_kernel')['quantities']['dram']['per_launch'] / $naive - 1) < 0.05"
	for variant in naive fp16 fp8; do
		expect precision.$variant 'point("axpy_kernel")["quantities"]["fp32"]["per_launch"] == 2 << 26'
	done
}

# 1056 blocks of 256 threads; each thread runs its instruction 256 times.  tests/gpu/known_counts.cu says why.
@test "known_counts: operations and atomics are those worked out by hand, to the last one" {
	local each=$((1056 * 256 * 256)) warps=$((1056 * 256 / 32)) threads=$((1056 * 256))
	for sort in fp64_add fp64_mul fp64_fma fp32_add fp32_mul fp32_fma fp16_add fp16_mul; do
		expect known_counts "counter('${sort}_kernel', '$sort') == $each"
		for other in fp64_fma fp32_fma fp16_fma; do
			[ $other = $sort ] || expect known_counts "counter('${sort}_kernel', '$other') == 0"
		done
	done
	for precision in fp64 fp32; do
		expect known_counts \
			"point('${precision}_add_kernel')['quantities']['$precision']['per_launch'] == $each" \
			"point('${precision}_mul_kernel')['quantities']['$precision']['per_launch'] == $each" \
			"point('${precision}_fma_kernel')['quantities']['$precision']['per_launch'] == 2 * $each"
	done
	expect known_counts "counter('red_one_address_kernel', 'global_red_instructions') == $warps" \
		"counter('red_one_address_kernel', 'global_atom_instructions') == 0" \
		"counter('atom_one_address_kernel', 'global_atom_instructions') == $warps" \
		"counter('atom_one_address_kernel', 'atomic_unit_cycles') == $threads" \
		"counter('red_one_address_kernel', 'atomic_unit_cycles') == $threads" \
		"counter('red_kernel', 'atomic_unit_cycles') == $threads / 8" \
		"counter('shared_atom_kernel', 'shared_atom_instructions') == 256 * $warps" \
		"counter('shared_kernel', 'shared_bytes') == 2 * 4 * $each"
}

# What the pages of these workloads say that an iteration does.  Accesses are the bytes that threads ask L1 for: they do
# not depend on caches.  registers has 32 values a thread; a convolution of 3 x 3 and 64 channels has 9 x 64 FMAs a value.
@test "fuse_reduction, overfused, jit_ptx, fuse_conv_bn_relu: FLOPs, bytes and accesses are those worked out by hand, within 2%" {
	local n=$((1 << 26)) values=$((802816 * 64))
	by_hand() { # RECORDING KERNEL QUANTITY COUNT
		expect "$1" "abs(point('$2')['quantities']['$3']['per_launch'] / $4 - 1) <= 0.02"
	}
	by_hand fuse_reduction.registers registers_kernel fp32 "($n / 32 * (13 * 32 + 153))"
	for kernel in "fuse_reduction.registers registers_kernel" "overfused.naive steps_kernel<0, 5>" \
		"overfused.naive steps_kernel<5, 4>" "jit_ptx.naive exponential_kernel"; do
		by_hand "${kernel%% *}" "${kernel#* }" dram "(8 * $n)"
		by_hand "${kernel%% *}" "${kernel#* }" l1 "(8 * $n)"
	done
	by_hand overfused.naive "steps_kernel<0, 5>" fp32 "(5 * $n)"
	by_hand overfused.naive "steps_kernel<5, 4>" fp32 "(4 * $n)"
	by_hand jit_ptx.naive exponential_kernel fp32 "$n"
	by_hand fuse_conv_bn_relu.wgmma "hopper_kernel<3>" tensor_fp16 "(2 * 9 * 64 * $values)"
	by_hand fuse_conv_bn_relu.wgmma "hopper_kernel<3>" fp32 "(2 * $values)"
	by_hand fuse_conv_bn_relu.wgmma "hopper_kernel<3>" dram "(2 * $values + 2 * $values)"
}

# One launch runs cold and may write back what others left; more than one show that it is no accident.
@test "every recording: nothing that was counted more than once lies above its roof" {
	expect "$(recordings)" 'not [p for p in points() if p["is_wrong"] and p["least_sample_count"] > 1]' \
		'not r["roofline"]["application"]["is_wrong"]' \
		'not r["roofline"]["ceilings"]["is_datasheet"]'
	[ "$(grep -l '"is_counted": true' "$reports"/*.json | wc -l)" -ge 20 ]
}

# Samples of the whole GPU.  device_* run 8 steps, twice; dp_* as many as their sources say, twice.
@test "device_graph: the device launches what the host does not, by mode, and the bursts are its nodes" {
	expect device_graph.naive 'sum(kernels().values()) == 48' 'r["device_graphs"]["launches"] == []' \
		'r["device_work"]["burst_count"] == 0'
	# 7 of 8 steps are launched by the graph itself, with two kernels of many blocks each
	expect device_graph.tail 'sum(kernels().values()) == 6' 'launched("tail") == 14' \
		'r["device_work"]["burst_count"] == 28'
	expect device_graph.sibling 'sum(kernels().values()) == 6' 'launched("sibling") == 14' \
		'r["device_work"]["burst_count"] == 28'
	expect device_graph.fire_and_forget 'kernels() == {"launch_parts_kernel": 2}' \
		'r["device_work"]["burst_count"] == 16'
	# one kernel launches all 8 steps of two kernels as tails
	expect device_graph.tail_queue 'kernels() == {"launch_tails_kernel": 2}' \
		'r["device_work"]["burst_count"] == 32'
}

@test "device_scheduler, device_choice: a burst for each step that the device launches, none where the host does" {
	for name in device_scheduler.naive device_choice.naive device_choice.both; do
		expect $name 'r["device_work"]["burst_count"] == 0' 'r["device_graphs"]["launches"] == []'
	done
	expect device_scheduler.naive 'kernels() == {"decode_kernel": 16, "sample_kernel": 16}'
	for variant in fire_and_forget tail one_graph; do
		expect device_scheduler.$variant 'r["device_work"]["burst_count"] == 16' \
			'kernels()["scheduler_kernel"] == 2'
	done
	for variant in fire_and_forget tail; do
		expect device_choice.$variant 'r["device_work"]["burst_count"] == 16' \
			'kernels() == {"choose_kernel": 16, "classify_kernel": 16}'
	done
	# each step is three kernels, and the first of each run is the host's own
	expect device_choice.relaunch 'kernels() == {"choose_kernel": 2, "classify_kernel": 2}' \
		'r["device_work"]["burst_count"] == 30'
}

@test "dynamic parallelism: every child of many blocks is a burst of its parent, with its blocks" {
	expect dynamic_parallelism.device.sampled 'kernels() == {"launching_parent_kernel": 40}' \
		'r["device_work"]["burst_count"] == 80 == len(r["bursts"])' \
		'[x["launch_count"] for x in r["device_work"]["launchers"]] == [40]'
	expect dp_irregular.device 'kernels() == {"top_kernel": 8}' 'r["device_work"]["burst_count"] == 8' \
		'all(b["is_inside"] for b in r["bursts"])'
	expect dp_tiny.device 'kernels() == {"launching_kernel": 16}' 'r["device_work"]["burst_count"] == 16'
	for name in dp_irregular.naive dp_irregular.queue dp_tiny.naive dp_tiny.one_kernel dp_tokens.naive \
		dp_tokens.compacted persistent.naive persistent.persistent work_queue.naive.sampled; do
		expect $name 'r["device_work"]["burst_count"] == 0' 'r["device_work"]["launchers"] == []'
	done
}

# One warm-up and one run each, so twice what one run does.
@test "graphs: the same kernels however they are launched, side by side where branches are free" {
	for variant in naive streams graph_series graph; do
		expect graph_forkjoin.$variant 'kernels() == {"branch_kernel": 900, "join_kernel": 100}'
	done
	for variant in naive graph_series; do expect graph_forkjoin.$variant 'd["kernel_concurrent_ns"] == 0'; done
	for variant in streams graph; do expect graph_forkjoin.$variant 'd["kernel_total_ns"] > 1.8 * d["kernel_ns"]'; done
	expect graph_manual.naive 'd["kernel_concurrent_ns"] == 0'
	for variant in forked manual; do expect graph_manual.$variant 'd["kernel_total_ns"] > 1.3 * d["kernel_ns"]'; done
	for variant in naive stream graph graph_wait; do
		expect graph_pipeline.$variant 'kernels() == {"emit_kernel": 200, "absorb_kernel": 200}'
	done
	for variant in naive preallocated stream_ordered malloc; do
		expect graph_memory.$variant 'sorted(kernels().values()) == [200, 200, 200]'
	done
	for variant in naive global guarded thread_local relaxed legacy_stream; do
		expect graph_modes.$variant 'sorted(kernels().values()) == [800, 800, 800]'
	done
	for variant in naive stream exec_update set_params; do
		expect graph_update.$variant 'sum(kernels().values()) == 814'
	done
}

@test "conditions: a body runs as often as the data demand, whoever decides; predicated it always starts" {
	for variant in naive conditional conditional_batch; do
		expect conditional_if.$variant 'kernels()["scale_down_kernel"] == 46'
	done
	expect conditional_if.predicated 'kernels()["scale_down_kernel"] == 200'
	for variant in naive conditional; do
		expect conditional_ifelse.$variant 'kernels()["work_on_list_kernel"] == 60' 'kernels()["work_on_all_kernel"] == 20'
		expect conditional_while.$variant 'kernels()["round_kernel"] == 330'
	done
	expect conditional_while.predicated 'kernels()["round_kernel"] == 640'
}

@test "overlap: copies behind kernels only where streams and pinned memory allow it, kernels side by side" {
	for variant in naive pinned streamed_pageable; do expect copy_overlap.$variant 'd["copy_overlapped_ns"] == 0'; done
	expect copy_overlap.streamed 'd["copy_overlapped_ns"] > 0.6 * d["copy_ns"]'
	expect copy_overlap.naive 'advice() == ["pageable_copy", "copy_overlap"]'
	expect copy_overlap.streamed_pageable '"pageable_copy" in advice()'
	expect copy_overlap.pinned 'advice()[0] == "copy_overlap"' 'not any("side by side" in e for e in r["advice"][0]["evidence"])'
	expect copy_overlap.streamed 'advice() == []'
	expect concurrent_kernels.naive 'd["kernel_concurrent_ns"] == 0' 'r["kernels"][0]["waves"] < 0.1'
	for variant in streams graph; do
		expect concurrent_kernels.$variant 'd["kernel_total_ns"] > 7 * d["kernel_ns"]'
	done
	for variant in naive graph; do expect dependent_launch.$variant 'd["kernel_concurrent_ns"] == 0'; done
	for variant in dependent dependent_graph; do
		expect dependent_launch.$variant 'd["kernel_total_ns"] > 2 * d["kernel_ns"]'
	done
}

@test "graph_large: the control is busy and is advised nothing" {
	for variant in naive graph; do expect graph_large.$variant 'advice() == []' 'kernels()["churn_kernel"] == 48'; done
}

@test "persistent: 400 kernels or two" {
	expect persistent.naive 'kernels() == {"step_kernel": 400}'
	expect persistent.persistent 'kernels() == {"persistent_kernel": 2}' \
		'sampled_sms()["sms"] > 0.98' 'sampled_sms()["least_sm"] > 0.98'
}

@test "every recording with samples: differences add up to the sampled time, shares are at most the whole" {
	expect "$(recordings)" 'all(s["both_ns"] + s["neither_ns"] + sum(s["differences_ns"].values()) == s["sampled_ns"] for s in r["sampling"])' \
		'all(0 <= x["least_sm"] <= x["sms"] + 1e-6 and x["sms"] <= x["busiest_sm"] + 1e-6 <= 1 + 2e-6 for x in r["sm_activity"])' \
		'all(0 <= x["tail_ns"] <= x["span_ns"] for x in r["sm_activity"])' \
		'len(r["bursts"]) == r["device_work"]["burst_count"] == sum(x["count"] for x in r["device_work"]["launchers"])'
	[ "$(grep -l '"sampling": \[$' "$reports"/*.json | wc -l)" -ge 28 ]
}

@test "nothing untraced where the host launches everything, most of it where the device does" {
	for name in device_graph.naive device_scheduler.naive dp_irregular.naive persistent.persistent work_queue.naive.sampled; do
		expect $name 'r["sampling"][0]["differences_ns"]["untraced"] == 0'
	done
	for name in device_graph.tail device_scheduler.tail dp_irregular.device; do
		expect $name 'r["sampling"][0]["differences_ns"]["untraced"] > 0.6 * r["sampling"][0]["active_ns"]'
	done
}

@test "work_queue: samples and counters agree on least, mean and busiest SM within 5%, and the mild one is balanced" {
	for name in work_queue work_queue_mild; do
		for share in min mean; do
			counted=$(value $name.naive.counted "[c['mean'] for c in r['counters'] if c['role'] == 'sm_active_cycles_$share'][0] / [c['mean'] for c in r['counters'] if c['role'] == 'sm_active_cycles_max'][0]")
			key=$([ $share = min ] && echo least_sm || echo sms)
			expect $name.naive.sampled "abs(sampled_sms()['$key'] / sampled_sms()['busiest_sm'] / $counted - 1) < 0.05"
		done
	done
	expect work_queue.naive.sampled 'sampled_sms()["least_sm"] < 0.3 * sampled_sms()["busiest_sm"]' \
		'sampled_sms()["tail_ns"] > 0.5 * sampled_sms()["span_ns"]'
	expect work_queue_mild.naive.sampled 'sampled_sms()["least_sm"] > 0.9 * sampled_sms()["busiest_sm"]' \
		'sampled_sms()["tail_ns"] < 0.1 * sampled_sms()["span_ns"]'
}

@test "advice: nothing of graphs or waits where the device works beneath the trace, nor for the control" {
	for name in $(recordings | grep -E '^device_(graph|scheduler|choice)[.]|^dp_' | grep -v compacted); do
		expect "$name" 'not {"launch_bound_graph", "sync_every_kernel"} & set(advice())'
	done
}

@test "what samples leave invisible is said, and without them that they would help" {
	expect device_graph.tail 'any(x.startswith("names of the kernels that the device launches") for x in r["not_visible"])' \
		'any("tensor, l2, nvlink" in x for x in r["not_visible"])' \
		'not any("look idle" in x for x in r["not_visible"])'
	expect dynamic_parallelism.device.sampled 'any("were not sampled" in x for x in r["not_visible"])'
	expect dynamic_parallelism.device 'any("record with --sample" in x for x in r["not_visible"])'
}

# make golden writes these anew; read the diff before it is committed.
@test "the text reports are those of tests/golden, letter for letter" {
	[ "$(ls tests/golden/*.txt | wc -l)" -ge 3 ]
	for golden in tests/golden/*.txt; do
		name=$(basename "$golden" .txt)
		NO_COLOR=1 XDG_DATA_HOME=$BATS_TEST_TMPDIR "$ROOFLINECTL" report "tests/recordings/$name" | diff -u "$golden" -
	done
}

@test "of code that is compiled again and again loads and launches are told by kernel" {
	run "$ROOFLINECTL" report "$root/tests/recordings/jit_gemm.no_cache" --section jit --format json
	[ "$status" -eq 0 ]
	python3 - "$output" <<-'END'
		import json, sys
		jit = json.loads(sys.argv[1])["jit"]
		assert jit["again_count"] == jit["known_count"] - 3, jit
		assert [kernel["load_count"] for kernel in jit["kernels"]] == [40, 40, 40], jit
		assert sum(kernel["launch_count"] for kernel in jit["kernels"]) == 120, jit
	END
}

# A process for each GPU, or one for both: a rank is a GPU of a process.  mpirun asks for the GPUs, too, and is none.
@test "workloads on several GPUs: nothing is lost, and all GPUs that were used are ranks of one job" {
	[ -n "$(of_several_gpus)" ] || skip "record.sh tests/recordings '^(nvshmem_|two_stage|p2p_|nccl_|scaling)' makes these recordings on two GPUs"
	local gpus='(4 if name.endswith((".4", ".four")) else 2)'
	expect "$(of_several_gpus)" 'r["losses"] == {}' "len(r['job']['ranks']) == $gpus" \
		"sum(device['busy_ns'] > 0 for device in r['devices']) == $gpus" \
		"len(r['processes']) == ($gpus if name.startswith(('nvshmem_', 'ddp.')) else $gpus + 1 if name.startswith('mpi_') else 1)" \
		'all(not p["is_cut_off"] for p in r["processes"])'
}

@test "the table of predictions counts rows with a number alone, those without advice would be right by construction" {
	sed 's/^	*//' >"$BATS_TEST_TMPDIR/table.txt" <<-'END'
		graph_chain naive graph --graph 2.00x 1.50 .. 3.00 2.10x 2.50x -20.0% yes
		graph_chain naive no_sync --fewer-waits 1.30x 1.25 .. 1.50 1.10x 1.00x +30.0% no
		memory_bound naive graph launch_bound_graph - no advice 1.00x 1.00x -0.3% yes
		memory_bound naive graph launch_bound_graph - no advice 1.00x 1.00x - yes
	END
	run python3 "$root/tests/bench/predictions.py" --totals "$BATS_TEST_TMPDIR/table.txt"
	[ "$output" = "table.txt: 2 rows with a number: median error 25.0%, nine of ten within 30.0%, 1 within 25%,
1 inside the interval, whose median width is 1.60x" ]
	grep -q '^[0-9]* rows with a number: median error' "$root/docs/results/predictions.txt"
}

@test "advice: what follows a product of a library is told as an argument of its call, not as a kernel to write" {
	[ -f tests/recordings/fuse_layernorm_gemm.naive.roofline ] || skip "record.sh makes fuse_layernorm_gemm.naive on a GPU"
	expect fuse_layernorm_gemm.naive 'advice()[0] == "fuse_neighbors"' \
		'"CUBLASLT_MATMUL_DESC_EPILOGUE" in r["advice"][0]["pattern"]' '"f(x[i])" not in r["advice"][0]["pattern"]'
	expect fuse_conv_bn_relu.naive '"f(x[i])" in r["advice"][0]["pattern"]'
}

# nor is anything predicted of them that they do not allow
@test "the replay explains 95% of the recordings of public programs" {
	mkdir "$BATS_TEST_TMPDIR/all"
	for archive in "$root"/tests/corpus/{,unseen/}recordings.*.tar; do
		tar -xf "$archive" -C "$BATS_TEST_TMPDIR/all"
	done
	count=0 unexplained=0
	for path in $(printf '%s\n' "$BATS_TEST_TMPDIR"/all/*.roofline | each_or_third); do
		count=$((count + 1))
		"$ROOFLINECTL" advise "$path" >"$BATS_TEST_TMPDIR/said"
		! grep -q '^  - predictions: ' "$BATS_TEST_TMPDIR/said" || unexplained=$((unexplained + 1))
		[[ "$(tr -s ' \n' ' ' <"$BATS_TEST_TMPDIR/said")" != *"SMs and copies of the recording allow, so it is wrong"* ]]
	done
	((count >= 80 && 20 * unexplained <= count))
	grep -q '^explained by the replay: ' "$root/docs/results/corpus.txt"
	grep -q '^explained by the replay: ' "$root/docs/results/unseen-since.txt"
}
