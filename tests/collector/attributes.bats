#!/usr/bin/env bats
# Attributes of launches, and what happens to managed memory.
load common

setup() {
	setup_driver
	export ROOFLINE_FLUSH_MS=20
}

# table NAME: its rows without the header
table() {
	tail -q -n +2 "$(tables "$1")"
}

# calls_of FUNCTION: how often the collector called it
calls_of() {
	grep -c "^$1$" calls || true
}

@test "a launch that is dependent, records an event, has a priority or is cooperative has a row, others have none" {
	record cuda attribute:dependent attribute:none attribute:event attribute:independent attribute:priority \
		attribute:cooperative
	warned 0
	readable
	diff <(table launch_attributes | cut -d, -f2-) - <<-'END'
		1,0,0,0,0
		0,1,0,0,0
		0,0,1,4294967293,0
		0,0,0,0,1
	END
	equal correlations 4 "$(table launch_attributes | cut -d, -f1 | sort -u | wc -l)"
}

@test "a launch that the driver refused has no row" {
	record cuda attribute:refused
	equal rows 0 "$(rows launch_attributes)"
}

@test "ROOFLINE_LAUNCH_ATTRIBUTES=0: no callback for launches" {
	ROOFLINE_LAUNCH_ATTRIBUTES=0 record cuda attribute:dependent
	warned 0
	equal rows 0 "$(rows launch_attributes)"
}

@test "sampling, which stops following launches, leaves those alone" {
	export ROOFLINE_SAMPLE=1us
	record driver cuda context:1 launch:context=1 launch_callbacks:no attribute:dependent
	equal rows 1 "$(rows launch_attributes)"
}

@test "ROOFLINE_MANAGED=1: what happens to managed memory, once there is a context" {
	ROOFLINE_MANAGED=1 record cuda context:1 managed
	warned 0
	readable
	equal managed 1 "$(property managed)"
	diff <(table managed | perl -F, -lane 'print join ",", $F[1] - $F[0], @F[2 .. 7]') - <<-'END'
		2000,1,65536,139637976727552,4294967295,0,2
		2000,2,65536,139637976727552,0,4294967295,2
		0,3,1,139637976727552,4294967295,0,2
		2000,4,65536,139637976727552,0,0,2
		2000,5,65536,139637976727552,0,0,2
		2000,6,65536,139637976727552,0,0,2
		2000,7,65536,139637976727552,0,0,2
		2000,8,65536,139637976727552,0,0,2
	END
}

@test "without it managed memory is not asked for" {
	export MOCK_CALLS="$PWD/calls"
	record cuda context:1 managed
	equal rows 0 "$(rows managed)"
	equal managed "" "$(property managed)"
	equal calls 0 "$(calls_of cuptiActivityConfigureUnifiedMemoryCounter)"
}

@test "where CUPTI refuses it the recording says so and is as ever" {
	export MOCK_COUNTERS=cuptiActivityConfigureUnifiedMemoryCounter=27
	ROOFLINE_MANAGED=1 record cuda context:1 managed kernels:3
	warned 1 '--managed: CUPTI does not record what happens to managed memory'
	sealed
	[ -n "$(property managed_problem)" ]
	equal kernels 3 "$(rows kernels)"
	equal kinds 1 "$(loss disabled_kinds)"
}

@test "record --managed, and its report tells of page faults and moves" {
	capture with "$BUILD/bin/rooflinectl" record --managed -o "$recording" -- "$app" cuda context:1 every_kind managed
	equal status 0 "$(cat with.status)"
	"$BUILD/bin/rooflinectl" report "$recording" --section managed_memory >report
	cat report
	grep -qE '^  moved host to GPU 0 +page fault +1 +64.0 KiB +2.00 us' report
	grep -qE '^  page faults on the host +- +1' report
}
