#!/usr/bin/env bash
# A job of several GPUs, as one process and as a process a rank: what the report says of communication, waits and late ranks
# is what known_delays was built to have; ranks, communicators and sizes are those that there were; and a rank that hangs, takes
# another order or was not recorded is named.
#
#   GPUS="2 4" tests/gpu/check_job.sh     how many GPUs are tried; 2 and all of them when not given
#   KEEP=DIR                              leaves the recordings with their truth and report in DIR, packed
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl
delays=$programs/known_delays
python=${PYTHON:-python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container
mpirun=(mpirun --oversubscribe --bind-to none)

# ran SECONDS COMMAND...: its output in $scratch/out and $scratch/err
ran() {
	timeout -k 5 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# ended_well SECONDS COMMAND...: into a new $recording
ended_well() {
	local code
	rm -rf "$recording"
	ran "$@"
	code=$?
	[ $code -eq 0 ] && return
	echo "# exit code $code (124: too long)"
	shown "$scratch/err" "$scratch/out"
	return 1
}

# of_ranks KEY: what process.csv has of each process that has a rank, by rank
of_ranks() {
	local file
	for file in "$recording"/*/process.csv; do
		sed -nE "s/^rank,(.*)/\1/p" "$file" | tr '\n' ' '
		sed -nE "s/^$1,(.*)/\1/p" "$file"
	done | sort -n | grep -E '^[0-9]+ ' | cut -d' ' -f2- | xargs
}

# has_ranks COUNT: a process for each rank, each of which knows how many there are, and is on a GPU of its own
has_ranks() {
	equal "$(seq 0 $(($1 - 1)) | xargs)" "$(of_ranks rank)" &&
		equal "$(yes "$1" | head -n "$1" | xargs)" "$(of_ranks world_size)" &&
		equal "$1" "$("$tool" report -f csv -s job "$recording" | tail -n +2 | wc -l)"
}

# last_communicators: the last row of each process that made one; a launcher's own process made none
last_communicators() {
	awk 'FNR > 1 { last[FILENAME] = $0 } END { for (file in last) print last[file] }' "$recording"/*/communicators.csv
}

# has_communicators COUNT: one, of which each process has its own rank
has_communicators() {
	equal "$(for ((rank = 0; rank < $1; rank++)); do echo "$rank,$1"; done | xargs)" \
		"$(last_communicators | cut -d, -f4,5 | sort -n | xargs)" &&
		equal 1 "$(last_communicators | cut -d, -f3 | sort -u | wc -l)"
}

# keep NAME: of the last recording
keep() {
	[ -n "${KEEP:-}" ] || return 0
	mkdir -p "$KEEP"
	"$tool" pack --level 19 "$recording" -o "$KEEP/$1.roofline" >/dev/null 2>&1
	grep -q '"ranks"' "$scratch/out" && cp "$scratch/out" "$KEEP/$1.truth.json"
	"$tool" report "$recording" --range delays -s job,collectives,message_sizes >"$KEEP/$1.txt" 2>&1
}

# agrees WHAT: with what known_delays has printed, figure by figure, where it was recorded
agrees() {
	local figure
	[ -d "$recording" ] || return 0
	"$tool" report -f json -s job,collectives --range delays "$recording" >"$scratch/report" 2>"$scratch/complaint" ||
		shown "$scratch/complaint"
	sed -nE 's/.*("clock_error_ns": [0-9]+).*/# \1/p' "$scratch/out"
	for figure in count exposed overlapped wait last caused kernels host copies skew; do
		check "$1: $(meaning $figure)" "$python" tests/gpu/known_delays.py "$scratch/out" \
			"$scratch/report" $figure
	done
}

# meaning FIGURE: of known_delays.py, in words
meaning() {
	case $1 in
	count) echo "each collective is matched on all ranks" ;;
	exposed) echo "exposed communication of each rank is within 5%" ;;
	overlapped) echo "communication beside computation is within 5%" ;;
	wait) echo "how long each rank waits is within 5%" ;;
	last) echo "how often each rank is the last is right" ;;
	caused) echo "how long the others wait for each rank is within 5%" ;;
	kernels | host | copies) echo "what of that is because of its $1 is within 5%" ;;
	skew) echo "the median skew is within 5%" ;;
	esac
}

