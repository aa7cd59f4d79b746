#!/usr/bin/env bash
# What `rooflinectl ceilings --links` measures between GPUs: all rows are there, and agree with each other and with the
# kernels of NCCL that are recorded.
#
#   KEEP=FILE tests/gpu/check_links.sh     leaves what was measured in FILE
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl
stored=$scratch/links.json
python=python3

measured() {
	timeout -k 5 "$limit_s" "$tool" ceilings --links -o "$stored" >"$scratch/out" 2>"$scratch/err" </dev/null ||
		{ shown "$scratch/err" "$scratch/out"; return 1; }
}

# rows PYTHON: whether an expression holds, in which value(NAME, PARAMETER) is what was measured, sizes(NAME) are its
# parameters, and largest(NAME) is its value for the greatest of them
rows() {
	"$python" - "$stored" "$1" <<-'END'
		import json, sys
		data = json.load(open(sys.argv[1]))
		table = {(row["name"], row["parameter"]): row["value"] for row in data["ceilings"]}
		sizes = lambda name: sorted(parameter for key, parameter in table if key == name)
		value = lambda name, parameter=0: table[name, parameter]
		largest = lambda name: value(name, sizes(name)[-1])
		if not eval(sys.argv[2]):
		    print("#", sys.argv[2], "does not hold:", {key: v for key, v in table.items() if key[0] in sys.argv[2]})
		    sys.exit(1)
	END
}

# skipped NAME: why there is no row of that name, "" where there are rows
skipped() {
	sed -nE "s/^ *$1(\[[0-9]+\])? +skipped: //p" "$scratch/out" | head -n 1
}

# record_calls: nccl_calls on all GPUs, a process for each, as one job
record_calls() {
	local count rank pids=() code=0
	count=$(gpu_count)
	rm -rf "$recording" "$scratch/id"
	for ((rank = 0; rank < count; rank++)); do
		RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$count ROOFLINE_OUTPUT=$recording LD_PRELOAD=$collector \
			timeout -k 5 60 "$programs/nccl_calls" "$rank" "$count" "$scratch/id" --repeats 500 \
			>"$scratch/rank.$rank" 2>&1 </dev/null &
		pids+=($!)
	done
	for ((rank = 0; rank < count; rank++)); do wait "${pids[rank]}" || code=$?; done
	[ $code -eq 0 ] || shown "$scratch"/rank.*
	return $code
}

# ratio: of the recorded all-reduces of 1 MiB, of which there are many: what was measured, by the median of their kernels
ratio() {
	"$tool" report -f json -s message_sizes --ceilings "$stored" "$recording" >"$scratch/sizes.json"
	"$python" - "$scratch/sizes.json" <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1]))["message_sizes"]["sizes"]
		print(*(row["ceiling_ratio"] for row in rows if row["operation"] == "AllReduce" and row["bytes"] == 1 << 20))
	END
}

# is_near_kernels: a recorded kernel is at most a quarter faster than its row
is_near_kernels() {
	local got
	got=$(ratio)
	awk -v got="$got" 'BEGIN { exit !(got > 0 && got <= 1.25) }' || { echo "# by the rows kernels reach $got"; return 1; }
}

check "it ends well, on any number of GPUs" measured
sed 's/^/# /' "$scratch/out"
if grep -q 'skipped: there is one GPU' "$scratch/out" || [ ! -s "$stored" ]; then
	skip "what GPUs exchange" "needs two GPUs that reach each other"
	finish
	exit
fi
check "copies are measured by size in each direction" rows \
	'all(len(sizes(name)) == 4 for name in ("peer_out", "peer_in", "peer_both", "peer_staged"))'
check "large copies are as fast out as in, within 10%" rows \
	'abs(largest("peer_out") / largest("peer_in") - 1) < 0.1'
check "in both directions at once each is at least 70% as fast" rows \
	'largest("peer_both") > 0.7 * largest("peer_out")'
check "through the host they are slower" rows 'largest("peer_staged") < largest("peer_out")'
check "a small copy takes longer than a signal, and both less than 50 us" rows \
	'100 < value("peer_signal") < value("peer_small") < 50000'
if [ -n "$(skipped nccl_all_reduce)" ]; then
	skip "collectives of NCCL" "$(skipped nccl_all_reduce)"
else
	for name in nccl_all_reduce nccl_all_gather nccl_reduce_scatter nccl_send_recv; do
		check "$name takes longer the more bytes there are" rows \
			"all(value('$name', a) <= 1.1 * value('$name', b) for a, b in zip(sizes('$name'), sizes('$name')[1:])) and len(sizes('$name')) == 5"
	done
	check "all of an all-reduce's bytes cross a link, no faster than copies in both directions do" rows \
		'sizes("nccl_all_reduce")[-1] / largest("nccl_all_reduce") * 1e9 < 1.1 * largest("peer_both") * 2'
	check "all GPUs add up, a process for each, and are recorded" record_calls
	check "kernels of an all-reduce are at most a quarter faster than what was measured" is_near_kernels
	"$tool" report -s message_sizes --ceilings "$stored" "$recording" | sed 's/^/# /'
fi
if [ -n "$(skipped nvshmem_put)" ]; then
	skip "puts of NVSHMEM" "$(skipped nvshmem_put)"
else
	check "puts are measured by size, and messages with a signal" rows \
		'len(sizes("nvshmem_put")) == 4 and all(len(sizes(name)) == 3 for name in ("nvshmem_put_signal", "nvshmem_store_signal"))'
	check "large puts on a stream are as fast as copies, within 10%" rows \
		'abs(largest("nvshmem_put") / largest("peer_out") - 1) < 0.1'
	check "stores of a kernel are no faster than a link, and at least half as fast as copies" rows \
		'0.5 * largest("peer_out") < value("nvshmem_store") < 1.1 * largest("peer_out")'
	for name in nvshmem_put_signal nvshmem_store_signal; do
		check "$name takes longer the more bytes there are, and less than 50 us" rows \
			"all(value('$name', a) <= 1.1 * value('$name', b) for a, b in zip(sizes('$name'), sizes('$name')[1:])) and largest('$name') < 50000"
	done
	check "a signal behind stores takes longer than a signal alone, and a put of a stream longer than both" rows \
		'value("peer_signal") < value("nvshmem_store_signal", 8) < value("nvshmem_put_signal", 8)'
fi
[ -z "${KEEP:-}" ] || cp "$stored" "$KEEP"
finish
