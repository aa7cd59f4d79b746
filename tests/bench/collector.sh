#!/bin/bash
# What recording costs: the same programs bare, with the collector throwing every record away (the
# floor), with the collector, with it recording no API calls, all of them, or every wait's stream,
# under Nsight Systems where $NSYS names it, and loops of PyTorch under its own profiler, without
# and with operators.  The ways take turns, so that drift of the machine hits all alike; medians over
# the rounds are compared.
#
#   make && make gpu-tests && tests/bench/collector.sh [ROUNDS]      5 rounds when not given
#
# Environment: ONLY, the label of one bench; BUILD, COLLECTOR (the library), NSYS (path of nsys),
# PYTHON (one with PyTorch), and SCALE, a factor on the number of launches (1).  ROOFLINE_* variables reach the collector.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
collector=${COLLECTOR:-$build/lib/librooflinecollector.so}
python=${PYTHON:-python3}
nsys=${NSYS:-}
scale=${SCALE:-1}
rounds=${1:-5}

die() {
	echo "collector.sh: $*" >&2
	exit 1
}

[[ $rounds =~ ^[1-9][0-9]*$ && $scale =~ ^[1-9][0-9]*$ ]] || {
	echo "collector.sh: ROUNDS and SCALE are whole numbers from 1, not '$rounds' and '$scale'" >&2
	exit 2
}
nvidia-smi -L >/dev/null 2>&1 || {
	echo "collector: skipped, no NVIDIA GPU"
	exit 0
}
[[ -x $build/tests/gpu/many_launches ]] || die "$build/tests/gpu is not built: run make gpu-tests"
[[ -f $collector ]] || die "$collector is missing: run make, or set COLLECTOR"

# label | the line of the output that counts | command
benches=(
	"launch|ns_per_launch|$build/tests/gpu/many_launches --launches $((200000 * scale))"
	"launch, 8 threads|ns_per_launch|$build/tests/gpu/many_launches --threads 8 --launches $((25000 * scale))"
	"graph launch|ns_per_node|$build/tests/gpu/graph_nodes --nodes 1 --launches $((100000 * scale))"
	"graph node|ns_per_node|$build/tests/gpu/graph_nodes --launches $((10000 * scale))"
	"long kernel|ns_per_kernel|$build/tests/gpu/long_kernels --launches $((5000 * scale))"
	"torch eager|us_per_iteration|$python $root/tests/gpu/torch_loop.py --mode eager"
	"torch graph|us_per_iteration|$python $root/tests/gpu/torch_loop.py --mode graph"
)
# ONLY=label: one of them, for more rounds of it
for index in "${!benches[@]}"; do
	[[ -z ${ONLY:-} || ${benches[index]%%|*} == "$ONLY" ]] || unset "benches[index]"
done
ways=(bare floor collector api_none api_all syncs)
graph_ways=(graph_level) # of graphs only: one record a launch instead of one a node
torch_ways=(torch_cuda torch_all) # of PyTorch only: its profiler, without and with its operators
if [[ -n $nsys ]]; then
	ways+=(nsys)
	graph_ways+=(nsys_node) # nsys records graphs as one by default
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
values=$scratch/values # index | label | metric | way | value

# with VARIABLE=VALUE... COMMAND...: the command with the collector in it
with() {
	env CUDA_INJECTION64_PATH="$collector" ROOFLINE_OUTPUT="$scratch/out" "$@"
}

# run_way WAY COMMAND...: its output, whatever was recorded thrown away
run_way() {
	local way=$1 nsys_options=(profile -t cuda -s none --cpuctxsw=none --force-overwrite true -o "$scratch/nsys")
	shift
	case $way in
	bare) env -u CUDA_INJECTION64_PATH "$@" ;;
	floor) with ROOFLINE_DISCARD=1 "$@" ;;
	collector)
		with "$@"
		grep -q '^skipped' "$scratch/log" || compgen -G "$scratch/out/*/kernels.csv" >/dev/null ||
			die "the collector recorded nothing of: $*"
		;;
	api_none) with ROOFLINE_API=none "$@" ;;
	api_all) with ROOFLINE_API=all "$@" ;;
	syncs) with ROOFLINE_SYNCS=1 "$@" ;;
	graph_level) with ROOFLINE_GRAPHS=graph "$@" ;;
	nsys) "$nsys" "${nsys_options[@]}" "$@" ;;
	torch_cuda) env -u CUDA_INJECTION64_PATH "$@" --profile cuda ;;
	torch_all) env -u CUDA_INJECTION64_PATH "$@" --profile all ;;
	nsys_node) "$nsys" "${nsys_options[@]}" --cuda-graph-trace=node "$@" ;;
	esac
	rm -rf "$scratch/out" "$scratch"/nsys*
}

measure() {
	local label metric command way value index here
	for index in "${!benches[@]}"; do
		IFS='|' read -r label metric command <<<"${benches[index]}"
		here=("${ways[@]}")
		[[ $label == *graph* ]] && here+=("${graph_ways[@]}")
		[[ $label == torch* ]] && here+=("${torch_ways[@]}")
		for way in "${here[@]}"; do
			# shellcheck disable=SC2086 # the command is words
			run_way "$way" $command >"$scratch/log" 2>"$scratch/errors" ||
				die "$label, $way: '$command' failed; it said: $(tail -1 "$scratch/log")"
			if grep -q '^skipped' "$scratch/log"; then
				echo "$label: $(cat "$scratch/log")" >&2
				unset "benches[index]"
				break
			fi
			value=$(awk -v metric="$metric" '$1 == metric { print $2 }' "$scratch/log")
			[[ -n $value ]] || die "$label, $way: no line $metric in its output"
			echo "$index|$label|$metric|$way|$value" >>"$values"
		done
	done
}

# added: above bare.  of floor: how many times what the floor adds.
table() {
	sort -t'|' -k1,1n -k5,5g "$values" | awk -F'|' '
	{
		key = $1 SUBSEP $4
		value[key, ++count[key]] = $5
		label[$1] = $2
		metric[$1] = $3
		last = $1
	}
	function median(key,  n) {
		n = count[key]
		return n % 2 ? value[key, (n + 1) / 2] : (value[key, n / 2] + value[key, n / 2 + 1]) / 2
	}
	END {
		way_count = split("bare floor collector api_none api_all syncs graph_level nsys nsys_node torch_cuda torch_all", ways, " ")
		printf "%-17s %-17s %-11s %10s %22s %9s %8s %9s\n", "what", "unit", "way",
			"median", "min .. max", "of bare", "added", "of floor"
		for (index_ = 0; index_ <= last; index_++)
			for (i = 1; i <= way_count; i++) {
				key = index_ SUBSEP ways[i]
				if (!count[key])
					continue
				bare = median(index_ SUBSEP "bare")
				floor = median(index_ SUBSEP "floor") - bare
				added = median(key) - bare
				printf "%-17s %-17s %-11s %10.2f %10.2f .. %8.2f %8.3fx %8.2f %9s\n",
					label[index_], metric[index_], ways[i], median(key),
					value[key, 1], value[key, count[key]], median(key) / bare,
					added, (i > 2 && floor > 0 ? sprintf("%.2fx", added / floor) : "-")
			}
	}'
}

for ((round = 1; round <= rounds; round++)); do
	[[ -t 2 ]] && printf '\rround %d of %d' "$round" "$rounds" >&2
	measure
done
[[ -t 2 ]] && echo >&2
[[ -f $values ]] || die "nothing could be measured"
command -v nvidia-smi >/dev/null &&
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1
echo "$rounds rounds, scale $scale; medians"
echo
table
