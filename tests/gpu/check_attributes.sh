#!/usr/bin/env bash
# Attributes of launches and what following them costs; what recording adds to calls, by loops that run bare and recorded.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# table NAME COLUMN...: those columns of its rows
table() {
	awk -F, -v wanted="${*:2}" '
		FNR == 1 { count = split(wanted, names, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ line = ""; for (i = 1; i <= count; i++) line = line (i > 1 ? " " : "") $at[names[i]]; print line }' \
		"$recording"/*/"$1".csv
}

# property KEY: its value in process.csv
property() {
	sed -n "s/^$1,//p" "$recording"/*/process.csv
}

above() {
	awk -v least="$1" -v got="$2" 'BEGIN { exit !(got > least) }' || { echo "# more than $1, got $2"; return 1; }
}

# shape NAME COLUMN...: those columns of the signature of the kernel of that name
shape() {
	awk -F, -v kernel="$1" -v wanted="${*:2}" '
		FILENAME ~ /names.csv$/ { if (index($2, kernel)) id[$1] = 1; next }
		FNR == 1 { count = split(wanted, names, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		id[$2] { line = ""; for (i = 1; i <= count; i++) line = line (i > 1 ? " " : "") $at[names[i]]; print line }' \
		"$recording"/*/names.csv "$recording"/*/signatures.csv
}

# with_attributes NAME: of its launches "rows is_dependent has_event has_priority priority is_cooperative", by attributes
with_attributes() {
	awk -F, -v kernel="$1" '
		FILENAME ~ /names.csv$/ { if (index($2, kernel)) name[$1] = 1; next }
		FILENAME ~ /signatures.csv$/ { if (name[$2]) signature[$1] = 1; next }
		FILENAME ~ /launch_attributes.csv$/ { row[$1] = $2 " " $3 " " $4 " " $5 " " $6; next }
		FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		signature[$at["signature"]] { attributes = row[$at["correlation"]]; count[attributes ? attributes : "none"]++ }
		END { for (attributes in count) print count[attributes] " " attributes }' \
		"$recording"/*/{names,signatures,launch_attributes,kernels}.csv
}

# ---- attributes ----

record "$programs/attributes" --launches 10 >"$scratch/out" 2>"$scratch/complaints"
check "the program ends well" equal 0 $?
sed 's/^/# /' "$scratch/out" "$scratch/complaints"
highest=$(awk '$1 == "highest" { print $2 }' "$scratch/out")
check "nothing is complained of" equal "" "$(cat "$scratch/complaints")"
check "a launch by <<<>>> has no attributes" equal "10 none" "$(with_attributes plain_kernel)"
check "nor has one by cudaLaunchKernelEx without any" equal "10 none" "$(with_attributes extended_kernel)"
check "dependent launches are known" equal "10 1 0 0 0 0" "$(with_attributes dependent_kernel)"
check "launches that record a programmatic event are" equal "10 0 1 0 0 0" "$(with_attributes event_kernel)"
check "a launch's own priority is" equal "10 0 0 1 $((highest & 0xffffffff)) 0" "$(with_attributes priority_kernel)"
check "a cooperative launch is, by attribute" equal "10 0 0 0 0 1" "$(with_attributes cooperative_kernel)"
check "and by cudaLaunchCooperativeKernel" equal 1 "$(shape cooperative_call_kernel launch_type)"
check "the size of a cluster is" equal "2 1 1" "$(shape cluster_kernel cluster_x cluster_y cluster_z)"
check "no other kernel has a cluster" equal "0" "$(shape plain_kernel cluster_x)"
check "local memory is known without counters" above 255 "$(shape local_kernel local_bytes_per_thread)"
echo "# nodes of a graph that were captured from dependent launches: $(with_attributes captured_kernel | xargs)"
check "priorities of streams are" equal "$highest" "$(table streams priority | awk '{ print ($1 > 2147483647 ? $1 - 4294967296 : $1) }' | sort -n | head -1)"
table launch_attributes correlation is_dependent has_event has_priority priority is_cooperative | awk 'NR % 10 == 1' | sed 's/^/# attributes: /'
"$BUILD/bin/rooflinectl" report "$recording" --section kernels | sed 's/^/# /'

for round in 1 2 3; do
	"$programs/attributes" --launches 0 --calls 100000 | sed 's/^/bare /'
	ROOFLINE_LAUNCH_ATTRIBUTES=0 record "$programs/attributes" --launches 0 --calls 100000 | sed 's/^/without /'
	record "$programs/attributes" --launches 0 --calls 100000 | sed 's/^/with /'
done >"$scratch/costs"
# median WAY NAME: over the rounds
median() {
	awk -v way="$1" -v name="$2" '$1 == way && $2 == name { print $3 }' "$scratch/costs" | sort -n |
		awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}
for name in plain_ns extended_ns dependent_ns; do
	echo "# a launch, $name: bare $(median bare $name), without attributes $(median without $name), with $(median with $name)"
done

# ---- what recording adds to a call ----

# The same work bare and recorded in turn.
for round in 1 2 3; do
	"$programs/many_launches" --launches 100000 | sed 's/^/bare /'
	"$programs/program_calls" --rounds 10 --calls 100000 --graph-nodes 10 --allocations 10 | sed 's/^/bare /'
	"$programs/attributes" --launches 0 --calls 100000 | sed 's/^/bare /'
	record "$programs/many_launches" --launches 100000 | sed 's/^/recorded /'
	record "$programs/program_calls" --rounds 10 --calls 100000 --graph-nodes 10 --allocations 10 | sed 's/^/recorded /'
	record "$programs/attributes" --launches 0 --calls 100000 | sed 's/^/recorded /'
done >"$scratch/costs"
for name in ns_per_launch plain_ns record_ns wait_ns synchronize_ns; do
	bare=$(median bare $name) recorded=$(median recorded $name)
	echo "# $name: bare $bare, recorded $recorded, added $(awk -v b="$bare" -v r="$recorded" 'BEGIN { printf "%.0f", r - b }')"
done

[ ! -x "$BUILD/lib/rooflinectl/ceilings/orchestration" ] || tests/bench/traced_steps.py 2 | sed 's/^/# steps: /'

lost | sed 's/^/# lost: /'
finish
