/*
 * launches.c - launches of kernels: put off, or passed on at once where that is not certain to be right.
 */
#include "launches.h"

#include "before.h"
#include "calls.h"
#include "clock.h"
#include "deferred.h"
#include "driver.h"
#include "pool.h"
#include "registering.h"
#include "run_time.h"
#include "waits.h"

enum { MEASURED = 8 };

/* After the driver took it: the next one like it may be put off.  And what a launch takes is known. */
static CUresult passed(const struct launch *launch, enum try_reason reason, uint64_t start_ns,
		       CUresult result)
{
	deferred_end_passing();
	if (start_ns)
		deferred_note_passed(launch, reason, result == CUDA_SUCCESS, clock_ns() - start_ns);
	return result;
}

/* When the call to the driver begins; 0: it is not measured.  Of those that are passed on again and again one of a few is: taking
 * the time, and noting it, costs a launch some percent. */
static uint64_t start_of(enum try_reason reason)
{
	static __thread unsigned passed __attribute__((tls_model("initial-exec")));

	if (reason == TRY_FIRST_TIME)
		return clock_ns();
	if (reason != TRY_COMPARING && reason != TRY_NOT_LAUNCH_BOUND)
		return 0;
	return passed++ % MEASURED ? 0 : clock_ns();
}

static CUresult launch_now(const struct launch *launch, __typeof__(cuLaunchKernel) *real,
			   void **extra)
{
	const struct shape *shape = &launch->shape;

	return real(launch->function, shape->grid[0], shape->grid[1], shape->grid[2],
		    shape->block[0], shape->block[1], shape->block[2], shape->shared_bytes,
		    launch->stream, launch->parameters, extra);
}

static CUresult launch(const struct launch *launch, enum try_reason known,
		       __typeof__(cuLaunchKernel) *real, void **extra)
{
	enum try_reason reason;
	CUresult late = CUDA_SUCCESS, result;
	uint64_t start_ns;

	run_time_begin();
	registering_before_launch();
	if (deferred_put(launch, known, &reason, &late))
		return late;
	if (!real)
		return passed(launch, reason, 0, CUDA_ERROR_NOT_FOUND);
	start_ns = start_of(reason);
	result = launch_now(launch, real, extra);
	if (result == CUDA_ERROR_OUT_OF_MEMORY && pool_return_all())
		result = launch_now(launch, real, extra);
	return passed(launch, reason, start_ns, result);
}

#define LAUNCH_OF_ARGUMENTS               \
	((struct launch){                 \
		.function = function,     \
		.stream = stream,         \
		.parameters = parameters, \
		.shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}})

CUresult try_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
		    CUstream stream, void **parameters, void **extra)
{
	int64_t begin_ns = calls_begin();
	CUresult result;

	waits_note_work(stream, false);
	result = launch(&LAUNCH_OF_ARGUMENTS, extra ? TRY_PACKED : TRY_REASON_COUNT,
			driver_open()->launch, extra);
	calls_end(WATCHED_LAUNCH, begin_ns);
	return result;
}

/* Without a stream it is the calling thread's, which another thread that flushes could not name. */
CUresult try_launch_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			 unsigned block_x, unsigned block_y, unsigned block_z,
			 unsigned shared_bytes, CUstream stream, void **parameters, void **extra)
{
	enum try_reason known = extra ? TRY_PACKED : stream ? TRY_REASON_COUNT : TRY_STREAM;
	int64_t begin_ns = calls_begin();
	CUresult result;

	waits_note_work(stream, true);
	result = launch(&LAUNCH_OF_ARGUMENTS, known, driver_open()->launch_ptsz, extra);
	calls_end(WATCHED_LAUNCH, begin_ns);
	return result;
}

