#!/bin/bash
# Runs every program of a labels.csv bare and recorded, and brings the recordings back small.
#
#   tests/corpus/record.sh PROGRAMS OUT [SECONDS]
#
# PROGRAMS is a folder with the programs, by the column `program`, and the data that their arguments name, or
# an archive of it (.tar.xz).  OUT gets runs.tsv, a line for each run, and the packed recordings in
# recordings.1.tar and on, the smallest first, at most PIECES of PIECE_MIB each.  After SECONDS (150) nothing new
# is begun: first each program runs bare and with a trace, then what the column `record` names runs with counters
# and with samples, then all run bare a second time.  One at a time: they are timed.  README.md says what the
# columns mean.
#
# Environment: BUILD (of rooflinectl), ROWS (folder with labels.csv; this one), ONLY (an extended regular
# expression of runs), EACH_S (limit of one run, 10), PIECES (3), PIECE_MIB (15).  Needs a GPU, python3.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
labels=${ROWS:-$root/tests/corpus}/labels.csv
tool=${BUILD:-$root/build}/bin/rooflinectl
# what rooflinectl asks for where it recommends to count
counters=roofline,atomics,shared,global,sm
each_s=${EACH_S:-10} piece_count=${PIECES:-3} piece_bytes=$((${PIECE_MIB:-15} << 20))

(($# == 2 || $# == 3)) || {
	echo "usage: $0 PROGRAMS OUT [SECONDS]" >&2
	exit 2
}
mkdir -p "$2"
out=$(cd "$2" && pwd)
limit_s=${3:-150}
tool=$(realpath "$tool")
# shellcheck source=tests/corpus/programs.bash
. "$(dirname "$0")/programs.bash"
programs_open "$1"
mkdir "$scratch/recorded" "$scratch/packed" "$scratch/said"

# run, program, arguments, record; by bars, which no column has
rows() {
	python3 - "$labels" "${ONLY:-.}" <<'PY'
import csv, re, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    if re.search(sys.argv[2], row["run"]):
        print(row["run"], row["program"], row["arguments"], row["record"], sep="|")
PY
}

# What a program says differs from run to run in its figures alone.
words_of() { sed -E 's/[-+]?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?/#/g; s/ +/ /g' "$1" | cksum; }

has_time() { ((SECONDS < limit_s)); }

# run_once RUN WAY COMMAND...: a line of runs.tsv
run_once() {
	local run=$1 way=$2 begin end status=0 same=- bytes=0
	shift 2
	begin=$EPOCHREALTIME
	{
		(cd "$scratch/cwd" && exec timeout -k 1 "$each_s" "$@") >"$scratch/said/$run.$way" \
			2>"$scratch/complained" </dev/null || status=$?
	} 2>/dev/null # where bash tells of signals
	end=$EPOCHREALTIME
	if [ "$way" != bare ] && [ -f "$scratch/said/$run.bare" ]; then
		same=no
		[ "$(words_of "$scratch/said/$run.bare")" != "$(words_of "$scratch/said/$run.$way")" ] || same=yes
	fi
	[ ! -d "$scratch/recorded/$run.$way" ] || bytes=$(du -sb "$scratch/recorded/$run.$way" | cut -f1)
	printf '%s\t%s\t%d\t%.4f\t%s\t%d\t%s\n' "$run" "$way" "$status" \
		"$(awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }')" "$same" "$bytes" \
		"$(tail -n 1 "$scratch/complained" | tr -c '[:print:]' ' ' | cut -c1-120)" >>"$out/runs.tsv"
}

pack() {
	[ -d "$scratch/recorded/$1" ] || return 0
	nice "$tool" pack -o "$scratch/packed/$1.roofline" "$scratch/recorded/$1" >/dev/null 2>&1 || true
	rm -rf "${scratch:?}/recorded/$1"
}

# record_once RUN WAY OPTION... -- COMMAND...: packed while the next one runs
record_once() {
	local run=$1 way=$2
	shift 2
	run_once "$run" "$way" "$tool" record -o "$scratch/recorded/$run.$way" "$@"
	pack "$run.$way" &
}

printf 'run\tway\texit\tseconds\tsame_words\tbytes\tlast_words\n' >"$out/runs.tsv"
rows >"$scratch/rows"
mapfile -t all <"$scratch/rows"

# for_all FUNCTION: while there is time
for_all() {
	local row run program arguments record
	for row in "${all[@]}"; do
		has_time || return 0
		IFS='|' read -r run program arguments record <<<"$row"
		[ -x "$programs/$program" ] || continue
		# shellcheck disable=SC2086 # arguments are words
		"$1" "$run" "$record" "$programs/$program" $arguments
	done
}

# A program that takes long is not run bare again.
declare -A is_slow=()
bare_and_traced() {
	local run=$1 begin=$SECONDS
	shift 2
	run_once "$run" bare "$@"
	((SECONDS - begin <= 4)) || is_slow[$run]=1
	record_once "$run" trace -- "$@"
}
counted() {
	[[ $2 == *counters* ]] || return 0
	record_once "$1" counters "--counters=$counters" -- "${@:3}"
}
sampled() {
	[[ $2 == *sample* ]] || return 0
	record_once "$1" sample --sample -- "${@:3}"
}
bare_again() { [ -n "${is_slow[$1]:-}" ] || run_once "$1" bare_again "${@:3}"; }

for_all bare_and_traced
for_all counted
for_all sampled
for_all bare_again
programs_close
wait

# The smallest first: many programs are worth more than one with millions of operations.
piece=1 used=0
while read -r size name; do
	if ((used + size + 1024 > piece_bytes)); then
		piece=$((piece + 1)) used=0
	fi
	if ((piece > piece_count || size + 1024 > piece_bytes)); then
		printf '%s\tleft\t0\t0\t-\t%d\t\n' "${name%.roofline}" "$size" >>"$out/runs.tsv"
		continue
	fi
	tar -rf "$out/recordings.$piece.tar" -C "$scratch/packed" "$name"
	used=$((used + size + 1024))
done < <(find "$scratch/packed" -name '*.roofline' -printf '%s %f\n' | sort -n)
echo "$(($(wc -l <"$out/runs.tsv") - 1)) runs of ${#all[@]} rows in $SECONDS s," \
	"$(find "$scratch/packed" -name '*.roofline' | wc -l) recordings"
