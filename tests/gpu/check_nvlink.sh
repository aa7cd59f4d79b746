#!/usr/bin/env bash
# Bytes over NVLink, as the samples of two GPUs have them, against what was copied.
#
# A packet of 256 bytes has a header of 16: 1.06 bytes for each one that is copied.  On one host all figures of one GPU were
# 15/18 of that, in both directions (docs/results/nvlink-2.txt): as if three of its links were not sampled.  So what is
# missing is also told in links, and beside it what the driver has counted on each link, and how much of the time samples cover.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl
IFS=, read -ra physical <<<"${CUDA_VISIBLE_DEVICES:-0,1}" # as nvidia-smi counts them

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

# driver_bytes DEVICE: of each link: its number, and bytes sent and received, as the driver has counted them so far
driver_bytes() {
	nvidia-smi nvlink -gt d -i "${physical[$1]}" 2>/dev/null | awk '
		/Data [TR]x:/ { link = $2; sub(":", "", link); bytes[link, $4 ~ /Tx/ ? "tx" : "rx"] = $(NF - 1) * 1024; links[link] }
		END { for (link in links) print link, bytes[link, "tx"] + 0, bytes[link, "rx"] + 0 }' | LC_ALL=C sort -k 1,1
}

# driver_says DEVICE: what its links carried since $scratch/links.DEVICE, in all and as the least and the most of one
driver_says() {
	driver_bytes "$1" | LC_ALL=C join "$scratch/links.$1" - | awk -v device="$1" '
		{ tx = $4 - $2; rx = $5 - $3; sent += tx; received += rx; used += tx + rx > 1e6
		  if (NR == 1 || tx < least) least = tx
		  if (tx > most) most = tx }
		END { if (!NR) print "# the driver tells nothing of the links of GPU " device
		      else printf "# GPU %d by the driver: %d of %d links used, %.1f GB sent (%.1f to %.1f a link), %.1f GB received\n",
			device, used, NR, sent / 1e9, least / 1e9, most / 1e9, received / 1e9 }'
}

# covered DEVICE: the part of the time from its first sample to its last that samples cover
covered() {
	awk -F, -v device="$1" '
		FNR == 1 { split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["device"] == device { n++; length_ns += $at["length_ns"]; if (!first) first = $at["start_ns"]
			last = $at["start_ns"] + $at["length_ns"] }
		END { if (n) printf "# GPU %d: %d samples cover %.4f of the time\n", device, n, length_ns / (last - first) }' \
		"$recording"/*/samples.csv
}

# links_missing GOT: how many of 18 links that would be
links_missing() {
	awk -v got="$1" 'BEGIN { printf "%.1f of 18 links\n", 18 * got / 1.0625 }'
}

# between LEAST MOST GOT
between() {
	awk -v least="$1" -v most="$2" -v got="$3" 'BEGIN { exit !(got >= least && got <= most) }' ||
		{ echo "# from $1 to $2, got $3: $(links_missing "$3")"; return 1; }
}

recorded() {
	"$tool" record -o "$recording" --sample=100us --sample-windows=continuous --sample-metrics=nvlink \
		-- "$programs/peer_copies" >"$scratch/out" 2>"$scratch/err"
}

for device in 0 1; do driver_bytes $device >"$scratch/links.$device"; done
check "two GPUs are sampled each 100 us" recorded
for device in 0 1; do
	driver_says $device
	covered $device
done
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
