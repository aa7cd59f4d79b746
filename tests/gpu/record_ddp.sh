#!/usr/bin/env bash
# record_ddp.sh - tests/gpu/ddp.py on two GPUs, and on four where there are so many: measured without the collector, recorded,
# and traced by PyTorch's profiler.  Needs two GPUs and PyTorch; takes about 2 minutes on four GPUs, at most 5.
#
#   OUT=FOLDER tests/gpu/record_ddp.sh     # FOLDER/ddp.tar.xz has all, in the places where the project keeps it
#
# In it are docs/results/ddp-GPUS.txt, tests/recordings/ddp.MODE.GPUS.roofline, and the profiler's traces in kineto/, which
# tests/bench/beside_hta.py compares.  The modes are measured in turns, in one process a GPU.  Where there are four GPUs, two
# recordings of two are made side by side.  What fails is told and left out.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=${BUILD:-$PWD/build}
out=$(realpath -m "${OUT:-$build/ddp}")
python=${PYTHON:-python3}
begin_s=${BEGIN_S:-150} # later no further run is begun
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
all=$out/all
failed=()

if [ "$gpus" -lt 2 ]; then
	echo "skipped: needs two GPUs, and there are $gpus"
	exit 0
fi
rm -rf "$all"
mkdir -p "$all/docs/results" "$all/tests/recordings" "$all/kineto" || exit 1

# step NAME COMMAND...: with a time limit; what it prints is shown where it fails
step() {
	local name=$1 code=0 from=$SECONDS
	shift
	if [ "$SECONDS" -ge "$begin_s" ]; then
		echo "left out after $SECONDS s: $name"
		return 1
	fi
	timeout -k 5 100 "$@" >"$out/$name.log" 2>&1 </dev/null || code=$?
	echo "$name: $((SECONDS - from)) s, exit code $code"
	[ $code -eq 0 ] || tail -n 15 "$out/$name.log" | sed 's/^/  /'
	return $code
}

# measure GPUS
measure() {
	RESULTS=$all/docs/results step "measure.$1" docs/results/measure.sh "ddp-$1" "$python" tests/gpu/ddp.py --gpus "$1" --limit-s 90 &&
		grep -qx 'exit code 0' "$all/docs/results/ddp-$1.txt"
}

# record MODE GPUS
record() {
	local name=ddp.$1.$2 code=0
	rm -rf "${out:?}/$name"
	step "record.$1.$2" "$build/bin/rooflinectl" record -o "$out/$name" -- \
		"$python" tests/gpu/ddp.py --modes "$1" --gpus "$2" --steps 10 --repeats 1 --limit-s 90 || code=$?
	[ -d "$out/$name" ] || return 1
	"$build/bin/rooflinectl" pack --level 19 "$out/$name" -o "$all/tests/recordings/$name.roofline" &&
		rm -r "${out:?}/$name" && return $code
}

# profile GPUS
profile() {
	step "profile.$1" "$python" tests/gpu/ddp.py --modes one,buckets --gpus "$1" --steps 10 --limit-s 90 --kineto "$all/kineto"
}

# try COMMAND...: what fails is remembered, and goes on
try() {
	"$@" || failed+=("$*")
}

# on GPUS COMMAND...
on() {
	CUDA_VISIBLE_DEVICES=$1 "${@:2}"
}

# beside COMMAND -- COMMAND: the second on GPUs 2 and 3, where there are, at the same time
beside() {
	local first=() other code=0
	while [ "$1" != -- ]; do
		first+=("$1")
		shift
	done
	shift
	if [ "$gpus" -lt 4 ]; then
		try on 0,1 "${first[@]}"
		try on 0,1 "$@"
		return
	fi
	on 2,3 "$@" &
	other=$!
	try on 0,1 "${first[@]}"
	wait $other || code=$?
	[ $code -eq 0 ] || failed+=("$*")
}

try on 0,1 measure 2
beside record one 2 -- record buckets 2
beside record tiny 2 -- profile 2
if [ "$gpus" -ge 4 ]; then
	export CUDA_VISIBLE_DEVICES=0,1,2,3
	try measure 4
	try record one 4
	try profile 4
	try record buckets 4
	try record tiny 4
fi
shopt -s nullglob
cat "$all"/docs/results/*.txt </dev/null
for recording in "$all"/tests/recordings/*.roofline; do
	echo
	echo "${recording##*/}, $(stat -c %s "$recording") bytes"
	timeout 60 "$build/bin/rooflinectl" report --section job "$recording" --range run || failed+=("report of $recording")
done
ls -l "$all/kineto"
tar -C "$all" -cJf "$out/ddp.tar.xz" . && rm -r "$all"
echo "$SECONDS s; failed: ${failed[*]:-nothing}; all is in $out/ddp.tar.xz, $(stat -c %s "$out/ddp.tar.xz") bytes"
rm -f "$out"/*.log
