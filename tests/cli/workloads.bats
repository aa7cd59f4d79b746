#!/usr/bin/env bats
# The command that lists and starts workloads, and the command line that the workloads share.
# No GPU is used: CUDA_VISIBLE_DEVICES hides it where there is one.

load common

workload_names() {
	sed -n 's/^\tWORKLOAD(\([a-z0-9_]*\),.*/\1/p' "$root/workloads/workloads.h"
}

setup() {
	programs="$BUILD/lib/rooflinectl/workloads"
	# A house of our own, where we decide which workloads are built.
	house="$BATS_TEST_TMPDIR/house"
	mkdir -p "$house/bin" "$house/lib/rooflinectl/workloads"
	cp "$ROOFLINECTL" "$house/bin/"
	export CUDA_VISIBLE_DEVICES=-1
}

need_programs() {
	[ -x "$programs/work_queue" ] || skip "the workloads were not built: no CUDA toolkit"
}

# run_split COMMAND...: run, with stdout in $output and stderr in $complaint
run_split() {
	complaint_file="$BATS_TEST_TMPDIR/complaint"
	run bash -c '"$@" 2>"$0"' "$complaint_file" "$@"
	complaint="$(cat "$complaint_file")"
}

# architectures PROGRAM: what code it carries for GPUs, such as "ELF 80", "PTX 90"; a program in Python has none
architectures() {
	python3 - "$1" <<'END'
import struct, sys

data = open(sys.argv[1], "rb").read()
magic = b"\x50\xed\x55\xba"
at = data.find(magic)
while at >= 0:  # a container of code: magic, version, length of this header, length of what follows
    _, version, header, size = struct.unpack_from("<IHHQ", data, at)
    entry, end = at + header, at + header + size
    while version == 1 and entry + 32 <= end <= len(data):
        kind, _, skip, length = struct.unpack_from("<HHIQ", data, entry)
        (chip,) = struct.unpack_from("<I", data, entry + 28)
        print({1: "PTX", 2: "ELF"}.get(kind, "other"), chip)
        entry += skip + length
    at = data.find(magic, at + 4)
END
}

