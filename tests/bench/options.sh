#!/bin/bash
# What an option of record adds to a launch beside tracing: the same program alone and under record with each option, in turns;
# medians over the rounds.  The options whose cost is measured elsewhere are left out: --api, --syncs and --graphs (collector.sh),
# --counters (counters.sh), --args, --managed and --last (tests/gpu/check_args.sh, check_managed.sh, check_control.sh).
#
#   make && make gpu-tests && tests/bench/options.sh [ROUNDS]      3 rounds when not given, of about 15 s each
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
rounds=${1:-3}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || {
	echo "options.sh: ROUNDS is a whole number from 1, not '$rounds'" >&2
	exit 2
}
nvidia-smi -L >/dev/null 2>&1 || {
	echo "options: skipped, no NVIDIA GPU"
	exit 0
}
[[ -x $build/tests/gpu/many_launches ]] || {
	echo "options.sh: $build/tests/gpu is not built: run make gpu-tests" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tool=$build/bin/rooflinectl
values=$scratch/values # label | way | value

launches=("$build/tests/gpu/many_launches" --launches 100000)
ranges=("$build/tests/gpu/nvtx_ranges" --threads 1 --steps 20000)
few=("$build/tests/gpu/many_launches" --launches 20)

# measure LABEL METRIC WAY COMMAND...: notes the number behind METRIC in what it prints
measure() {
	local label=$1 metric=$2 way=$3 value
	shift 3
	value=$("$@" 2>"$scratch/errors" | awk -v name="$metric" '$1 == name { print $2 }')
	[[ -n $value ]] || {
		echo "options.sh: $label, $way: no line $metric; it said: $(tail -1 "$scratch/errors")" >&2
		exit 1
	}
	echo "$label|$way|$value" >>"$values"
	rm -rf "$scratch/out"
}

# recorded OPTION... -- COMMAND...
recorded() {
	"$tool" record -o "$scratch/out" "$@"
}

# watched COMMAND...: recorded while top asks it four times a second
watched() {
	local recorder watcher status=0
	"$tool" record -o "$scratch/out" -- "$@" &
	recorder=$!
	until [[ -d $scratch/out ]]; do
		kill -0 $recorder 2>/dev/null || break
		sleep 0.02
	done
	"$tool" top $recorder -i 250ms >"$scratch/top" 2>/dev/null &
	watcher=$!
	wait $recorder || status=$?
	wait $watcher || true
	return $status
}

one_round() {
	local launch=(measure launch ns_per_launch)
	"${launch[@]}" bare "${launches[@]}"
	"${launch[@]}" traced recorded -- "${launches[@]}"
	"${launch[@]}" "top, or --live" watched "${launches[@]}"
	"${launch[@]}" --power recorded --power -- "${launches[@]}"
	"${launch[@]}" --sample recorded --sample -- "${launches[@]}"
	"${launch[@]}" --sample-metrics=front recorded --sample=10us --sample-metrics=front -- "${launches[@]}"
	"${launch[@]}" --kernels recorded --kernels empty -- "${launches[@]}"
	"${launch[@]}" "--kernels, of none" recorded --kernels no_such_kernel -- "${launches[@]}"
	"${launch[@]}" "before --delay" recorded --delay 1000 -- "${launches[@]}"
	"${launch[@]}" "no span of --profiler-api" recorded --profiler-api -- "${launches[@]}"
	"${launch[@]}" --max-size recorded --max-size 100M -- "${launches[@]}"
	"${launch[@]}" "after --max-size=64K" recorded --max-size 64K -- "${launches[@]}"
	"${launch[@]}" "no attributes" env ROOFLINE_LAUNCH_ATTRIBUTES=0 "$tool" record -o "$scratch/out" -- "${launches[@]}"
	measure "launch, 4 ranges" ns_per_step bare "${ranges[@]}"
	measure "launch, 4 ranges" ns_per_step traced recorded -- "${ranges[@]}"
	measure "launch, 4 ranges" ns_per_step "no ranges" env ROOFLINE_NVTX=0 "$tool" record -o "$scratch/out" -- "${ranges[@]}"
	measure "few launches" ns_per_launch bare "${few[@]}"
	measure "few launches" ns_per_launch --replay recorded --replay --counters=roofline -- "${few[@]}"
}

for ((round = 1; round <= rounds; round++)); do
	one_round
done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1
echo "$rounds rounds; medians, in ns"
echo
awk -F'|' '
	{
		key = $1 SUBSEP $2
		if (!(key in count)) { order[++ways] = key; label[ways] = $1; way[ways] = $2 }
		value[key, ++count[key]] = $3
	}
	function median(key,  i, j, n, sorted, held) {
		n = count[key]
		for (i = 1; i <= n; i++) {
			held = value[key, i] + 0
			for (j = i - 1; j > 0 && sorted[j] > held; j--) sorted[j + 1] = sorted[j]
			sorted[j + 1] = held
		}
		return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
	}
	END {
		printf "%-17s %-26s %12s %12s %14s\n", "what", "way", "median", "above bare", "above traced"
		for (i = 1; i <= ways; i++) {
			here = median(order[i])
			traced = label[i] SUBSEP "traced"
			printf "%-17s %-26s %12.1f %12.1f %14s\n", label[i], way[i], here, here - median(label[i] SUBSEP "bare"),
				traced in count && way[i] != "bare" ? sprintf("%.1f", here - median(traced)) : "-"
		}
	}' "$values"
