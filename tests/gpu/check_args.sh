#!/usr/bin/env bash
# record --args: which addresses kernels are launched with, whichever way they are launched, and what that costs a launch.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# with_args COMMAND...: recorded into $recording
with_args() {
	rm -rf "$recording"
	"$BUILD/bin/rooflinectl" record --args -o "$recording" -- "$@"
}

# found: each kernel that ran, in its order, with its addresses, as the program prints what it expects
cat >"$scratch/found.py" <<'PYTHON'
import csv, glob, sys

folder = glob.glob(sys.argv[1] + "/*/")[0]
def rows(table):
    return list(csv.DictReader(open(folder + table + ".csv")))

UNKNOWN = str(2**32 - 1)
names = {r["id"]: r["text"] for r in rows("names")}
kernel_of = {r["id"]: names[r["name"]] for r in rows("signatures")}
sets, counts = {}, {}
for r in rows("arguments"):
    sets.setdefault(r["id"], []).append((int(r["parameter"]), int(r["offset"]), int(r["address"])))
    counts[r["id"]] = int(r["address_count"])
by_launch, by_node = {}, {}
for r in rows("launch_arguments"):
    if r["node"] == "0":
        by_launch[r["correlation"]] = r["arguments"]
    elif by_node.get(r["node"]) != UNKNOWN:
        by_node[r["node"]] = r["arguments"]
original = {r["node"]: r["original"] for r in rows("graph_nodes") if r["original"] != "0"}

def words(kernel):
    node = kernel["graph_node"]
    while node in original and node not in by_node:
        node = original[node]
    given = by_node.get(node) if node != "0" else by_launch.get(kernel["correlation"])
    if given is None or given == UNKNOWN:
        return "?"
    if given == "0":
        return "-"
    if len(sets.get(given, [])) != counts.get(given):
        return "?"
    return " ".join(f"{p}+{o}={a:x}" for p, o, a in sorted(sets[given]))

for kernel in sorted(rows("kernels"), key=lambda k: int(k["start_ns"])):
    name = kernel_of[kernel["signature"]]
    short = next((n for n in ("in_struct", "no_parameters", "numbered", "untyped", "typed", "plain") if n in name), name)
    print("ran", short, words(kernel))
PYTHON
found() {
	python3 "$scratch/found.py" "$recording"
}

with_args "$programs/arguments" >"$scratch/out" 2>"$scratch/err"
check "the program ends well" equal 0 $?
sed 's/^/# /' "$scratch/err"
check "each kernel was given what the program gave it" diff <(grep '^ran ' "$scratch/out") <(found)
check "sets of addresses that come again are written once" equal \
	"$(grep -o ' [0-9].*' "$scratch/out" | sort -u | wc -l)" \
	"$(tail -q -n +2 "$recording"/*/arguments.csv | cut -d, -f1 | sort -u | wc -l)"