@test "each program has machine code for Hopper, and PTX for what comes after" {
	need_programs
	for program in "$programs"/* "$BUILD/lib/rooflinectl/ceilings"/*; do
		[[ $(head -c 4 "$program") = $'\x7fELF' ]] || continue
		found=$BATS_TEST_TMPDIR/architectures
		architectures "$program" | sort -u >"$found"
		grep -qx "ELF 90" "$found" && grep -qx "PTX 90" "$found" || {
			echo "$program has $(xargs <"$found")"
			false
		}
	done
}

@test "the list names every workload once, under its technique, and marks the controls" {
	run "$ROOFLINECTL" workloads
	[ "$status" -eq 0 ]
	names="$(workload_names)"
	[ -n "$names" ]
	for name in $names; do
		[ "$(grep -c "^  $name " <<<"$output")" -eq 1 ]
	done
	[ "${lines[0]}" = "work queues and atomics" ]
	grep -q '^  work_queue_mild .*(control)$' <<<"$output"
	! grep -q '^  work_queue .*(control)$' <<<"$output"
}

@test "--list and no argument say the same" {
	run "$ROOFLINECTL" workloads
	bare="$output"
	run "$ROOFLINECTL" workloads --list
	[ "$status" -eq 0 ]
	[ "$output" = "$bare" ]
}

@test "every workload in the list has its source and its page" {
	for name in $(workload_names); do
		[ -f "$root/workloads/$name.cu" ] || [ -f "$root/workloads/$name.py" ]
		grep -q '^## Measured$' "$root/docs/workloads/$name.md"
	done
}

@test "a misspelt workload is usage, one line, with the nearest name" {
	run_split "$ROOFLINECTL" workloads wrok_queue
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$complaint" = "rooflinectl workloads: no workload 'wrok_queue'; did you mean 'work_queue'?" ]
}

@test "a name like none of ours is not given a suggestion" {
	run_split "$ROOFLINECTL" workloads zzz
	[ "$status" -eq 2 ]
	[ "$complaint" = "rooflinectl workloads: no workload 'zzz'; rooflinectl workloads lists them" ]
}

@test "a very long name is refused like any other" {
	run_split "$ROOFLINECTL" workloads "$(printf 'x%.0s' {1..5000})"
	[ "$status" -eq 2 ]
	[ "$(wc -l <"$complaint_file")" -eq 1 ]
}

@test "an option that the command lacks is usage, one line" {
	run_split "$ROOFLINECTL" workloads --frob
	[ "$status" -eq 2 ]
	[ "$(wc -l <"$complaint_file")" -eq 1 ]
	[[ "$complaint" == *"--frob"* ]]
}

@test "--help is an answer on stdout" {
	run_split "$ROOFLINECTL" workloads --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"Usage: rooflinectl workloads"* ]]
	[ -z "$complaint" ]
}

@test "a workload that was not built fails with one line that names the file and the remedy" {
	run_split "$house/bin/rooflinectl" workloads graph_chain
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ "$(wc -l <"$complaint_file")" -eq 1 ]
	[[ "$complaint" == *"$house/lib/rooflinectl/workloads/graph_chain is missing"* ]]
	[[ "$complaint" == *"install the CUDA toolkit"* ]]
}

@test "a workload that cannot be executed fails with the system's reason" {
	echo 'no program' >"$house/lib/rooflinectl/workloads/graph_chain"
	run_split "$house/bin/rooflinectl" workloads graph_chain
	[ "$status" -eq 1 ]
	[[ "$complaint" == *"cannot start"*"Permission denied"* ]]
}

@test "all that follows the name reaches the workload, and its exit code comes back" {
	cat >"$house/lib/rooflinectl/workloads/graph_chain" <<-'END'
		#!/bin/bash
		printf '<%s>' "$@"
		exit 42
	END
	chmod +x "$house/lib/rooflinectl/workloads/graph_chain"
	run "$house/bin/rooflinectl" workloads graph_chain naive --list --size "1 2"
	[ "$status" -eq 42 ]
	[ "$output" = "<naive><--list><--size><1 2>" ]
}

@test "the first variant of every workload is called naive" {
	need_programs
	for name in $(workload_names); do
		run "$ROOFLINECTL" workloads "$name" --list
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "naive "* ]]
		[ "${#lines[@]}" -ge 2 ]
	done
}

@test "without a GPU every workload is skipped with one line and success" {
	need_programs
	for name in $(workload_names); do
		run_split "$programs/$name"
		[ "$status" -eq 0 ]
		[[ "$output" == "$name: skipped: "* ]]
		[ "$(wc -l <<<"$output")" -eq 1 ]
		[ -z "$complaint" ]
	done
}

@test "without a GPU --json says skipped too, and is JSON" {
	need_programs
	needs_command python3
	for name in $(workload_names); do
		run bash -c '"$0" --json | python3 -c "
import json, sys
answer = json.load(sys.stdin)
print(answer[\"workload\"], bool(answer[\"skipped\"]), answer[\"schema\"])"' "$programs/$name"
		[ "$output" = "$name True 1" ]
	done
}

@test "a variant that a workload lacks is usage, one line, with those it has" {
	need_programs
	run_split "$programs/work_queue" fast
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$complaint" = "work_queue: no variant 'fast'; there are naive, warp_queue, persistent" ]
}

@test "counts that are no whole numbers from 1 are usage, one line" {
	need_programs
	for option in --size --iterations --repeats; do
		for count in 0 -1 1x '' 1e3 99999999999999999999; do
			run_split "$programs/graph_chain" "$option" "$count"
			[ "$status" -eq 2 ]
			[ "$(wc -l <"$complaint_file")" -eq 1 ]
			[[ "$complaint" == "graph_chain: $option takes a whole number from 1 to "*"not '$count'" ]]
		done
	done
}

@test "two variants, unknown options and missing values are usage, one line" {
	need_programs
	for arguments in "naive graph" "--frob" "--size"; do
		run_split "$programs/graph_chain" $arguments
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$(wc -l <"$complaint_file")" -eq 1 ]
	done
}

@test "more launches from the device than CUDA allows are usage, one line, with what is allowed" {
	need_programs
	# variant, option, the most that is allowed, what the line says
	while read -r variant option most words; do
		run_split "$programs/device_graph" "$variant" "$option" "$((most + 1))"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$(wc -l <"$complaint_file")" -eq 1 ]
		[[ "$complaint" == "device_graph: $variant: "*"$words"*"give $option $most or less" ]]
		run_split "$programs/device_graph" "$variant" "$option" "$most"
		[ "$status" -eq 0 ]
		[[ "$output" == "device_graph: skipped: "* ]]
	done <<-'END'
		fire_and_forget --size 7864320 at most 120 graphs by fire and forget
		tail_queue --iterations 255 at most 255 pending tail launches
		sibling --iterations 121 at most 120 sibling graphs
	END
}

@test "a graph that relaunches itself, and all variants together, have no limit of launches" {
	need_programs
	for arguments in "tail --iterations 1000" "--iterations 1000"; do
		run_split "$programs/device_graph" $arguments
		[ "$status" -eq 0 ]
		[[ "$output" == "device_graph: skipped: "* ]]
	done
}

@test "the list of workloads is also JSON and CSV; --format before a workload is wrong" {
	cd "$BATS_TEST_TMPDIR"
	"$ROOFLINECTL" workloads >text
	"$ROOFLINECTL" workloads -f json >list.json
	"$ROOFLINECTL" workloads -f csv >list.csv
	python3 - <<-'END'
		import csv, json
		text = open("text").read()
		items = json.load(open("list.json"))["workloads"]
		rows = list(csv.DictReader(open("list.csv")))
		assert len(items) == len(rows) > 20
		for item, row in zip(items, rows):
		    assert f'  {item["name"]:21} {item["id"]:3} {item["summary"]}' in text, item
		    assert item == {**row, "is_control": row["is_control"] == "1"}, (item, row)
	END
	run "$ROOFLINECTL" workloads -f json graph_chain
	[ "$status" -eq 2 ]
	[[ "$output" == *"--format is of the list; a workload takes --json: rooflinectl workloads graph_chain --json; see "* ]]
	run bash -c "'$ROOFLINECTL' workloads -f json >/dev/full"
	[ "$status" -eq 1 ]
	[[ "$output" == "rooflinectl"*"No space left on device"* ]]
}