static CUresult launch_ex(const CUlaunchConfig *config, CUfunction function, void **parameters,
			  void **extra, bool is_per_thread)
{
	const struct driver *driver = driver_open();
	__typeof__(cuLaunchKernelEx) *real =
		is_per_thread ? driver->launch_ex_ptsz : driver->launch_ex;
	enum try_reason known = TRY_REASON_COUNT;
	CUresult late = CUDA_SUCCESS, result;
	struct launch launch = {0};
	uint64_t start_ns;

	if (config)
		launch = (struct launch){
			.function = function,
			.stream = config->hStream,
			.parameters = parameters,
			.shape = {{config->gridDimX, config->gridDimY, config->gridDimZ},
				  {config->blockDimX, config->blockDimY, config->blockDimZ},
				  config->sharedMemBytes}};
	if (!config || config->numAttrs)
		known = TRY_ATTRIBUTES;
	else if (extra)
		known = TRY_PACKED;
	else if (is_per_thread && !config->hStream)
		known = TRY_STREAM;
	/* With attributes it may begin before what is in front of it in the stream is done. */
	if (known == TRY_ATTRIBUTES)
		waits_before(GIVES);
	else
		waits_note_work(launch.stream, is_per_thread);
	run_time_begin();
	registering_before_launch();
	if (deferred_put(&launch, known, &known, &late))
		return late;
	if (!real)
		return passed(&launch, known, 0, CUDA_ERROR_NOT_FOUND);
	start_ns = start_of(known);
	result = real(config, function, parameters, extra);
	if (result == CUDA_ERROR_OUT_OF_MEMORY && pool_return_all())
		result = real(config, function, parameters, extra);
	return passed(&launch, known, start_ns, result);
}

CUresult try_launch_ex(const CUlaunchConfig *config, CUfunction function, void **parameters,
		       void **extra)
{
	int64_t begin_ns = calls_begin();
	CUresult result = launch_ex(config, function, parameters, extra, false);

	calls_end(WATCHED_LAUNCH_EX, begin_ns);
	return result;
}

CUresult try_launch_ex_ptsz(const CUlaunchConfig *config, CUfunction function, void **parameters,
			    void **extra)
{
	int64_t begin_ns = calls_begin();
	CUresult result = launch_ex(config, function, parameters, extra, true);

	calls_end(WATCHED_LAUNCH_EX, begin_ns);
	return result;
}

/* What is passed on as it is, and watched: launches of graphs and of cooperative kernels. */
#define WATCH(name, exported, member, call, declared, ...)                      \
	CUresult name declared                                                  \
	{                                                                       \
		__typeof__(driver_open()->member) real = driver_open()->member; \
		int64_t begin_ns = calls_begin();                               \
		CUresult result;                                                \
                                                                                \
		PASS_BEFORE(exported);                                          \
		waits_before(SHOWS);                                            \
		run_time_begin();                                               \
		registering_before_launch();                                    \
		result = real ? real(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;       \
		deferred_end_passing();                                         \
		calls_end(call, begin_ns);                                      \
		return result;                                                  \
	}

#define COOPERATIVE_ARGUMENTS                                                                      \
	(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
	 unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,               \
	 void **parameters)

WATCH(try_launch_cooperative, "cuLaunchCooperativeKernel", launch_cooperative,
      WATCHED_LAUNCH_COOPERATIVE, COOPERATIVE_ARGUMENTS, function, grid_x, grid_y, grid_z, block_x,
      block_y, block_z, shared_bytes, stream, parameters)
WATCH(try_launch_cooperative_ptsz, "cuLaunchCooperativeKernel_ptsz", launch_cooperative_ptsz,
      WATCHED_LAUNCH_COOPERATIVE, COOPERATIVE_ARGUMENTS, function, grid_x, grid_y, grid_z, block_x,
      block_y, block_z, shared_bytes, stream, parameters)
WATCH(try_launch_graph, "cuGraphLaunch", graph_launch, WATCHED_GRAPH_LAUNCH,
      (CUgraphExec graph, CUstream stream), graph, stream)
WATCH(try_launch_graph_ptsz, "cuGraphLaunch_ptsz", graph_launch_ptsz, WATCHED_GRAPH_LAUNCH,
      (CUgraphExec graph, CUstream stream), graph, stream)