# says SECTION WORDS: the report of $recording has them, whatever the width of its lines
says() {
	"$tool" report "$recording" -s "$1" 2>&1 | tr -s ' \n' ' ' >"$scratch/text"
	grep -qE -- "$2" "$scratch/text" && return
	fold -s -w 110 "$scratch/text" | sed 's/^/#   /'
	echo
	return 1
}

in_one_process() {
	check "$1 GPUs of one process: they are recorded" ended_well 60 \
		"$tool" record -o "$recording" -- "$delays" --gpus "$1"
	check "$1 GPUs of one process: nothing is lost" equal "" "$(lost | xargs)"
	agrees "$1 GPUs of one process"
	keep "known_delays.$1.one_process"
}

by_mpirun() {
	check "mpirun -n $1: the ranks are recorded" ended_well 60 \
		"${mpirun[@]}" -n "$1" "$tool" record -o "$recording" -- "$delays"
	check "mpirun -n $1: nothing is lost" equal "" "$(lost | xargs)"
	check "mpirun -n $1: each rank is there, with its number and that of all" has_ranks "$1"
	check "mpirun -n $1: one communicator, in which each process has its rank" has_communicators "$1"
	agrees "mpirun -n $1"
	keep "known_delays.$1.mpirun"
}

# by_torchrun COUNT NAME FRONT... -- BEHIND...: with record before the launcher, or behind it
by_torchrun() {
	local count=$1 name=$2 front=() torchrun
	shift 2
	while [ "$1" != -- ]; do front+=("$1") && shift; done
	shift
	torchrun=("$python" -m torch.distributed.run --standalone --nproc-per-node "$count" --no-python)
	check "$name: the ranks are recorded" ended_well 90 "${front[@]}" "${torchrun[@]}" "$@" "$delays" --steps 20
	check "$name: each rank is there, with its number and that of all" has_ranks "$count"
	check "$name: one communicator, in which each process has its rank" has_communicators "$count"
}

# collectives_of COUNT: nccl_calls as so many ranks, recorded as one job
collectives_of() {
	rm -rf "$scratch/id"
	# shellcheck disable=SC2016 # of each rank
	ended_well 60 "${mpirun[@]}" -n "$1" "$tool" record -o "$recording" -- bash -c \
		'exec "$0" "$OMPI_COMM_WORLD_RANK" "$OMPI_COMM_WORLD_SIZE" "$1"' "$programs/nccl_calls" "$scratch/id"
}

# sizes_are_told COUNT: each size that nccl_calls asks for has its calls on all ranks, all timed, and a bandwidth
sizes_are_told() {
	"$tool" report -f json -s message_sizes "$recording" >"$scratch/sizes"
	"$python" - "$scratch/sizes" "$1" <<-'END'
		import json, sys
		ranks = int(sys.argv[2])
		rows = {(row["operation"], row["bytes"]): row for row in json.load(open(sys.argv[1]))["message_sizes"]["sizes"]}
		wanted = {("AllReduce", 4000): 1, ("AllGather", 1024): 1, ("ReduceScatter", 512): 1, ("Broadcast", 256): 1,
		          ("Reduce", 128): 1, ("AllReduce", 2048): 2, ("AllReduce", 1 << 20): 20}
		wrong = [f"{key}: {rows.get(key)}" for key, calls in wanted.items()
		         if key not in rows or rows[key]["count"] != calls * ranks or rows[key]["timed_count"] != calls * ranks
		         or rows[key]["rank_count"] != ranks or not rows[key]["median_ns"] > 0 or not rows[key]["bus_byte_per_s"] > 0]
		print("\n".join(f"# {text}" for text in wrong), end="\n" if wrong else "")
		sys.exit(bool(wrong))
	END
}

# cut_off COUNT RANK: that rank does not come to the last collective, and all are ended by a signal
cut_off() {
	rm -rf "$recording"
	! ran 15 "${mpirun[@]}" -n "$1" "$tool" record -o "$recording" -- "$delays" --steps 8 --limit-s 100 --hang "$2"
}