for table in arguments launch_arguments; do
	sed "s/^/# $table: /" "$recording"/*/$table.csv | head -12
done
lost | sed 's/^/# lost: /'

"$BUILD/bin/rooflinectl" report --format json "$recording" >"$scratch/report.json"
cat >"$scratch/accesses.py" <<'PYTHON'
import json, sys

memory = json.load(open(sys.argv[1]))["kernel_memory"]
for a in memory["accesses"]:
    name = a["kernel"].split("(")[0].split("::")[-1].split("<")[0]
    print(name.split()[-1], a["access"], a["memory"], a["bytes"], (a["allocated"] or {}).get("call"))
print("not known", memory["launch_count"] - memory["known_launch_count"])
PYTHON
python3 "$scratch/accesses.py" "$scratch/report.json" | LC_ALL=C sort >"$scratch/accesses"
sed 's/^/# given: /' "$scratch/accesses"
check "the report tells what is read and written, and where it was allocated" diff - <(grep -v ' plain\|^plain' "$scratch/accesses") <<-END
	in_struct unknown device 1048576 cudaMalloc
	in_struct unknown device 2097152 cudaMalloc
	not known 1
	numbered read_write device 2097152 cudaMalloc
	typed read device 2097152 cudaMalloc
	typed read_write device 1048576 cudaMalloc
	untyped unknown device 2097152 cudaMalloc
END
# 0x100000001, which looks like an address: recorded, as the program's own list of addresses has it, and resolved to nothing.
check "a number that lies in no allocation is shown nowhere" equal 0 \
	"$("$BUILD/bin/rooflinectl" report "$recording" | cat - "$scratch/report.json" | grep -cE '100000001|4294967297')"
for memory in 'device 1048576 cudaMalloc' 'device 2097152 cudaMalloc' 'managed 4096 cudaMallocManaged' \
	'pinned 4096 cudaHostAlloc'; do
	check "it is known that plain writes $memory" grep -qx "plain read_write $memory" "$scratch/accesses"
done

# What the dependences decide.  Not checked: the workload is for reading.
for variant in concurrent_kernels/naive graph_forkjoin/naive fuse_elementwise/naive; do
	workload=$BUILD/lib/rooflinectl/workloads/${variant%/*}
	[ -x "$workload" ] || continue
	with_args "$workload" "${variant#*/}" --repeats 1 >/dev/null 2>&1
	"$BUILD/bin/rooflinectl" whatif --streams "$recording" 2>&1 | sed "s|^|# $variant: |"
	"$BUILD/bin/rooflinectl" report --section kernel_memory "$recording" 2>&1 | sed "s|^|# $variant: |"
done

for mode in ROOFLINE_COUNTERS=roofline ROOFLINE_SAMPLE=10us; do
	export "${mode?}"
	with_args "$programs/arguments" >"$scratch/out" 2>"$scratch/err"
	check "with $mode the program ends well" equal 0 $?
	unset "${mode%%=*}"
	# Counting leaves kernels without a record; those that have one have their own arguments.
	found | grep -v WaitNs >"$scratch/found"
	check "and kernels have what they were given" equal "" "$(grep -vxFf "$scratch/out" "$scratch/found")"
	check "and there are kernels with a record" [ "$(wc -l <"$scratch/found")" -ge 5 ]
done

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ns_per_launch THREADS OPTION...: of kernels with two addresses each, recorded with these options
ns_per_launch() {
	local threads=$1
	shift
	rm -rf "$recording"
	"$BUILD/bin/rooflinectl" record -o "$recording" "$@" -- "$programs/arguments" --threads "$threads" \
		--launches $((threads == 1 ? 200000 : 20000)) 2>/dev/null | awk '$1 == "ns_per_launch" { print $2 }'
}

# What it costs, in turn: bare, traced, with --args; medians of 7 rounds.
for threads in 1 16; do
	rm -f "$scratch"/bare "$scratch"/trace "$scratch"/args
	for _ in 1 2 3 4 5 6 7; do
		"$programs/arguments" --threads $threads --launches $((threads == 1 ? 200000 : 20000)) |
			awk '$1 == "ns_per_launch" { print $2 }' >>"$scratch/bare"
		ns_per_launch $threads >>"$scratch/trace"
		ns_per_launch $threads --args >>"$scratch/args"
	done
	echo "# $threads threads, ns a launch: bare $(median <"$scratch/bare"), traced $(median <"$scratch/trace")," \
		"with --args $(median <"$scratch/args")"
	check "$threads threads: at most 1 us a launch more than tracing" awk -v trace="$(median <"$scratch/trace")" \
		-v with="$(median <"$scratch/args")" 'BEGIN { exit !(with <= trace + 1000) }'
done
check "a launch like others adds one short row" at_most 30 \
	$(($(wc -c <"$(echo "$recording"/*/launch_arguments.csv)") / $(rows launch_arguments)))
echo "# sets of addresses $(rows arguments), launches $(rows launch_arguments), kernels $(rows kernels)"
lost | sed 's/^/# lost: /'
finish
