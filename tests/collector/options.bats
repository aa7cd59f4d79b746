#!/usr/bin/env bats
# What ROOFLINE_* limits, and what it makes of nonsense.
load common

@test "nonsense in a variable is reported once each, and the default is used" {
	for setting in API=maybe NVTX=2 GRAPHS=both DELAY_S=-1 DURATION_S=nan BUFFER_LIMIT_MB=1e99 \
		FLUSH_MS=soon PROFILER_API=yes SYNCS=0x MAX_SIZE=many MAX_SIZE=12 MIN_FREE=5% COMMAND_LINE=no; do
		rm -rf "$recording"
		export "ROOFLINE_$setting"
		record cuda kernels:5 marker:one exit:6
		unset "ROOFLINE_${setting%=*}"
		warned 1 "ROOFLINE_${setting%=*}='${setting#*=}'.*; using "
		readable
		equal kernels 5 "$(rows kernels)"
		equal markers 2 "$(rows markers)"
	done
}

@test "empty variables mean the default" {
	export ROOFLINE_API= ROOFLINE_GRAPHS= ROOFLINE_KERNELS= ROOFLINE_DELAY_S= ROOFLINE_QUIET=
	record cuda kernels:5
	warned 0
	equal kernels 5 "$(rows kernels)"
}

@test "--kernels keeps the kernels whose mangled name matches and counts the others" {
	export ROOFLINE_KERNELS='Z4step|other'
	record cuda kernels:5 name:_Z6unlikev kernels:6 name:another kernels:7 name:_Z6unlikev kernels:1
	warned 0
	readable
	equal kernels 12 "$(rows kernels)"
	equal filtered_kernels 7 "$(loss filtered_kernels)"
	equal signatures 2 "$(rows signatures)"
	equal filter 'Z4step|other' "$(property filter_kernels)"
}

@test "--kernels matches demangled names without loading a C++ library into the program" {
	export ROOFLINE_KERNELS='^step\(float\*, int\)$'
	record cuda kernels:5 name:_Z6unlikev kernels:6 sleep_ms:50 not_loaded:libstdc++.so.6
	warned 0
	equal kernels 5 "$(rows kernels)"
	equal filtered_kernels 6 "$(loss filtered_kernels)"
}

@test "a --kernels that is no regular expression is reported once and records all kernels" {
	export ROOFLINE_KERNELS='step('
	record cuda kernels:5 exit:6
	warned 1 "--kernels 'step\\(' is no regular expression: .*; all kernels are recorded"
	equal kernels 5 "$(rows kernels)"
}

@test "--delay leaves out and counts what began before" {
	export ROOFLINE_DELAY_S=2
	record cuda kernels:5 sleep_ms:2100 kernels:7
	equal kernels 7 "$(rows kernels)"
	equal outside_window 5 "$(loss outside_window)"
	equal delay 2000000000 "$(property delay_ns)"
}

@test "numbers are read with a decimal point whatever the program's locale" {
	localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null || true
	[ "$(LOCPATH=$PWD LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null)" = , ] || skip "needs a locale with a decimal comma (locales)"
	export LOCPATH=$PWD ROOFLINE_DELAY_S=0.2
	record locale:de_DE.UTF-8 cuda kernels:5 sleep_ms:300 kernels:7
	warned 0
	equal kernels 7 "$(rows kernels)"
	equal delay 200000000 "$(property delay_ns)"
}

@test "--duration leaves out and counts what began after" {
	export ROOFLINE_DURATION_S=2
	record cuda kernels:5 sleep_ms:2100 kernels:7
	equal kernels 5 "$(rows kernels)"
	equal outside_window 7 "$(loss outside_window)"
}

@test "--delay and --duration last as long as they do where the wall clock is set an hour forward or back" {
	local preloaded="$runtimes$BUILD/tests/collector/libclock_step.so"
	for step in 3600 -3600; do
		rm -rf "$recording"
		ROOFLINE_DELAY_S=0.2 ROOFLINE_DURATION_S=0.8 STEP_S=$step STEP_AFTER_MS=500 LD_PRELOAD=$preloaded \
			CUDA_INJECTION64_PATH=$collector "$app" cuda kernels:3 sleep_ms:300 kernels:5 sleep_ms:400 \
			kernels:7 sleep_ms:700 kernels:11
		equal kernels 12 "$(rows kernels)"
		equal outside_window 14 "$(loss outside_window)"
	done
}

