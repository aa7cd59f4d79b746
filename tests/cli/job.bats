#!/usr/bin/env bats
# What report says of several ranks as one job, against jobs that tests/tools/make_job.py built: its figures are known.

bats_require_minimum_version 1.5.0
load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
}

# built OPTION...: a job, and its report as JSON
built() {
	rm -rf job
	python3 "$root/tests/tools/make_job.py" job --steps 20 "$@"
	"$ROOFLINECTL" report --format json -s job,collectives,transfers job >report.json
}

# as_built OPTION...: all figures are within 5% of what was built
as_built() {
	built "$@"
	run -0 python3 "$root/tests/tools/make_job.py" job --check <report.json
	[[ "$output" == *" ranks as they were built" ]]
}

# says SECTION TEXT: whatever the lines
says() {
	run -0 --separate-stderr "$ROOFLINECTL" report job -s "$1"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"$2"* ]]
}

@test "exposed communication, waits, skew and the critical path of equal ranks are as built" {
	as_built --ranks 3 --overlap 150000
}

@test "a rank that computes longer is late because of its kernels" {
	as_built --delay 2:kernels:300000
	says job "late rank 2 comes last in 20 of 20 collectives"
	says job "its kernels took longer (100.0%)"
	says job "computation of rank 2"
	says verdict "waiting for rank 2 takes"
}

@test "a rank whose host launches later, or that copies, is late because of that" {
	as_built --delay 1:host:400000:2 --overlap 100000
	says job "its host launched later (100.0%)"
	as_built --delay 3:copies:250000 --delay 1:kernels:100000:3 --overlap 150000
	says job "late rank 3 "
	says job "its copies took longer"
}

@test "what makes one rank late is told by its parts, and of several late ranks each has its own" {
	as_built --delay 2:copies:250000 --delay 2:kernels:100000 --delay 0:host:300000:4 --ranks 3
	as_built --delay 0:kernels:50000:3 --delay 1:host:90000:2 --delay 2:copies:70000 --overlap 30000
}

@test "the verdict names exposed communication where that is the most, and no rank where none is late" {
	built --compute 200000 --delay 1:host:900000
	says verdict "limit exposed communication, "
	says verdict "waiting for rank 1 takes"
	built --ranks 2
	says verdict "kernels, "
	[[ "$output" != *waiting* ]]
}

@test "a rank that was not recorded is named" {
	built --missing 2 --steps 2
	says job "problem 1 of 4 ranks is not in the recording: 2"
	[ "$("$ROOFLINECTL" report job -f csv -s job | wc -l)" -eq 4 ]
}

@test "one process with one GPU is no job" {
	run -0 "$ROOFLINECTL" report "$root/tests/recordings/streams" -s job
	[[ "$output" == *"one rank was recorded"* ]]
}

@test "collectives in different orders are named with the ranks" {
	built --swap 1 --ranks 2
	says job "in different orders: as number 19, rank 0 launches ncclDevKernel_AllReduce"
}

@test "a collective that one rank never comes to is named with the ranks" {
	built --hang 2
	says job "launches of rank 0, rank 1, rank 3 had not ended when the recording was cut off, and rank 2 had"
	says job "all ranks computation" # what ended is told of all the same
}
