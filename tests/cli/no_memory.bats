#!/usr/bin/env bats
# A single allocation that fails, in some of all the places: tests/faults/no_memory.sh (make faults) tries many more.
load common

@test "a command that finds no memory for something says so on one line, or answers as ever" {
	[[ $BUILD != */sanitized ]] || skip "the sanitizer's allocator cannot be replaced"
	run "$root/tests/faults/no_memory.sh" 2
	[ "$status" -eq 0 ] || { grep -v " failed$" <<<"$output"; false; }
}
