#!/usr/bin/env bats
# record --args: what kernels are launched with, and made nodes of graphs with.
load common

setup() {
	setup_driver
	export ROOFLINE_ARGS=1
}

# given: each launch and node with its addresses, in order: parameter+offset=address; - for one without addresses,
# ? for one that is not known, ! before a set of which rows are missing
given() {
	python3 - "$recording" <<-'END'
		import csv, glob, sys
		folder = glob.glob(sys.argv[1] + "/*/")[0]
		def rows(table):
		    return list(csv.DictReader(open(folder + table + ".csv")))
		sets, counts = {}, {}
		for r in rows("arguments"):
		    sets.setdefault(r["id"], []).append(f'{r["parameter"]}+{r["offset"]}={int(r["address"]):x}')
		    counts[r["id"]] = int(r["address_count"])
		for r in rows("launch_arguments"):
		    what = "node " + r["node"] if r["node"] != "0" else "launch"
		    addresses = sets.get(r["arguments"], [])
		    if len(addresses) != counts.get(r["arguments"], 0):
		        what = "! " + what
		    print(what, {"0": "-", "4294967295": "?"}.get(r["arguments"]) or " ".join(addresses))
	END
}

@test "addresses in parameters and in structs, whichever way a kernel is launched" {
	for way in plain ex cooperative packed; do
		rm -rf recording
		record driver cuda "given:2,$way,7f0000001000/i5/2a/1+7f0000002000"
		warned 0
		readable
		equal args 1 "$(property args)"
		diff <(given) - <<<'launch 0+0=7f0000001000 3+8=7f0000002000'
	done
}

@test "numbers that no address can be are none" {
	record driver cuda given:2,plain,3ff0000000000000/10000/ffffffffffffffff/i7f000000
	diff <(given) - <<<'launch -'
}

@test "a kernel of the runtime, whose handle is of another kind, and one without parameters" {
	record driver cuda given:3,plain,7f0000001000 given:5,plain,
	diff <(given) - <<-'END'
		launch 0+0=7f0000001000
		launch -
	END
}

@test "each launch belongs to its call" {
	record driver cuda given:2,plain,7f0000001000 given:2,plain,7f0000002000
	diff <(tail -n +2 "$(tables launch_arguments)" | cut -d, -f1) \
		<(tail -n +2 "$(tables kernels)" | awk -F, '{ print $7 }')
}

@test "equal sets of addresses are written once, and other bytes tell whether launches are equal" {
	record driver cuda given:2,plain,7f0000001000/i1 given:4,plain,7f0000001000/i1 given:2,plain,7f0000001000/i2 \
		given:2,plain,7f0000001000/i1
	equal sets 1 "$(rows arguments)"
	equal launches 4 "$(rows launch_arguments)"
	diff <(tail -n +2 "$(tables launch_arguments)" | cut -d, -f4 | awk '!n[$1] { n[$1] = ++m } { print n[$1] }' | xargs) - <<<'1 1 2 1'
}

@test "nodes of graphs: added, captured, and changed later" {
	record driver cuda given:3,node,7f0000001000 given:2,any_node,7f0000002000 given:2,captured,7f0000003000 \
		given:2,changed_node,7f0000004000
	warned 0
	diff <(given) - <<-'END'
		node 1 0+0=7f0000001000
		node 2 0+0=7f0000002000
		node 3 0+0=7f0000003000
		node 3 ?
	END
}

@test "a node that is cloned within the call that adds another is given nothing" {
	record driver cuda given:3,node_and_clone,7f0000001000
	warned 0
	diff <(given) - <<<'node 1 0+0=7f0000001000'
	equal nodes 2 "$(rows graph_nodes)"
}

@test "a packed buffer that ends before the last parameter is not read beyond its end" {
	record driver cuda given:2,packed_short,7f0000001000/7f0000002000
	equal launches 0 "$(rows launch_arguments)"
}

@test "a handle that comes again after its module was unloaded has other parameters" {
	record driver cuda given:2,plain,7f0000001000/7f0000002000/7f0000003000 unload_module:1 given:2,plain,7f0000004000
	diff <(given) - <<-'END'
		launch 0+0=7f0000001000 1+0=7f0000002000 2+0=7f0000003000
		launch 0+0=7f0000004000
	END
}

@test "200,000 different sets: each launch has its own, or its loss is counted" {
	ROOFLINE_FLUSH_MS=10 record driver cuda given_often:200000,2
	given | sort -u | grep -v '^!' >whole
	[ "$(wc -l <whole)" -le 200000 ]
	[ $(($(wc -l <whole) + $(loss unwritten_rows))) -ge 200000 ]
}

@test "a driver before CUDA 12.4: one line, and the trace is recorded" {
	rm driver/libcuda.so.1
	ln -s "$BUILD/tests/collector/libmock_nvml.so" driver/libcuda.so.1
	record cuda given:2,plain,7f0000001000
	warned 1 'older than|12.4'
	equal kernels 1 "$(rows kernels)"
	grep -q 12.4 <<<"$(property args_problem)"
}

@test "without --args nothing follows a launch" {
	ROOFLINE_ARGS=0 record driver cuda launch_callbacks:no given:2,plain,7f0000001000
	equal launches 0 "$(rows launch_arguments)"
	equal args '' "$(property args)"
}

@test "samples, which follow launches too at first, leave the callbacks to it" {
	ROOFLINE_SAMPLE=1ms ROOFLINE_SAMPLE_WINDOWS=continuous record driver cuda context:1 given:2,plain,7f0000001000 \
		launch:count=20 given:2,plain,7f0000002000 launch_callbacks:yes
	diff <(given | grep -v -- -) - <<-'END'
		launch 0+0=7f0000001000
		launch 0+0=7f0000002000
	END
}

@test "counters beside it: both are there" {
	ROOFLINE_COUNTERS=roofline ROOFLINE_COUNTERS_SHARE=100 record driver cuda given:2,plain,7f0000001000
	equal counted 1 "$(rows counted)"
	diff <(given) - <<<'launch 0+0=7f0000001000'
}

@test "record --args asks for it" {
	unset ROOFLINE_ARGS
	CUDA_INJECTION64_PATH= "$BUILD/bin/rooflinectl" record --args -o "$recording" -- bash -c 'echo "$ROOFLINE_ARGS"' >out
	grep -qx 1 out
}