# names_who_hangs RANK OTHERS: else it is told what was written of each rank, and until when
names_who_hangs() {
	local folder
	says job "rank $1 had not asked for collective [0-9]+ of .*; it is what $2 asked for" && return
	for folder in "$recording"/*/; do
		echo "# $(sed -n 's/^rank,/rank /p' "$folder/process.csv"): asked $(($(wc -l <"$folder/collectives.csv") - 1))" \
			"times, last at $(tail -n 1 "$folder/collectives.csv" | cut -d, -f1)," \
			"$(wc -l <"$folder/kernels.csv") kernels, $(wc -l <"$folder/clocks.csv") clocks," \
			"last at $(tail -n 1 "$folder/clocks.csv" | cut -d, -f1)"
	done
	return 1
}

# given_up COUNT RANK: the same in one process, which ends itself
given_up() {
	rm -rf "$recording"
	ran 60 "$tool" record -o "$recording" -- "$delays" --gpus "$1" --steps 8 --limit-s 4 --hang "$2"
	equal 1 $? && grep -q "rank $2 of $1 .*does not come to the last collective" "$scratch/err"
}

# without_rank COUNT RANK: that one runs without a recorder
without_rank() {
	# shellcheck disable=SC2016 # of each rank
	ended_well 60 "${mpirun[@]}" -n "$1" bash -c \
		'rank=$1 && shift && [ "$OMPI_COMM_WORLD_RANK" != "$rank" ] || exec "${@: -3}"; exec "$0" "$@"' \
		"$tool" "$2" record -o "$recording" -- "$delays" --steps 8
}

# what_is_wrong COUNT: is named with the ranks
what_is_wrong() {
	local last=$(($1 - 1)) others
	others=$(for ((rank = 0; rank < last; rank++)); do echo "rank $rank"; done | paste -sd, | sed 's/,/, /g')
	check "a rank that hangs: the program does not end" cut_off "$1" $last
	check "it is named, and those that wait for it, from what a signal cut off" names_who_hangs "$last" "$others"
	keep "known_delays.$1.cut_off"
	check "a program that gives up by itself says who hangs" given_up "$1" $last
	check "it is named: it asks for nothing where the others do" says job \
		"differ in collective [0-9]+: GPU 0 asks for AllReduce of [0-9.]+ MiB, and GPU $last asks for nothing"
	check "two reductions in another order: the program ends" ended_well 60 \
		"$tool" record -o "$recording" -- "$delays" --gpus "$1" --steps 8 --swap $last
	check "they are named with the rank" says job "differ in collective [0-9]+: GPU 0 asks for .*, and GPU $last asks for"
	[ "$1" -gt 2 ] || { skip "a rank that was not recorded is named" "needs three GPUs"; return; }
	check "a rank that was not recorded: the others are" without_rank "$1" 1
	check "it is named" says job "1 of $1 ranks is not in the recording: 1 "
}

gpus=$(gpu_count)
ran 60 "$delays" --steps 4
code=$?
if [ "$gpus" -lt 2 ] || [ $code -eq 3 ]; then
	skip "jobs of several GPUs" "$(sed -n 's/^known_delays: skipped: //p' "$scratch/err" | grep . || echo "needs two GPUs")"
	finish
	exit
fi
check "the program runs without a recorder" equal 0 $code
shown "$scratch/err"
read -ra counts <<<"${GPUS:-$(printf '2\n%d\n' "$gpus" | sort -nu | xargs)}"
for count in "${counts[@]}"; do in_one_process "$count"; done
if command -v mpirun >/dev/null; then
	for count in "${counts[@]}"; do by_mpirun "$count"; done
	check "mpirun -n $gpus: NCCL's calls are recorded" collectives_of "$gpus"
	check "each size has its calls on all ranks, their median and a bandwidth" sizes_are_told "$gpus"
	"$tool" report -s message_sizes "$recording" | sed 's/^/# /'
	what_is_wrong "$gpus"
else
	skip "a process a rank" "no mpirun here (openmpi-bin)"
fi
if "$python" -c 'import torch.distributed.run' 2>/dev/null; then
	by_torchrun "$gpus" "record behind torchrun" -- "$tool" record -o "$recording" --
	by_torchrun "$gpus" "record before torchrun" "$tool" record -o "$recording" -- --
else
	skip "torchrun" "no PyTorch here"
fi
finish
