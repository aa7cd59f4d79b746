/* managed_counters: asks CUPTI for what happens to managed memory in one of many ways, and has both sides touch it.
 * managed_counters WHEN SCOPE KINDS [ORDER] [SUBSCRIBER]
 * WHEN: init (before cuInit), initialized, context, thread (a thread of its own, once there is a context),
 * callback_init, callback_context (within CUPTI's callbacks), busy (amid kernels), none (never).
 * SCOPE: single or all.  KINDS: digits of CUpti_ActivityUnifiedMemoryCounterKind, all at once; with commas one by one.
 * ORDER: configure_first, enable_first, or enable_only.  SUBSCRIBER: subscribed or not_subscribed.
 * Prints each step before it is taken, and which records came. */
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <csignal>
#include <cstring>
#include <thread>
#include <unistd.h>

#include "trial.cuh"

#define BYTES (16 * 1024 * 1024)

static const char *when, *scope, *kinds, *order, *subscribing;
static long counts[16], values[16];

/* ---- CUPTI, opened as the collector does ---- */

static void *cupti;

#define CUPTI(function) ((decltype(&function))dlsym(cupti, #function))

static void *open_cupti()
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW);

	return library ? library : dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW);
}

static void say(const char *what, int result)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "%s %d; ", what, result);

	if (write(1, line, (size_t)length) != length)
		_exit(4);
}

static void on_fault(int signal_number)
{
	void *frames[24];

	say("signal", signal_number);
	backtrace_symbols_fd(frames, backtrace(frames, 24), 2);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*size = 1 << 20;
	*buffer = (uint8_t *)aligned_alloc(8, *size);
	*most_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid_bytes)
{
	CUpti_Activity *record = nullptr;

	while (CUPTI(cuptiActivityGetNextRecord)(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
		auto *counter = (CUpti_ActivityUnifiedMemoryCounter3 *)record;

		if (record->kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
			continue;
		counts[counter->counterKind & 15]++;
		values[counter->counterKind & 15] += (long)counter->value;
	}
	free(buffer);
}

/* ---- asking ---- */

static CUpti_ActivityUnifiedMemoryCounterConfig wanted(char kind)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config = {};

	config.scope = !strcmp(scope, "single")
			       ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE
			       : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
	config.kind = (CUpti_ActivityUnifiedMemoryCounterKind)(kind - '0');
	config.enable = 1;
	return config;
}

static void configure()
{
	std::vector<CUpti_ActivityUnifiedMemoryCounterConfig> configs;
	bool is_one_by_one = strchr(kinds, ',');

	for (const char *kind = kinds; *kind; kind++) {
		if (*kind == ',')
			continue;
		configs.push_back(wanted(*kind));
		if (!is_one_by_one)
			continue;
		say("configure one", *kind - '0');
		say("=", CUPTI(cuptiActivityConfigureUnifiedMemoryCounter)(&configs.back(), 1));
	}
	if (is_one_by_one)
		return;
	say("configure", (int)configs.size());
	say("=", CUPTI(cuptiActivityConfigureUnifiedMemoryCounter)(configs.data(),
								   (uint32_t)configs.size()));
}

static void enable()
{
	say("enable", CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	say("=", CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
}

static void ask()
{
	if (!strcmp(order, "configure_first"))
		configure();
	enable();
	if (!strcmp(order, "enable_first"))
		configure();
}

static void ask_when(const char *moment)
{
	if (!strcmp(when, moment))
		ask();
}

static void CUPTIAPI on_callback(void *, CUpti_CallbackDomain domain, CUpti_CallbackId id,
				 const void *data)
{
	say(data ? "callback with data" : "callback without data", (int)id);
	if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
		ask_when("callback_init");
	if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		ask_when("callback_context");
}

static void start_cupti()
{
	CUpti_SubscriberHandle subscriber;

	if (!strcmp(subscribing, "subscribed")) {
		say("subscribe", CUPTI(cuptiSubscribe)(&subscriber, on_callback, nullptr));
		CUPTI(cuptiEnableCallback)
		(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
		CUPTI(cuptiEnableCallback)
		(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	}
	say("register", CUPTI(cuptiActivityRegisterCallbacks)(give_buffer, take_buffer));
	CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

/* ---- the program ---- */

static __global__ void add_one(int *numbers, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		numbers[i]++;
}

static size_t touch(int *numbers, size_t count)
{
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		numbers[i] = (int)i;
	CUDA_LAUNCH(add_one<<<256, 256>>>(numbers, count));
	CUDA_CHECK(cudaDeviceSynchronize());
	for (size_t i = 0; i < count; i++)
		wrong += numbers[i] != (int)i + 1;
	return wrong;
}

static void initialize()
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	auto init = driver ? (decltype(&cuInit))dlsym(driver, "cuInit") : nullptr;

	if (!init)
		exit(3);
	say("cuInit", (int)init(0));
}

static void print_counts()
{
	char line[64];

	for (int kind = 0; kind < 16; kind++) {
		snprintf(line, sizeof(line), "records of kind %d, value %ld:", kind, values[kind]);
		if (counts[kind])
			say(line, (int)counts[kind]);
	}
}

int main(int argc, char **argv)
{
	size_t count = BYTES / sizeof(int), wrong = 0;
	int *numbers;

	if (argc < 4)
		return 2;
	when = argv[1], scope = argv[2], kinds = argv[3];
	order = argc > 4 ? argv[4] : "configure_first";
	subscribing = argc > 5 ? argv[5] : "subscribed";
	cupti = open_cupti();
	if (!cupti)
		return 3;
	signal(SIGSEGV, on_fault);
	signal(SIGABRT, on_fault);
	alarm(20);
	start_cupti();
	ask_when("init");
	initialize();
	ask_when("initialized");
	CUDA_CHECK(cudaFree(nullptr));
	ask_when("context");
	if (!strcmp(when, "thread"))
		std::thread(ask).join();
	CUDA_CHECK(cudaMallocManaged(&numbers, BYTES));
	wrong += touch(numbers, count);
	ask_when("busy");
	for (int round = 0; round < 4; round++)
		wrong += touch(numbers, count);
	say("wrong", (int)wrong);
	CUDA_CHECK(cudaFree(numbers));
	say("flush", CUPTI(cuptiActivityFlushAll)(1));
	print_counts();
	return wrong != 0;
}
