#!/usr/bin/env bash
# Page faults and migrations of managed memory (--managed): what is recorded, what it costs, and when CUPTI takes the request.
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

# managed COMMAND...: recorded with --managed, for at most a minute
managed() {
	ROOFLINE_MANAGED=1 record timeout -k 5 60 "$@"
}

echo "# $(nvidia-smi -q 2>/dev/null | grep -i 'addressing mode' | xargs)"

# ---- what is recorded ----

managed "$programs/managed" >"$scratch/out" 2>"$scratch/complaints"
check "a program with managed memory ends well" equal 0 $?
sed 's/^/# /' "$scratch/out" "$scratch/complaints"
check "its faults and migrations are recorded" equal "1 " "$(property managed) $(property managed_problem)"
table managed kind cause | sort | uniq -c | sed 's/^/# rows by kind and cause: /'
table managed start_ns end_ns kind value address source destination cause | awk '!($3 in seen) { seen[$3] = 1; print }' |
	sed 's/^/# first of each kind: /'
bytes=$((64 * 1024 * 1024))
for kind in 1 2; do
	check "what was moved (kind $kind) is the memory, each round" equal $((bytes * 4)) \
		"$(table managed kind value | awk -v kind=$kind '$1 == kind { sum += $2 } END { printf "%.0f\n", sum }')"
done
check "pages faulted on the GPU" above 0 "$(table managed kind | grep -c '^4$')"
check "and on the host" above 0 "$(table managed kind | grep -c '^3$')"
check "each lies in the program's time" equal 0 "$(table managed start_ns end_ns | awk -v first="$(property start_ns)" -v last="$(property sealed_ns)" \
	'$1 < first || $2 > last || $2 < $1' | wc -l)"
check "nothing is lost" equal "" "$(lost | xargs)"
"$BUILD/bin/rooflinectl" report "$recording" | sed 's/^/# /' | head -80
record "$programs/managed" >/dev/null
"$BUILD/bin/rooflinectl" report "$recording" | grep -A3 -i 'managed' | sed 's/^/# without: /'
managed "$programs/managed" --prefetch 1 | sed 's/^/# prefetched: /'
table managed kind cause | sort | uniq -c | sed 's/^/# prefetched, rows by kind and cause: /'
managed "$programs/many_launches" --launches 1000 >"$scratch/out" 2>"$scratch/complaints"
check "a program without managed memory ends well" equal 0 $?
check "and has no rows" equal "1 0" "$(property managed) $(rows managed)"
sed 's/^/# /' "$scratch/complaints"

# ---- what it costs ----

for round in 1 2 3; do
	"$programs/managed" | sed 's/^/bare /'
	record "$programs/managed" | sed 's/^/without /'
	managed "$programs/managed" | sed 's/^/with /'
	record "$programs/many_launches" --launches 100000 | sed 's/^/without /'
	managed "$programs/many_launches" --launches 100000 | sed 's/^/with /'
	for way in without with; do
		[ $way = with ] && export ROOFLINE_MANAGED=1
		start_ns=$(date +%s%N)
		record "$programs/many_launches" --launches 10 >/dev/null
		echo "$way process_ms $((($(date +%s%N) - start_ns) / 1000000))"
		unset ROOFLINE_MANAGED
	done
done >"$scratch/costs"
# median WAY NAME: over the rounds
median() {
	awk -v way="$1" -v name="$2" '$1 == way && $2 == name { print $3 }' "$scratch/costs" | sort -n |
		awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}
for name in round_ns ns_per_launch process_ms; do
	echo "# --managed, $name: bare $(median bare $name), without $(median without $name), with $(median with $name)"
done

# ---- when CUPTI takes the request, each way in a process of its own ----

ways=()
# try WHEN SCOPE KINDS [ORDER] [SUBSCRIBER]
try() {
	ways+=("$*")
	start "$programs/managed_counters" "$@"
}

for when in init initialized context thread callback_init callback_context busy; do
	try $when single 1234
	try $when all 12345678
done
try context single 1,2,3,4,5,6,7,8
try context single 1234 enable_first
try context all 1234 configure_first not_subscribed
wait
for ((run = 1; run <= run_count; run++)); do
	echo "# ${ways[run - 1]}: exit $(cat "$scratch/$run.code"): $(tr -d '\n' <"$scratch/$run.out")"
	shown "$scratch/$run.err"
done
check "no way ends the program" equal 0 "$(cat "$scratch"/[0-9]*.code | sort -n | tail -1)"
finish
