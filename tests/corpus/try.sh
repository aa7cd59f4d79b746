#!/bin/bash
# Runs every program of a labels.csv bare and with the strategies of `rooflinectl try`, and writes what it said.
#
#   tests/corpus/try.sh PROGRAMS OUT [SECONDS]
#
# PROGRAMS is as record.sh has it.  OUT gets a file for each trial, in JSON: RUN.all.json of two runs in turn with all
# strategies together; then, for each strategy that reached something in it, RUN.STRATEGY.json of three, with a
# recording of a bare run and one of a tried run, so that there is a prediction beside it.  The shortest programs come
# first; after SECONDS (500) nothing new is begun.  try_table.py makes a table of them.
#
# Environment: BUILD (of rooflinectl), ROWS (folder with labels.csv; this one), ONLY (an extended regular expression of
# runs), STRATEGIES (graph pool), SLOW_S (a program whose bare run took as long in runs.tsv is left out, 5).  Needs a
# GPU, python3.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
rows=${ROWS:-$root/tests/corpus}
tool=$(realpath "${BUILD:-$root/build}/bin/rooflinectl")
read -ra strategies <<<"${STRATEGIES:-graph pool}"

(($# == 2 || $# == 3)) || {
	echo "usage: $0 PROGRAMS OUT [SECONDS]" >&2
	exit 2
}
mkdir -p "$2"
out=$(cd "$2" && pwd)
limit_s=${3:-500}
# shellcheck source=tests/corpus/programs.bash
. "$(dirname "$0")/programs.bash"
programs_open "$1"

# run, program, arguments of rows that are not too slow, the shortest first; by bars, which no column has
rows() {
	python3 - "$rows" "${ONLY:-.}" "${SLOW_S:-5}" <<'PY'
import csv, pathlib, re, sys
rows, only, slow_s = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
with open(rows / "runs.tsv", newline="") as file:
    taken = {row["run"]: float(row["seconds"]) for row in csv.DictReader(file, delimiter="\t") if row["way"] == "bare"}
for row in sorted(csv.DictReader(open(rows / "labels.csv", newline="")), key=lambda row: taken.get(row["run"], 0)):
    if re.search(only, row["run"]) and taken.get(row["run"], 0) < slow_s:
        print(row["run"], row["program"], row["arguments"], sep="|")
PY
}

# What programs print of their own times and rates, which two bare runs may print alike by chance.
times='[-+0-9.e]+ *(\([mun]?s\)|[mun]?s|seconds|milliseconds|[GMT]B/s|[GMT]FLOP/?s)'
times_of='([Tt]ime[a-z ]*(\([a-z]+\))?|[Tt]hroughput|[Bb]andwidth)[:= ]+[-+0-9.e]+'

# trial RUN NAME OPTION... -- COMMAND...
trial() {
	local run=$1 name=$2 status=0
	shift 2
	(cd "$scratch/cwd" && exec timeout -k 1 90 "$tool" try --quiet --ignore-failure --timeout 20 --format json \
		--ignore "$times" --ignore "$times_of" "$@") \
		>"$out/$run.$name.json" 2>"$scratch/complained" </dev/null || status=$?
	[ $status = 0 ] || echo "$run, $name: exit $status: $(tail -n 1 "$scratch/complained")" | tee -a "$out/failed.txt"
}

# reached FILE: the strategies that changed something, by what the library counted
reached() {
	python3 - "$1" <<'PY'
import json, sys
try:
    reach = json.load(open(sys.argv[1])).get("reach") or {}
except ValueError:
    reach = {}
counts = {"graph": "graph_launches", "pool": "allocations_reused", "fewer-waits": "waits_left_out",
		"pinned": "copies_staged copies_registered"}
print(*[name for name, count in counts.items() if any(reach.get(one) for one in count.split())])
PY
}

all=("${strategies[@]/#/--}")
while IFS='|' read -r run program arguments; do
	[ -x "$programs/$program" ] && ((SECONDS < limit_s)) || continue
	# shellcheck disable=SC2086 # arguments are words
	trial "$run" all "${all[@]}" --repeats 2 --warmup 0 -- "$programs/$program" $arguments
	for strategy in $(reached "$out/$run.all.json"); do
		[[ " ${strategies[*]} " == *" $strategy "* ]] && ((SECONDS < limit_s)) || continue
		# Whole graphs, as recording their nodes slows graphs down.
		# shellcheck disable=SC2086
		ROOFLINE_GRAPHS=graph trial "$run" "$strategy" "--$strategy" --repeats 3 --warmup 0 --record "$scratch/recorded" -- \
			"$programs/$program" $arguments
		rm -rf "${scratch:?}/recorded"
	done
done < <(rows)
echo "$(find "$out" -name '*.json' | wc -l) trials in $SECONDS s"
