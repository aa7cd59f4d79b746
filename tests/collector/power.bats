#!/usr/bin/env bats
# Clocks, power and temperature beside the trace.  The GPU's management library is a stand-in.
load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	ulimit -c 0
	recording="$BATS_TEST_TMPDIR/recording"
	mkdir driver
	ln -s "$BUILD/tests/collector/libmock_nvml.so" driver/libnvidia-ml.so.1
	export ROOFLINE_OUTPUT="$recording" ROOFLINE_CUPTI="$mock_cupti" ROOFLINE_POWER=1 ROOFLINE_FLUSH_MS=20
	export LD_LIBRARY_PATH="$PWD/driver"
}

# A step that waits for a line below the header.
one_reading="until_lines:2:recording/*/power.csv"

# column N: of power, in the order in which it was written
column() {
	tail -n +2 "$(tables power)" | cut -d, -f"$1"
}

@test "a GPU is read ten times a second, from its record to the end" {
	record cuda every_kind "until_lines:8:recording/*/power.csv" exit:3
	warned 0
	ended_with 3
	readable
	sealed
	count=$(rows power)
	echo "$count readings"
	[ "$count" -ge 7 ]
	column 1 | awk 'NR == 1 { first = $1 } { last = $1 } END { mean = (last - first) / (NR - 1)
		if (mean < 50e6 || mean > 500e6) { print "mean time between readings:", mean; exit 1 } }'
	equal columns 0,2619,300250,55,4 "$(tail -n +2 "$(tables power)" | cut -d, -f2,4- | sort -u)"
	equal "clocks in order" "$(seq 1000 10 $((990 + 10 * count)))" "$(column 3)"
	column 1 | sort -nc
}

@test "without --power nothing is read, and no library is loaded" {
	ROOFLINE_POWER=0 MOCK_NVML_INIT=9 record cuda every_kind sleep_ms:300
	warned 0
	equal readings 0 "$(rows power)"
}

@test "what NVML refuses to tell is 0, and the rest is there" {
	export MOCK_NVML_REFUSED=1
	record cuda every_kind "$one_reading"
	warned 0
	equal "memory clock" 0 "$(column 4 | sort -u)"
	equal power 300250 "$(column 5 | sort -u)"
}

@test "without the library, and when it does not start, the recording says why and is as ever" {
	rm driver/libnvidia-ml.so.1
	if ! ldconfig -p | grep -q libnvidia-ml.so.1; then
		record cuda every_kind kernels:5 until_lines:1:with.err:--power
		warned 1 '--power: there is no libnvidia-ml.so.1'
		readable
		equal kernels 6 "$(rows kernels)"
		[[ $(property power_problem) = *"no libnvidia-ml.so.1"* ]]
		rm -rf "$recording"
	fi
	ln -s "$BUILD/tests/collector/libmock_nvml.so" driver/libnvidia-ml.so.1
	MOCK_NVML_INIT=9 record cuda every_kind kernels:5 until_lines:1:with.err:--power
	warned 1 '--power: NVML does not start'
	sealed
	equal kernels 6 "$(rows kernels)"
}

@test "the library is also found where libcuda lies" {
	ldconfig -p | grep -q libnvidia-ml.so.1 && skip "it is in the default path here"
	mkdir apart
	mv driver/libnvidia-ml.so.1 apart/
	cp "$BUILD/tests/collector/libmock_cuda.so" apart/libcuda.so.1
	ln -s ../apart/libcuda.so.1 driver/
	record driver cuda every_kind "$one_reading"
	warned 0
	[ "$(rows power)" -ge 1 ]
}

@test "a library that hangs does not keep the program from ending" {
	export MOCK_NVML_SLOW_MS=60000
	start=$SECONDS
	record cuda every_kind kernels:5 sleep_ms:300 exit:4
	ended_with 4
	sealed
	equal kernels 6 "$(rows kernels)"
	[ $((SECONDS - start)) -lt 30 ]
}

@test "the report tells mean, least and greatest, and what held the clocks down" {
	record cuda every_kind "until_lines:5:recording/*/power.csv"
	"$BUILD/bin/rooflinectl" report "$recording" --section power >report
	cat report
	grep -q '^Clocks and power' report
	grep -qE '^  GPU 0 +[0-9]+ readings in ' report
	grep -qE '^    SM clock +10[0-9]{2} MHz +from 1000 to 10[0-9]0$' report
	grep -qE '^    power +300.2 W +from 300.2 to 300.2$' report
	grep -qE '^    clocks held down by: power limit 100.0?%$' report
	"$BUILD/bin/rooflinectl" report "$recording" --section power -f csv | head -1 | grep -q 'sm_clock_mhz_mean'
}