@test "copies between GPUs are recorded once contexts are on two of them" {
	record cuda context:1 enabled:10 context:3 enabled:10 context:2 enabled:11 context:4 enabled:11
	warned 0
}

@test "some time after --duration CUPTI is switched off for good" {
	export ROOFLINE_DURATION_S=0.2 ROOFLINE_FLUSH_MS=50
	record cuda enabled:10 kernels:5 sleep_ms:1000 enabled:10 kernels:2 sleep_ms:2500 enabled:4
	warned 0
	equal kernels 5 "$(rows kernels)"
	equal outside_window 2 "$(loss outside_window)"
}

@test "with ROOFLINE_PROFILER_API only what lies between start and stop is kept" {
	export ROOFLINE_PROFILER_API=1
	record cuda kernels:1 profiler:start kernels:2 profiler:stop kernels:4 profiler:start kernels:8 \
		profiler:start kernels:16 profiler:stop profiler:stop kernels:32
	warned 0
	equal kernels 26 "$(rows kernels)"
	equal outside_window 37 "$(loss outside_window)"
}

@test "outside of what --profiler-api asks for kinds stay enabled: kernels get other correlation ids than their calls otherwise" {
	ROOFLINE_PROFILER_API=1 record cuda enabled:10 kernels:1 profiler:start enabled:10 kernels:2 profiler:stop enabled:10
	warned 0
	equal kernels 2 "$(rows kernels)"
}

@test "each of 4,500 spans between start and stop is told from what lies between them, however late that is asked" {
	export ROOFLINE_PROFILER_API=1 ROOFLINE_FLUSH_MS=60000
	steps=()
	for i in {1..4500}; do
		steps+=(profiler:start kernels:1 profiler:stop)
		((i % 15)) || steps+=(kernels:1)
	done
	record cuda "${steps[@]}" # fewer than a buffer holds: all are decoded at the end
	warned 0
	equal kernels 4500 "$(rows kernels)"
	equal outside_window 300 "$(loss outside_window)"
}

@test "without it cudaProfilerStart and Stop change nothing" {
	record cuda kernels:1 profiler:start kernels:2 profiler:stop kernels:4
	equal kernels 7 "$(rows kernels)"
}

@test "ROOFLINE_DISCARD throws everything away, for the cost benchmark" {
	export ROOFLINE_DISCARD=1
	record cuda kernels:5
	readable
	equal kernels 0 "$(rows kernels)"
}

@test "the recording says who it is: command, process, version, rank" {
	export RANK=3 LOCAL_RANK=1 WORLD_SIZE=8 CUDA_VISIBLE_DEVICES=4,5
	record cuda kernels:1
	equal command "$app cuda kernels:1" "$(property command)"
	equal rank 3 "$(property rank)"
	equal local_rank 1 "$(property local_rank)"
	equal world_size 8 "$(property world_size)"
	equal devices '"4,5"' "$(property cuda_visible_devices)"
	equal cupti 130001 "$(property cupti)"
	equal graphs node "$(property graphs)"
	[ -d "$recording/$(hostname).$(property pid)" ]
}

# numbered RANK LOCAL SIZE: what the recording says of a process whose launcher set these
numbered() {
	rm -rf "$recording"
	export "$1=5" "$2=1" "$3=8"
	record cuda kernels:1
	unset "$1" "$2" "$3"
	equal "$1" 5 "$(property rank)"
	equal "$2" 1 "$(property local_rank)"
	equal "$3" 8 "$(property world_size)"
}

@test "rank, rank on the host and size of the job are those that the launcher told" {
	numbered OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_SIZE
	numbered MV2_COMM_WORLD_RANK MV2_COMM_WORLD_LOCAL_RANK MV2_COMM_WORLD_SIZE
	numbered PMI_RANK MPI_LOCALRANKID PMI_SIZE
	numbered SLURM_PROCID SLURM_LOCALID SLURM_NTASKS
}
