/* calibration: what CUPTI's record adds to a call, as a thread beside the program's estimates it in many ways, and as the
 * program's own calls have it.
 * calibration [--busy 0|1]
 * With --busy the program launches kernels meanwhile.  Prints lines "name added_ns bare_ns recorded_ns". */
#include <cuda.h>
#include <cupti.h>
#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>

#include "trial.cuh"

static void *cupti, *driver;

#define CUPTI(function) ((decltype(&function))dlsym(cupti, #function))
#define DRIVER(function) ((decltype(&function))dlsym(driver, #function))

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*size = 1 << 20;
	*buffer = (uint8_t *)calloc(1, *size);
	*most_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t)
{
	free(buffer);
}

static void CUPTIAPI ignore(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *)
{
}

/* ---- short calls, without their record and with it ---- */

static decltype(&cuDriverGetVersion) get_version;
static decltype(&cuCtxGetCurrent) get_current;
static decltype(&cuDeviceGetCount) get_count;

static void call_version()
{
	int version;

	get_version(&version);
}

static void call_current()
{
	CUcontext context;

	get_current(&context);
}

static void call_count()
{
	int count;

	get_count(&count);
}

struct short_call {
	const char *name;
	void (*make)();
	CUpti_CallbackId id;
};

static const short_call short_calls[] = {
	{"version", call_version, CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion},
	{"current", call_current, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent},
	{"count", call_count, CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount},
};

/* ns a call in each batch */
static std::vector<double> run_batches(const short_call &call, int batches, int calls)
{
	std::vector<double> each_ns;

	for (int i = 0; i < batches; i++) {
		auto start = std::chrono::steady_clock::now();

		for (int j = 0; j < calls; j++)
			call.make();
		each_ns.push_back(std::chrono::duration<double, std::nano>(
					  std::chrono::steady_clock::now() - start)
					  .count() /
				  calls);
	}
	std::sort(each_ns.begin(), each_ns.end());
	return each_ns;
}

static void record(const short_call &call, bool is_on)
{
	CUPTI(cuptiActivityEnableDriverApi)(call.id, is_on);
}

static void print(const char *way, const char *name, double bare_ns, double recorded_ns)
{
	printf("%s_%s %.1f %.1f %.1f\n", way, name, recorded_ns - bare_ns, bare_ns, recorded_ns);
}

/* Warm: as many calls as make a millisecond first. */
static void estimate_at_once(const char *way, const short_call &call, int batches, int calls,
			     bool is_warm)
{
	char name[64];
	auto bare_ns = run_batches(call, batches, calls);
	std::vector<double> recorded_ns;

	record(call, true);
	if (is_warm)
		run_batches(call, 1, 4000);
	recorded_ns = run_batches(call, batches, calls);
	record(call, false);
	snprintf(name, sizeof(name), "%s_median", way);
	print(name, call.name, bare_ns[batches / 2], recorded_ns[batches / 2]);
	snprintf(name, sizeof(name), "%s_quarter", way);
	print(name, call.name, bare_ns[batches / 4], recorded_ns[batches / 4]);
	snprintf(name, sizeof(name), "%s_least", way);
	print(name, call.name, bare_ns[0], recorded_ns[0]);
}

/* A little now and then. */
static void estimate_in_turns(const short_call &call, int turns, int pause_us)
{
	std::vector<double> bare_ns, recorded_ns;

	for (int i = 0; i < turns; i++) {
		bare_ns.push_back(run_batches(call, 4, 32)[0]);
		record(call, true);
		recorded_ns.push_back(run_batches(call, 4, 32)[0]);
		record(call, false);
		usleep(pause_us);
	}
	std::sort(bare_ns.begin(), bare_ns.end());
	std::sort(recorded_ns.begin(), recorded_ns.end());
	print("turns_least", call.name, bare_ns[0], recorded_ns[0]);
	print("turns_median", call.name, bare_ns[turns / 2], recorded_ns[turns / 2]);
	print("turns_most", call.name, bare_ns[turns - 1], recorded_ns[turns - 1]);
}

static void estimate_all()
{
	for (const short_call &call : short_calls) {
		estimate_at_once("as_now", call, 15, 32, false);
		estimate_at_once("short", call, 60, 8, false);
		estimate_at_once("warm", call, 60, 8, true);
		estimate_at_once("warm_long", call, 15, 32, true);
		estimate_in_turns(call, 10, 10000);
	}
}

/* ---- the program ---- */

/* ns a launch and a record of an event; the median of rounds of 200, each of which the GPU has done before the next. */
struct steps {
	double launch_ns, event_ns;
};

static double median(std::vector<double> &values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

static steps measure_steps(cudaEvent_t event)
{
	std::vector<double> launch_ns, event_ns;

	for (int round = 0; round < 30; round++) {
		long start_ns = now_ns(), middle_ns;

		for (int i = 0; i < 200; i++)
			empty_kernel<<<1, 1>>>();
		middle_ns = now_ns();
		for (int i = 0; i < 200; i++)
			CUDA_CHECK(cudaEventRecord(event));
		event_ns.push_back((double)(now_ns() - middle_ns) / 200);
		launch_ns.push_back((double)(middle_ns - start_ns) / 200);
		CUDA_CHECK(cudaDeviceSynchronize());
	}
	return {median(launch_ns), median(event_ns)};
}

static void start_recording()
{
	CUpti_SubscriberHandle subscriber;

	if (CUPTI(cuptiSubscribe)(&subscriber, ignore, nullptr) != CUPTI_SUCCESS)
		exit(3);
	CUPTI(cuptiActivityRegisterCallbacks)(give_buffer, take_buffer);
	CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	CUPTI(cuptiActivityEnableRuntimeApi)(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1);
	CUPTI(cuptiActivityEnableRuntimeApi)(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, 1);
}

static void estimate_beside(bool is_busy)
{
	std::atomic<bool> is_over{false};
	std::thread other([&] {
		estimate_all();
		is_over = true;
	});

	while (is_busy && !is_over) {
		for (int i = 0; i < 200; i++)
			empty_kernel<<<1, 1>>>();
		CUDA_CHECK(cudaDeviceSynchronize());
	}
	other.join();
}

int main(int argc, char **argv)
{
	long busy = 0;
	cudaEvent_t event;
	steps bare, recorded;

	trial_parse(argc, argv, {{"busy", &busy}});
	cupti = dlopen("libcupti.so.13", RTLD_NOW);
	if (!cupti)
		cupti = dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW);
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!cupti || !driver)
		return 3;
	get_version = DRIVER(cuDriverGetVersion);
	get_current = DRIVER(cuCtxGetCurrent);
	get_count = DRIVER(cuDeviceGetCount);
	CUDA_CHECK(cudaEventCreate(&event));
	measure_steps(event);
	bare = measure_steps(event);
	start_recording();
	measure_steps(event);
	recorded = measure_steps(event);
	print("program", "launch", bare.launch_ns, recorded.launch_ns);
	print("program", "event", bare.event_ns, recorded.event_ns);
	estimate_beside(busy != 0);
	recorded = measure_steps(event);
	print("program_again", "launch", bare.launch_ns, recorded.launch_ns);
	print("program_again", "event", bare.event_ns, recorded.event_ns);
	return 0;
}
