/* second_subscriber: a program that subscribes to CUPTI itself, as another tool in the process would.
 * second_subscriber [--way 0|1|2] [--first 0|1] [--launches N] LIBRARY
 * Subscribes by cuptiSubscribe (way 0), by cuptiSubscribe_v2 as one that allows no other (1), or as one that allows
 * others, which 13.3 and newer can (2); before CUDA starts with --first 1, else after some kernels.
 * Prints what CUPTI answered, and whether its kernels counted right. */
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

static int subscribe(void *cupti, long way)
{
	CUpti_SubscriberHandle subscriber;
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
	long launches = 1000, way = 0, first = 0;
	int at = trial_parse(argc, argv,
			     {{"launches", &launches}, {"way", &way}, {"first", &first}});
	void *cupti = at < argc ? dlopen(argv[at], RTLD_NOW) : nullptr;
	bool is_right = true;

	if (!cupti)
		return 3;
	if (!first)
		is_right = trial_count(launches);
	printf("subscribed %d\n", subscribe(cupti, way));
	is_right = trial_count(launches) && is_right;
	printf("counted %d\n", is_right);
	return 0;
}
