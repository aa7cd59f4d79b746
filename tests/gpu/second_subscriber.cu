/* second_subscriber: a program that subscribes to CUPTI itself, as another tool in the process would.
 * second_subscriber [--way 0|1|2] [--first 0|1] [--records 0|1] [--launches N] LIBRARY
 * Subscribes by cuptiSubscribe (way 0), by cuptiSubscribe_v2 as one that allows no other (1), or as one that allows
 * others, which 13.3 and newer can (2); before CUDA starts with --first 1, else after some kernels.
 * With --records 1 it asks for records of kernels, whatever it was answered, as PyTorch's profiler does, and prints how
 * many it got; as one that allows others (2) by the functions that name its handle.
 * Prints what CUPTI answered, and whether its kernels counted right. */
#include <atomic>
#include <cstring>

#include <cupti.h>
#include <dlfcn.h>

#include "trial.cuh"

/* CUpti_SubscriberParams of 13.3 and newer. */
struct subscriber_parameters {
	size_t size;
	const char *name;
	char *other;
	size_t other_size;
	uint8_t allows_others, unused[7];
};

static void CUPTIAPI callback(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *)
{
}

static CUpti_SubscriberHandle subscriber;

/* ---- records ---- */

static void *library;
static bool is_shared;
static std::atomic<long> kernel_count;

template <typename function> static function *find(const char *name)
{
	return (function *)dlsym(library, name);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*size = 1 << 20;
	*buffer = (uint8_t *)calloc(1, *size);
	*most_records = 0;
}

static CUptiResult next_record(uint8_t *buffer, size_t bytes, CUpti_Activity **record)
{
	static auto shared =
		find<CUptiResult(CUpti_SubscriberHandle, uint8_t *, size_t, CUpti_Activity **)>(
			"cuptiActivityGetNextRecord_v2");
	static auto alone =
		find<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord");

	return is_shared ? shared(subscriber, buffer, bytes, record) : alone(buffer, bytes, record);
}

static void count_records(uint8_t *buffer, size_t bytes)
{
	CUpti_Activity *record = nullptr;

	while (next_record(buffer, bytes, &record) == CUPTI_SUCCESS)
		kernel_count += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t bytes)
{
	count_records(buffer, bytes);
}

static void CUPTIAPI give_shared(uint8_t **buffer, size_t *size, size_t *most_records, void *)
{
	give_buffer(buffer, size, most_records);
}

static void CUPTIAPI take_shared(uint8_t *buffer, size_t, size_t bytes, void *)
{
	count_records(buffer, bytes);
}

static void ask_for_records()
{
	int registered, enabled;

	if (is_shared) {
		registered = find<int(CUpti_SubscriberHandle, void *, void *)>(
			"cuptiActivityRegisterCallbacks_v2")(subscriber, (void *)give_shared,
							     (void *)take_shared);
		enabled = find<int(CUpti_SubscriberHandle, int, void *)>(
			"cuptiActivityEnable_v2")(subscriber, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
						  nullptr);
	} else {
		registered = find<decltype(cuptiActivityRegisterCallbacks)>(
			"cuptiActivityRegisterCallbacks")(give_buffer, take_buffer);
		enabled = find<decltype(cuptiActivityEnable)>("cuptiActivityEnable")(
			CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	}
	printf("registered %d\nenabled %d\n", registered, enabled);
}

/* ---- subscribing ---- */

static int subscribe(void *cupti, long way)
{
	char other[64] = "";
	subscriber_parameters parameters = {way == 2 ? sizeof(parameters) : 32,
					    "another tool",
					    other,
					    sizeof(other),
					    way == 2,
					    {}};
	auto first = (decltype(&cuptiSubscribe))dlsym(cupti, "cuptiSubscribe");
	auto second = (int (*)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
			       void *))dlsym(cupti, "cuptiSubscribe_v2");
	int result;

	if (way && !second)
		return -1;
	result = way ? second(&subscriber, callback, nullptr, &parameters)
		     : (int)first(&subscriber, callback, nullptr);
	printf("name %s\n", *other ? other : "none");
	return result;
}

int main(int argc, char **argv)
{
	long launches = 1000, way = 0, first = 0, records = 0;
	int result, at = trial_parse(argc, argv,
				     {{"launches", &launches},
				      {"way", &way},
				      {"first", &first},
				      {"records", &records}});
	void *cupti = at < argc ? dlopen(argv[at], RTLD_NOW) : nullptr;
	bool is_right = true;

	if (!cupti)
		return 3;
	if (!first)
		is_right = trial_count(launches);
	library = cupti;
	result = subscribe(cupti, way);
	is_shared = way == 2 && result == 0;
	printf("subscribed %d\n", result);
	if (records)
		ask_for_records();
	is_right = trial_count(launches) && is_right;
	if (records) {
		find<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll")(
			CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
		printf("kernels %ld\n", kernel_count.load());
	}
	printf("counted %d\n", is_right);
	return 0;
}
