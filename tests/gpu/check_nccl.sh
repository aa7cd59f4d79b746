#!/usr/bin/env bash
# What NCCL was asked for: its NVTX payloads are recorded with the right bytes, on one GPU.  NCCL 2.30 lets two ranks share a GPU:
# then kernels run, too, and are matched with their calls.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl
export NCCL_MAX_CTAS=4 NCCL_MULTI_RANK_GPU_ENABLE=1 CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}

# run_ranks COUNT OPTION...: nccl_calls with so many ranks on GPU 0, recorded as one job; what each prints in $scratch/rank.N
run_ranks() {
	local count=$1 rank code=0 pids=()
	shift
	rm -rf "$recording" "$scratch/id" "$scratch"/rank.*
	for ((rank = 0; rank < count; rank++)); do
		RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$count ROOFLINE_OUTPUT=$recording LD_PRELOAD=$collector \
			timeout -k 5 60 "$programs/nccl_calls" "$rank" "$count" "$scratch/id" "$@" \
			>"$scratch/rank.$rank" 2>"$scratch/rank.$rank.err" </dev/null &
		pids+=($!)
	done
	for ((rank = 0; rank < count; rank++)); do wait "${pids[rank]}" || code=$?; done
	[ $code -eq 0 ] || { echo "# exit code $code (124: too long)"; shown "$scratch"/rank.*; }
	return $code
}

# folder RANK: what was recorded of it
folder() {
	grep -lx "rank,$1" "$recording"/*/process.csv | xargs dirname
}

# is_told RANK: collectives.csv has what the program says it asked for, in this order
is_told() {
	diff <(sed -n 's/^call //p' "$scratch/rank.$1") \
		<(tail -n +2 "$(folder "$1")/collectives.csv" | cut -d, -f3,5-) | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

# communicator RANK: id, rank and ranks as communicators.csv has them, the last row
communicator() {
	tail -n 1 "$(folder "$1")/communicators.csv" | cut -d, -f3-5
}

# ends RANK: each range of NCCL's domain that began has ended
ends() {
	equal 0 "$(awk -F, -v nccl="$(sed -nE 's/^([0-9]+),"?NCCL"?$/\1/p' "$(folder "$1")/names.csv" | xargs)" '
		BEGIN { split(nccl, ids, " "); for (i in ids) is_nccl[ids[i]] = 1 }
		$3 == 1 && ($6 in is_nccl) { open[$2] = 1; next }
		$3 == 2 { delete open[$2] }
		END { for (id in open) n++; print n + 0 }' "$(folder "$1")/markers.csv")"
}

# of_report EXPRESSION: of the report's JSON, as j
of_report() {
	"$tool" report -f json -s job,message_sizes "$recording" |
		python3 -c "import json, sys; j = json.load(sys.stdin); print($1)"
}

run_ranks 1
code=$?
if grep -q '^skipped' "$scratch/rank.0"; then
	skip "NCCL tells what it is asked for" "$(cat "$scratch/rank.0")"
	finish
	exit
fi
version=$(sed -n 's/^version //p' "$scratch/rank.0")
echo "# NCCL $version"
check "one rank: the program ends well" equal 0 $code
check "one rank: each call has its operation, bytes, root or peer, and reduction" is_told 0
if [ "$version" -ge 22500 ]; then
	check "one rank: the communicator has an id, and is of one rank" grep -qE '^[1-9][0-9]*,0,1$' <(communicator 0)
	check "one rank: calls have that id" equal "$(communicator 0 | cut -d, -f1)" \
		"$(tail -n +2 "$(folder 0)/collectives.csv" | cut -d, -f4 | sort -u)"
fi
check "one rank: NCCL's ranges end, also those that are popped with a payload" ends 0
check "one rank: nothing is lost" equal "" "$(lost | xargs)"
check "one rank: nothing is said of kernels, as it launches none" equal 0 \
	"$(of_report "j['message_sizes']['unmatched_count']")"
"$tool" report -s message_sizes "$recording" | sed 's/^/# /'

if [ "$version" -lt 23000 ]; then
	skip "two ranks on one GPU" "NCCL $version: 2.30 is the first that allows it (pip install nvidia-nccl-cu13)"
	finish
	exit
fi
run_ranks 2
check "two ranks on one GPU: the programs end well" equal 0 $?
for rank in 0 1; do
	check "rank $rank: each call has its operation, bytes, root or peer, and reduction" is_told $rank
	check "rank $rank: NCCL's ranges end" ends $rank
done
check "both have the same communicator, of two ranks" equal "$(communicator 0 | cut -d, -f1),1,2" "$(communicator 1)"
check "all calls but the captured ones have their kernels" equal 2 \
	"$(of_report "j['message_sizes']['unmatched_count']")"
check "the all-reduces of 1 MiB are timed, and have a bandwidth" equal "40 40 2 True" \
	"$(of_report "next('%d %d %d %s' % (s['count'], s['timed_count'], s['rank_count'], s['bus_byte_per_s'] > 0) for s in j['message_sizes']['sizes'] if s['operation'] == 'AllReduce' and s['bytes'] == 1 << 20)")"
check "calls of a group share their kernel: they have no time of their own" equal 0 \
	"$(of_report "sum(s['timed_count'] for s in j['message_sizes']['sizes'] if s['operation'] in ('Send', 'Recv'))")"
check "nothing is wrong with the job" equal 0 "$(of_report "len(j['job']['problems'])")"
"$tool" report -s job,collectives,message_sizes "$recording" | sed 's/^/# /'

run_ranks 2 --swap
check "two ranks that ask for two reductions in different orders end all the same" equal 0 $?
check "and are told apart by what they ask for" grep -q "differ in collective" \
	<("$tool" report -s job "$recording" | tr -s ' \n' ' ')
"$tool" report -s job "$recording" | grep -A2 problem | sed 's/^/# /'
finish
