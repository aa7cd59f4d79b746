#!/usr/bin/env bash
# Mistakes of the host that cost time: the advice names each where it is made, not where it is mended, and puts no less at stake than was gained.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
tool=$BUILD/bin/rooflinectl

# recorded NAME OPTION...: a pitfall, into $scratch/NAME
recorded() {
	"$tool" record -o "$scratch/$1" "${@:2}" -- "$programs/pitfalls" "$1" >"$scratch/out" 2>&1 || sed 's/^/# /' "$scratch/out"
}

# ask NAME EXPRESSION: of the report, in Python
ask() {
	"$tool" report --format json "$scratch/$1" | python3 -c '
import json, sys
r = json.load(sys.stdin)
advice = {a["id"]: a for a in r["advice"]}
wall = max(d["wall_ns"] for d in r["devices"])
print(eval(sys.argv[1]))' "$2"
}

# names NAME ID: whether the advice of that recording has it
names() {
	[ "$(ask "$1" "'$2' in advice")" = True ] || { ask "$1" 'sorted(advice)' | sed 's/^/# /'; return 1; }
}

names_not() {
	! names "$1" "$2" >/dev/null
}

# gains_at_most NAME: what the mended one takes less is at stake; runs differ by 5%
gains_at_most() {
	local before after stake
	before=$(ask "$1" wall) after=$(ask "no_$1" wall) stake=$(ask "$1" "advice['$1']['at_stake_ns']")
	echo "# before $before ns, after $after ns, at stake $stake ns"
	awk -v before="$before" -v after="$after" -v stake="$stake" \
		'BEGIN { exit !(after < before && before - after <= stake + 0.05 * before) }'
}

recorded repeated_module_load
check "code that is compiled again and again is named" names repeated_module_load repeated_module_load
recorded late_module_load
check "and not where little of it is loaded" names_not late_module_load repeated_module_load
for name in low_occupancy no_low_occupancy; do
	recorded $name --counters=roofline,atomics,sm,stalls --counters-share=100
done
check "few warps that wait are named" names low_occupancy low_occupancy
check "and not where all that an SM can hold are there" names_not no_low_occupancy low_occupancy
before=$(ask low_occupancy 'r["kernels"][0]["mean_ns"]') after=$(ask no_low_occupancy 'r["kernels"][0]["mean_ns"]')
echo "# a launch takes $before ns with few warps, $after ns with all"
check "with all it is faster" awk -v before="$before" -v after="$after" 'BEGIN { exit !(after < before) }'
pairs=(host_node long_block)
if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then
	pairs+=(staged_peer_copy)
else
	skip "copies between GPUs through the host" "needs two GPUs"
fi
for name in "${pairs[@]}"; do
	options=()
	[ "$name" != long_block ] || options=(--sample=1us)
	recorded "$name" "${options[@]}"
	recorded "no_$name" "${options[@]}"
	check "$name is named where it is" names "$name" "$name"
	check "$name is not named where it is mended" names_not "no_$name" "$name"
	check "mending $name gains, and no more than is at stake" gains_at_most "$name"
done
finish
