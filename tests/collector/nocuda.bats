#!/usr/bin/env bats
# LD_PRELOAD in programs that never touch CUDA: nothing to see, nothing written.
load common

# preloaded COMMAND...: without and with the collector
preloaded() {
	unset ROOFLINE_OUTPUT
	capture bare "$@"
	capture with env LD_PRELOAD="$runtimes$collector" "$@"
	same_as_bare
	warned 0
	wrote_nothing
}

@test "bash, true, false and a pipe print and end as ever" {
	preloaded true
	preloaded false
	ended_with 1
	preloaded bash -c 'echo one | sed s/one/two/; exit 4'
	ended_with 4
}

@test "a program that is not there fails as ever" {
	capture bare env /nonexistent/program
	capture with env LD_PRELOAD="$runtimes$collector" env /nonexistent/program
	same_as_bare
}

@test "env shows only the variables that make CUDA and NVTX find the collector" {
	unset ROOFLINE_OUTPUT
	env -u LD_PRELOAD bash -c env | grep -v '^_=' | sort >before
	LD_PRELOAD="$runtimes$collector" bash -c env | grep -v '^_=' | sort >after
	diff before after | grep '^[<>]' | cut -d= -f1 | sort >changes
	printf '> %s\n' CUDA_INJECTION64_PATH LD_PRELOAD NVTX_INJECTION64_PATH ROOFLINE_OUTPUT |
		diff - changes
}

@test "variables that the user has set himself are left alone" {
	export CUDA_INJECTION64_PATH=/mine NVTX_INJECTION64_PATH=/my/own
	LD_PRELOAD="$runtimes$collector" env >after
	grep -qx CUDA_INJECTION64_PATH=/mine after
	grep -qx NVTX_INJECTION64_PATH=/my/own after
	grep -qx "ROOFLINE_OUTPUT=$recording" after
}

@test "a program with NVTX and no CUDA writes nothing and says nothing" {
	preloaded "$app" nvtx markers:100 exit:6
	ended_with 6
}

@test "a program with NVTX and no CUDA ends at once with _exit" {
	preloaded timeout 5 "$app" nvtx markers:100 _exit:6
	ended_with 6
}

@test "all processes that one program starts share its recording folder" {
	unset ROOFLINE_OUTPUT
	capture with env LD_PRELOAD="$runtimes$collector" bash -c \
		'"$0" cuda kernels:1 & "$0" cuda kernels:2; wait' "$app"
	warned 0
	recording=$(echo "$PWD"/roofline.*)
	[ -d "$recording" ]
	readable 2
	equal kernels 3 "$(rows kernels)"
}

@test "a program chooses its own time zone, and errno is 0 when it starts" {
	preloaded "$app" errno time_zone:JST-9
	grep -q 'errno was 0' with.out
	grep -q 'the epoch began at 9:00' with.out
}

@test "a folder of a process is named after the time in UTC" {
	unset ROOFLINE_OUTPUT
	TZ=JST-9 LD_PRELOAD="$runtimes$collector" bash -c 'echo "$ROOFLINE_OUTPUT"' >name
	began=$(sed -nE 's/.*roofline\.(.{4})(..)(..)-(..)(..)(..)\.[0-9]+$/\1-\2-\3 \4:\5:\6/p' name)
	age=$(($(date +%s) - $(date -u -d "$began" +%s)))
	[ "$age" -ge 0 ] && [ "$age" -lt 60 ]
}

@test "a library preloaded by a relative path is found by programs started in another folder" {
	cp "$collector" ./collector.so
	# shellcheck disable=SC2016 # the inner shell expands
	capture with env LD_PRELOAD="${runtimes}./collector.so" \
		bash -c 'cd / && unset LD_PRELOAD && exec "$@"' bash "$app" cuda kernels:5
	warned 0
	readable
	equal kernels 5 "$(rows kernels)"
}
