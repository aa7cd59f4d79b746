#!/usr/bin/env bash
# What `rooflinectl ceilings --links` measures between GPUs: all rows are there, and agree with each other.
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
if grep -q 'nccl_all_reduce.* skipped' "$scratch/out"; then
	skip "collectives of NCCL" "$(sed -n 's/.*nccl_all_reduce.*skipped: //p' "$scratch/out" | head -n 1)"
else
	for name in nccl_all_reduce nccl_all_gather nccl_reduce_scatter nccl_send_recv; do
		check "$name takes longer the more bytes there are" rows \
			"all(value('$name', a) <= 1.1 * value('$name', b) for a, b in zip(sizes('$name'), sizes('$name')[1:])) and len(sizes('$name')) == 5"
	done
	check "all of an all-reduce's bytes cross a link, no faster than copies in both directions do" rows \
		'sizes("nccl_all_reduce")[-1] / largest("nccl_all_reduce") * 1e9 < 1.1 * largest("peer_both") * 2'
fi
[ -z "${KEEP:-}" ] || cp "$stored" "$KEEP"
finish
