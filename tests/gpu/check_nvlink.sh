#!/usr/bin/env bash
# Bytes over NVLink, as the samples of two GPUs have them, against what was copied.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl

"$programs/peer_copies" --ms 1 >/dev/null 2>&1
[ $? -ne 3 ] || { skip "bytes over NVLink" "needs two GPUs that reach each other"; finish; exit; }

# sampled FROM DEVICE COLUMN: bytes while GPU FROM sent, for each byte that it sent
sampled() {
	awk -F, -v from="$1" -v device="$2" -v name="$3" '
		FNR == 1 { split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next }
		FILENAME ~ /copies/ && $at["kind"] == 10 && $at["src_device"] == from {
			if (!first) first = $at["start_ns"]
			last = $at["end_ns"]
			bytes += $at["bytes"]
		}
		FILENAME ~ /samples/ && $at["device"] == device && $at["start_ns"] >= first - 1e5 && $at["start_ns"] <= last {
			sum += $at[name]
		}
		END { printf "%.3f\n", sum / bytes }' "$recording"/*/copies.csv "$recording"/*/samples.csv
}

# between LEAST MOST GOT
between() {
	awk -v least="$1" -v most="$2" -v got="$3" 'BEGIN { exit !(got >= least && got <= most) }' ||
		{ echo "# from $1 to $2, got $3"; return 1; }
}

recorded() {
	"$tool" record -o "$recording" --sample=100us --sample-windows=continuous --sample-metrics=nvlink \
		-- "$programs/peer_copies" >"$scratch/out" 2>"$scratch/err"
}

check "two GPUs are sampled each 100 us" recorded
sed 's/^/# /' "$scratch/err" "$scratch/out"
check "nothing is lost" equal "" "$(lost)"
for from in 0 1; do
	to=$((1 - from))
	out=$(sampled $from $from nvlink_tx_bytes)
	in=$(sampled $from $to nvlink_rx_bytes)
	echo "# GPU $from to GPU $to, for each byte copied: GPU $from sent $out and received" \
		"$(sampled $from $from nvlink_rx_bytes), GPU $to received $in and sent $(sampled $from $to nvlink_tx_bytes)"
	# packets have headers
	check "GPU $from sends the bytes that are copied, and up to 10% for headers" between 1 1.1 "$out"
	check "GPU $to receives them" between 1 1.1 "$in"
done
check "the timeline has strips of NVLink" eval \
	'"$tool" plot timeline "$recording" -o "$scratch" >/dev/null 2>&1; ! command -v gnuplot >/dev/null ||
	grep -q "NVLink in" "$scratch/roofline-timeline.svg"'
[ -z "${KEEP:-}" ] || cp -r "$recording" "$KEEP"
finish
