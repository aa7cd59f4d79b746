/*
 * collector_env.h - every environment variable that the collector reads, once.
 *
 * `rooflinectl record` sets them, collector/options.c reads them, and
 * docs/commands/record.md lists them.  A variable that is unset or empty
 * takes the default; one that cannot be parsed is reported once and takes
 * the default too: the collector never stops the application.
 *
 * To add a variable: one VARIABLE row here and its case in collector/options.c.
 */
#ifndef ROOFLINE_COLLECTOR_ENV_H
#define ROOFLINE_COLLECTOR_ENV_H

/* VARIABLE(constant, name, default, meaning) */
#define ROOFLINE_VARIABLES(VARIABLE)                                                                        \
	VARIABLE(ENV_OUTPUT, "ROOFLINE_OUTPUT", "./roofline.<time>.<pid>",                                  \
		 "folder of the recording; each process makes host.pid in it")                              \
	VARIABLE(ENV_RECORD, "ROOFLINE_RECORD", "",                                                         \
		 "set by record: which call of it a process belongs to")                                    \
	VARIABLE(ENV_MAX_SIZE, "ROOFLINE_MAX_SIZE", "0",                                                    \
		 "size of a process's recording, such as 500M; 0 for no limit")                             \
	VARIABLE(ENV_LAST, "ROOFLINE_LAST", "",                                                             \
		 "keep only the newest, such as 30s or 200M, in segments; empty: everything")               \
	VARIABLE(ENV_CONTROL, "ROOFLINE_CONTROL", "0",                                                      \
		 "1: do what rooflinectl ctl asks for, by files in the process's folder")                   \
	VARIABLE(ENV_WHEN_SLOWER, "ROOFLINE_WHEN_SLOWER", "",                                               \
		 "RANGE=50ms: tell record when an NVTX range of that name took longer")                     \
	VARIABLE(ENV_MIN_FREE, "ROOFLINE_MIN_FREE", "auto",                                                 \
		 "disk space that stays free, such as 2G; auto: 1G or 5%, the less; 0: none")               \
	VARIABLE(ENV_COMMAND_LINE, "ROOFLINE_COMMAND_LINE", "1",                                            \
		 "0: record the program's name without its arguments")                                      \
	VARIABLE(                                                                                           \
		ENV_GRAPHS, "ROOFLINE_GRAPHS", "node",                                                      \
		"node: every node of a CUDA graph; graph: every launch as one, and device launches")        \
	VARIABLE(                                                                                           \
		ENV_RUN, "ROOFLINE_RUN", "0",                                                               \
		"1 to 4: which of several runs of the program this is; reports never add them up")          \
	VARIABLE(                                                                                           \
		ENV_KERNELS, "ROOFLINE_KERNELS", "",                                                        \
		"record only kernels whose mangled or demangled name matches this extended regex")          \
	VARIABLE(ENV_DELAY, "ROOFLINE_DELAY_S", "0",                                                        \
		 "seconds after the start before recording begins")                                         \
	VARIABLE(ENV_DURATION, "ROOFLINE_DURATION_S", "0", "seconds of recording, 0 for all")               \
	VARIABLE(ENV_PROFILER_API, "ROOFLINE_PROFILER_API", "0",                                            \
		 "1: record only between cudaProfilerStart and cudaProfilerStop")                           \
	VARIABLE(ENV_API, "ROOFLINE_API", "chosen",                                                         \
		 "API calls: chosen ones, all of both APIs, or none (idle causes unknown)")                 \
	VARIABLE(                                                                                           \
		ENV_SYNCS, "ROOFLINE_SYNCS", "0",                                                           \
		"1: also which stream or event each wait was for (expensive: see docs/commands/record.md)") \
	VARIABLE(ENV_EVENTS, "ROOFLINE_EVENTS", "1",                                                        \
		 "0: not which event and stream each record and wait was for")                              \
	VARIABLE(ENV_ALLOCATIONS, "ROOFLINE_ALLOCATIONS", "1",                                              \
		 "0: no memory that is allocated and freed")                                                \
	VARIABLE(ENV_LAUNCH_ATTRIBUTES, "ROOFLINE_LAUNCH_ATTRIBUTES", "1",                                  \
		 "0: not which launches are dependent, cooperative or have a priority")                     \
	VARIABLE(ENV_MANAGED, "ROOFLINE_MANAGED", "0",                                                      \
		 "1: page faults and migrations of managed memory")                                         \
	VARIABLE(ENV_ARGS, "ROOFLINE_ARGS", "0", "1: which addresses kernels are launched with")            \
	VARIABLE(ENV_NVTX, "ROOFLINE_NVTX", "1",                                                            \
		 "0: no NVTX ranges, and nothing of what NCCL is asked for")                                \
	VARIABLE(ENV_COUNTERS, "ROOFLINE_COUNTERS", "",                                                     \
		 "hardware counters: roofline, atomics, shared, global, sm, stalls, or "                    \
		 "CUPTI's names, by commas")                                                                \
	VARIABLE(ENV_REPLAY, "ROOFLINE_REPLAY", "0",                                                        \
		 "1: repeat every launch for every pass of the counters: exact, and slow")                  \
	VARIABLE(ENV_COUNTERS_SHARE, "ROOFLINE_COUNTERS_SHARE", "10",                                       \
		 "percent of the program's time that counting may take; 100 for no limit")                  \
	VARIABLE(ENV_COUNTERS_SKIP, "ROOFLINE_COUNTERS_SKIP", "nccl|nvshmem|_on_stream_kernel",             \
		 "leave kernels alone whose mangled name matches: those that wait for others")              \
	VARIABLE(                                                                                           \
		ENV_SAMPLE, "ROOFLINE_SAMPLE", "",                                                          \
		"interval at which the whole GPU is sampled: 1us, 500ns, 10us; empty: no sampling")         \
	VARIABLE(                                                                                           \
		ENV_SAMPLE_METRICS, "ROOFLINE_SAMPLE_METRICS", "",                                          \
		"what is sampled: sm, dram, tensor, l2, nvlink, or front alone, by commas; empty: all")     \
	VARIABLE(ENV_SAMPLE_WINDOWS, "ROOFLINE_SAMPLE_WINDOWS", "auto",                                     \
		 "continuous, LENGTH/PERIOD such as 100ms/1s, or auto: as decoding keeps up")               \
	VARIABLE(ENV_SAMPLE_RANGE, "ROOFLINE_SAMPLE_RANGE", "",                                             \
		 "sample only inside NVTX ranges whose name matches this extended regex")                   \
	VARIABLE(ENV_SAMPLE_BUFFER, "ROOFLINE_SAMPLE_BUFFER_MB", "256",                                     \
		 "memory for the samples of one window, a GPU; twice as much is used")                      \
	VARIABLE(ENV_YIELD, "ROOFLINE_YIELD", "0",                                                          \
		 "1: record nothing where the program or another profiler uses CUPTI itself")               \
	VARIABLE(ENV_POWER, "ROOFLINE_POWER", "0",                                                          \
		 "1: clocks, power, temperature and why clocks were lowered, ten times a second")           \
	VARIABLE(ENV_BUFFER_LIMIT, "ROOFLINE_BUFFER_LIMIT_MB", "512",                                       \
		 "memory for CUPTI's record buffers; beyond it records are dropped and counted")            \
	VARIABLE(ENV_FLUSH_PERIOD, "ROOFLINE_FLUSH_MS", "250",                                              \
		 "how often finished records are written")                                                  \
	VARIABLE(                                                                                           \
		ENV_CUPTI, "ROOFLINE_CUPTI", "auto",                                                        \
		"the CUPTI library to load, by name or path; auto: libcupti.so.13 or libcupti.so.12")       \
	VARIABLE(ENV_DISCARD, "ROOFLINE_DISCARD", "0",                                                      \
		 "1: throw every record away: the least that recording costs, for `make bench`")            \
	VARIABLE(ENV_QUIET, "ROOFLINE_QUIET", "0", "1: no warnings on stderr")

#define ROOFLINE_VARIABLE_CONSTANT(constant, name, fallback, meaning) constant,
enum roofline_variable { ROOFLINE_VARIABLES(ROOFLINE_VARIABLE_CONSTANT) ROOFLINE_VARIABLE_COUNT };
#undef ROOFLINE_VARIABLE_CONSTANT

#endif
