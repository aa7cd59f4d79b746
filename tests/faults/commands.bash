# commands.bash - every command that needs no GPU, in every format, for the faults that this folder tries with each.
#
# each_command FUNCTION calls FUNCTION ARGUMENT... for each, in an empty folder of its own: what it writes there and to stdout
# is its output.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BUILD:-$root/build}
program=$BUILD/bin/rooflinectl
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
mkdir "$there/tmp" "$there/given"
export TMPDIR=$there/tmp XDG_DATA_HOME=$there/none NO_COLOR=1
bad_count=0
given=$there/given # what commands are given

prepare() {
	"$program" unpack "$root/tests/recordings/graph_chain.naive.roofline" -o "$given/folder"
	local process
	process=$(echo "$given"/folder/*)
	python3 "$root/tests/tools/make_foreign.py" nsys "$process" "$given/nsys.sqlite"
	python3 "$root/tests/tools/make_foreign.py" kineto "$process" "$given/kineto.json"
	"$program" unpack "$root/tests/recordings/work_queue.naive.counted.roofline" -o "$given/counted"
	python3 "$root/tests/tools/make_foreign.py" ncu "$given"/counted/* "$given/ncu.csv"
	python3 "$root/tests/tools/make_job.py" "$given/job" --ranks 2 --steps 8 --nccl 4096
	"$program" summarize "$given/job" -o "$given/summary"
	prepare_try
}

# The library that strategies are tried by is a stand-in.
prepare_try() {
	mkdir -p "$given/tree/bin" "$given/tree/lib"
	cp "$program" "$given/tree/bin/"
	program=$given/tree/bin/rooflinectl
	ln -s "$BUILD/share" "$given/tree/share"
	ln -s "$BUILD/tests/tools/libfake_try.so" "$given/tree/lib/librooflinetry.so"
	export FAKE_TRY_PROCESS=bash FAKE_TRY_ROWS="launches_seen,1000 launches_deferred,900 passed:new_size,7"
}

each_command() {
	local do=$1 recordings=$root/tests/recordings format
	local ceilings=("$root"/ceilings/NVIDIA_H200*.json) naive=$recordings/graph_chain.naive.roofline
	local graph=$recordings/graph_chain.graph.roofline counted=$recordings/atomic_batch.naive.roofline
	for format in text json csv; do
		$do report --format $format "$recordings/syncs.roofline"
		$do report --format $format --section roofline "$counted"
		$do whatif --format $format --graph "$naive"
		$do scale --format $format --gradients 1M "$naive"
		$do verify --format $format "$naive" "$graph"
		$do compare --format $format "$naive" "$graph"
		$do report --format $format --section collectives "$given/job"
		$do report --format $format --section message_sizes "$given/job"
		$do summarize --format $format "$recordings/collectives.ordered.roofline"
	done
	$do report --format json "$given/job"
	$do whatif --format json --peer-copy "$recordings/p2p_overlap.naive.roofline"
	$do verify --format json "$root/tests/pairs/graph_chain.naive.roofline" "$root/tests/pairs/graph_chain.graph.roofline"
	$do compare --html page.html "$naive" "$graph"
	$do summarize -o summary "$given/job"
	$do merge -o merged "$given/summary"
	$do merge --format json "$given/summary"
	$do try --graph -r 1 --warmup 0 --check-memory --quiet --format json -- bash -c 'echo sum 42'
	$do report --format json "$recordings/work_queue.naive.sampled.roofline"
	$do report -o report.txt "$recordings/nvtx_ranges.roofline"
	$do report --html page.html "$recordings/syncs.roofline"
	$do advise "$recordings/nvtx_ranges.roofline"
	for format in perfetto chrome sqlite speedscope; do
		$do export --format $format -o exported "$recordings/syncs.roofline"
	done
	$do import -o made "$given/nsys.sqlite"
	$do import -o made "$given/kineto.json"
	$do import -o made "$given/nsys.sqlite" "$given/ncu.csv"
	$do import -o made "$recordings"/foreign/rocprofv3/4711_*.csv
	$do pack -o made.roofline "$given/folder"
	$do pack --from 1ms --to 2ms -o part.roofline "$given/folder"
	$do unpack -o made "$naive"
	$do ceilings --show "${ceilings[0]}"
	$do ceilings --show --format json "${ceilings[0]}"
	for format in bash zsh fish; do
		$do completion $format
	done
	$do workloads
	command -v gnuplot >/dev/null || return
	$do plot --format term "$recordings/syncs.roofline" timeline
	$do plot whatif --format term --graph "$naive"
	for format in svg png; do
		$do plot --format $format "$recordings/syncs.roofline" kernels -o charts
	done
	$do plot --format term "$given/job" job
	$do plot --format svg "$given/job" job -o charts
	$do demo
}

# in_folder COMMAND...: in an empty folder; its exit code, with stdout and stderr beside it
in_folder() {
	rm -rf "$there/work" && mkdir "$there/work"
	run_there "$@"
}

# run_there COMMAND...: what it says goes through a pipe, which has no size that is limited
run_there() {
	(
		cd "$there/work" || exit
		{
			timeout 60 "$@" >"$there/out"
			echo $? >"$there/code"
		} 2>&1 | cat >"$there/err"
	)
	# Not by what bash knows of its children: after some ten thousand of them their numbers come again.
	return "$(<"$there/code")"
}

# keep_good: what the last one wrote is what all others are compared with
keep_good() {
	rm -rf "$there/good"
	mv "$there/work" "$there/good"
	mv "$there/out" "$there/good.out"
}

# is_same FILE: as the good one; what is packed holds the same, for zstd does with less memory where there is no more
is_same() {
	cmp -s "$there/work/$1" "$there/good/$1" && return
	[[ $1 == *.roofline ]] && cmp -s <(zstd -dcq "$there/work/$1") <(zstd -dcq "$there/good/$1")
}

# is_whole: each file that is there is one of the good ones
is_whole() {
	local file
	while IFS= read -r file; do
		is_same "$file" || return
	done < <(cd "$there/work" && find . -type f)
	[ -z "$(ls -A "$there/tmp")" ]
}

# is_all_there: no file and no folder is missing
is_all_there() {
	cmp -s <(cd "$there/good" && find . | sort) <(cd "$there/work" && find . | sort)
}

# text_of FILE COMMAND: what is the same each time; try measures times, so of its answer the keys
text_of() {
	if [ "$2" = try ]; then grep -o '"[a-z_]*":' "$1"; else cat "$1"; fi
}

# is_right CODE COMMAND: a failure told on one line, with no file that is not whole; or all that it writes as ever
is_right() {
	is_whole || return
	if [ "$1" -eq 1 ]; then
		[ "$2" = demo ] || [ "$(wc -l <"$there/err")" -eq 1 ] # demo runs commands, each of which may tell
	else
		[ "$1" -eq "$good_code" ] && cmp -s <(text_of "$there/out" "$2") <(text_of "$there/good.out" "$2") && is_all_there
	fi
}

# judge WHAT CODE COMMAND: counts and tells what is not right
judge() {
	is_right "$2" "$3" && return
	bad_count=$((bad_count + 1))
	echo "$1: $3: exit $2, $(cmp "$there/out" "$there/good.out" 2>&1 | head -1)," \
		"$(diff -rq "$there/good" "$there/work" | head -1), left: $(ls -A "$there/tmp")," "$(head -c 300 "$there/err")"
	rm -rf "$there"/tmp/*
}
