#!/usr/bin/env bats
# A single allocation that fails, in some of all the places: tests/bench/no_memory.sh tries them all.
load common

@test "a command that finds no memory for something says so on one line, or answers as ever" {
	[[ $BUILD != */sanitized ]] || skip "the sanitizer's allocator cannot be replaced"
	run "$root/tests/bench/no_memory.sh" 3
	[ "$status" -eq 0 ]
}
