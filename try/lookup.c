/*
 * lookup.c - a program that looks up a function of the driver gets one of ours.
 *
 * libcudart, static or shared, and other libraries find the driver's functions by cuGetProcAddress, which they find by
 * dlsym; programs that are linked with libcuda.so call the names that stubs.c exports.  dlvsym is left alone: libcuda.so
 * gives its functions no versions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "bare.h"
#include "checksums.h"
#include "counts.h"
#include "deferred.h"
#include "driver.h"
#include "handlers.h"
#include "launches.h"
#include "memory.h"
#include "lookup.h"
#include "modules.h"
#include "pinned.h"
#include "pool.h"
#include "process.h"
#include "registered.h"
#include "stubs.h"
#include "synchronize.h"
#include "waits.h"

struct effect {
	enum function_kind kind;
	enum function_memory memory;
	enum function_wait wait;
	enum function_host host;
};

struct function {
	const char *name;
	struct effect effect;
};

#define FUNCTION_ROW(name, kind, memory, wait, host) {name, {kind, memory, wait, host}},
static const struct function functions[] = {TRY_FUNCTIONS(FUNCTION_ROW)};
#undef FUNCTION_ROW

struct handler {
	const char *name, *exported;
	int version;
	bool is_per_thread;
	void *function;
};

static const struct handler handlers[] = {
#define HANDLER_ROW(name, version, exported, function) \
	{name, exported, version, false, (void *)function},
#define STREAM_HANDLER_ROW(name, version, exported, function)                                 \
	HANDLER_ROW(name, version, exported, function){name, exported "_ptsz", version, true, \
						       (void *)function##_ptsz},
#define COPY_HANDLER_ROW(name, version, exported, function)                                   \
	HANDLER_ROW(name, version, exported, function){name, exported "_ptds", version, true, \
						       (void *)function##_ptds},
	TRY_HANDLERS(HANDLER_ROW, STREAM_HANDLER_ROW, COPY_HANDLER_ROW)
#undef COPY_HANDLER_ROW
#undef HANDLER_ROW
#undef STREAM_HANDLER_ROW
};

enum { FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0]) };
enum { NEWEST_KNOWN = 13000 };
enum { HANDLER_COUNT = sizeof(handlers) / sizeof(handlers[0]) };

/* What a stub stands in front of. */
struct stub {
	const char *name;
	struct effect effect;
};

static struct stub stubs[STUBS_COUNT];
static unsigned stubs_used = STUBS_ROWS;
static pthread_mutex_t stubs_lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult CUDAAPI not_found(void)
{
	return CUDA_ERROR_NOT_FOUND;
}

const char *lookup_stub_name(unsigned stub)
{
	if (stub < STUBS_ROWS)
		return functions[stub - 1].name;
	return stub < STUBS_COUNT ? stubs[stub].name : "";
}

unsigned lookup_row(const char *exported)
{
	for (unsigned i = 0; i < FUNCTION_COUNT; i++)
		if (!strcmp(functions[i].name, exported))
			return i + 1;
	return 0;
}

static struct effect stub_effect(unsigned stub)
{
	if (stub < STUBS_ROWS)
		return functions[stub - 1].effect;
	return stub < STUBS_COUNT ? stubs[stub].effect
				  : (struct effect){FREES, RETURNS, EXPOSES, TAKES};
}

/* Whether something is to be done before it also where nothing was put off. */
static bool is_always_told(struct effect effect)
{
	return effect.kind > FLUSHES || (effect.memory > LEAVES && process_wants(TRY_POOL)) ||
	       (effect.memory == LOSES && (process_wants(TRY_PINNED) || checksums_are_wanted())) ||
	       (effect.host > UNAWARE && process_wants(TRY_PINNED)) ||
	       (effect.wait > QUIET && process_wants(TRY_FEWER_WAITS));
}

void *try_resolve(unsigned stub)
{
	void *found = driver_symbol(functions[stub - 1].name);

	if (!found) /* a library of the program may have one of its own */
		found = driver_dlsym(RTLD_NEXT, functions[stub - 1].name);

	if (process_is_wanted())
		process_start();
	try_always[stub] = process_is_wanted() && is_always_told(functions[stub - 1].effect);
	__atomic_store_n(&try_targets[stub], found ? found : (void *)not_found, __ATOMIC_RELEASE);
	if (try_always[stub])
		try_before(stub);
	return try_targets[stub];
}

void *try_before(unsigned stub)
{
	struct effect effect = stub_effect(stub);

	deferred_before(stub, effect.kind);
	checksums_before(effect.memory);
	pool_before(effect.memory);
	waits_before(effect.wait);
	pinned_before(effect.memory, effect.host);
	if (try_targets[stub] == (void *)try_unresolved)
		return try_resolve(stub);
	return try_targets[stub];
}

/* Whether an exported name is a version of the function: cuMemAlloc, cuMemAlloc_v2, cuMemAlloc_ptsz. */
static bool is_version_of(const char *exported, const char *name, size_t length)
{
	return !strncmp(exported, name, length) &&
	       (!exported[length] || !strncmp(exported + length, "_v", 2) ||
		!strncmp(exported + length, "_pt", 3));
}

/* Of a function that is in no row: what begins a capture cannot be followed. */
static struct effect effect_of_unknown(const char *name)
{
	return strstr(name, "Capture") ? (struct effect){STOPS, ENDS, EXPOSES, TAKES}
				       : (struct effect){FREES, RETURNS, EXPOSES, TAKES};
}

/* A version of a function that is newer than this library may do anything, also to memory, events and streams that are known
 * here.  Functions that a newer cuGetProcAddress returns are not seen at all. */
static struct effect effect_of_newer(const char *name)
{
	bool is_followed = !strstr(name, "Capture") && !strstr(name, "GetProcAddress");

	return (struct effect){is_followed ? FORGETS : STOPS, ENDS, EXPOSES, TAKES};
}

/* Which of its versions cuGetProcAddress gave is not known: what all of them need. */
static struct effect effect_of_versions(const char *name, bool is_per_thread)
{
	size_t length = strlen(name);
	struct effect effect = {HANDLED, LEAVES, QUIET, UNAWARE};
	bool is_known = false;

	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		if (is_version_of(functions[i].name, name, length) &&
		    (is_per_thread || !strstr(functions[i].name, "_pt"))) {
			const struct effect *one = &functions[i].effect;

			is_known = true;
			effect.kind = one->kind > effect.kind ? one->kind : effect.kind;
			effect.memory = one->memory > effect.memory ? one->memory : effect.memory;
			effect.wait = one->wait > effect.wait ? one->wait : effect.wait;
			effect.host = one->host > effect.host ? one->host : effect.host;
		}
	if (!is_known)
		return effect_of_unknown(name);
	effect.kind = effect.kind == HANDLED ? FLUSHES : effect.kind;
	return effect;
}

static unsigned take_stub(const char *name, struct effect effect, void *real)
{
	unsigned stub;

	for (stub = STUBS_ROWS; stub < stubs_used; stub++)
		if (try_targets[stub] == real)
			return stub;
	if (stub == STUBS_COUNT)
		return 0;
	stubs[stub] = (struct stub){.name = strdup(name), .effect = effect};
	if (!stubs[stub].name)
		return 0;
	try_targets[stub] = real;
	try_always[stub] = is_always_told(effect);
	stubs_used++;
	return stub;
}

/* In front of real; where there are no stubs left nothing is put off any more. */
static void *stub_for(const char *name, struct effect effect, void *real)
{
	unsigned stub;

	if (effect.kind == ASKS && effect.memory == LEAVES && effect.wait == QUIET &&
	    effect.host == UNAWARE)
		return real;
	pthread_mutex_lock(&stubs_lock);
	stub = take_stub(name, effect, real);
	pthread_mutex_unlock(&stubs_lock);
	if (stub)
		return stubs_address(stub);
	deferred_stop(TRY_NO_MEMORY);
	pool_before(ENDS);
	waits_stop(TRY_NO_MEMORY);
	pinned_before(LEAVES, TAKES);
	return real;
}

void lookup_before_fork(void)
{
	pthread_mutex_lock(&stubs_lock);
}

void lookup_after_fork(void)
{
	pthread_mutex_unlock(&stubs_lock);
}

static bool is_ours(const void *address)
{
	for (size_t i = 0; i < HANDLER_COUNT; i++)
		if (handlers[i].function == address)
			return true;
	return false;
}

/* A version of CUDA after the newest that this was written for may give a function other arguments, as 13.0 did for
 * cuCtxSynchronize.  The driver gives the same address where it is the same function. */
static bool is_newer(const char *name, int version, cuuint64_t flags, const void *real)
{
	void *known = NULL;

	return version > NEWEST_KNOWN &&
	       (driver_open()->get_proc_address(name, &known, NEWEST_KNOWN, flags, NULL) !=
			CUDA_SUCCESS ||
		known != real);
}

/* cuGetProcAddress found real. */
static void *replace_by_version(const char *name, int version, cuuint64_t flags, void *real)
{
	bool is_per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

	if (is_newer(name, version, flags, real))
		return stub_for(name, effect_of_newer(name), real);
	for (size_t i = 0; i < HANDLER_COUNT; i++) {
		const struct handler *handler = &handlers[i];
		bool has_two = handler->is_per_thread ||
			       (i + 1 < HANDLER_COUNT && handlers[i + 1].is_per_thread);

		if (!strcmp(handler->name, name) && version >= handler->version &&
		    (!has_two || handler->is_per_thread == is_per_thread))
			return handler->function;
	}
	return stub_for(name, effect_of_versions(name, is_per_thread), real);
}

/* dlsym found real, by the very name that the driver exports. */
static void *replace_exported(const char *name, void *real)
{
	for (size_t i = 0; i < HANDLER_COUNT; i++)
		if (!strcmp(handlers[i].exported, name))
			return handlers[i].function;
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		if (!strcmp(functions[i].name, name))
			return stub_for(name, functions[i].effect, real);
	for (size_t i = 0; i < HANDLER_COUNT; i++)
		if (is_version_of(name, handlers[i].name, strlen(handlers[i].name)))
			return stub_for(name, effect_of_newer(name), real);
	return stub_for(name, effect_of_unknown(name), real);
}

bool lookup_is_driver_name(const char *name)
{
	return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

void *try_dlsym(void *library, const char *name, const void *caller)
{
	void *real = NULL;

	driver_find_dlsym(); /* so that there is one to go on to */
	if (!name || !lookup_is_driver_name(name))
		return NULL;
	if (library == RTLD_NEXT)
		return bare_is_in_front(caller) && !bare_find(name, caller) ? try_nothing : NULL;
	if (library != RTLD_DEFAULT)
		real = driver_dlsym(library, name);
	if (library == RTLD_DEFAULT || bare_is_own(real)) {
		real = bare_find(name, caller);
		if (!real)
			return try_nothing;
	}
	if (!real || !process_is_wanted() || real != driver_symbol(name) ||
	    !driver_open()->is_complete)
		return NULL;
	process_start();
	return replace_exported(name, real);
}

/* Before CUDA 12: nothing is put off, so nothing is replaced. */
static CUresult ask_old_driver(const char *name, void **function, int version, cuuint64_t flags)
{
	CUresult (*ask)(const char *, void **, int, cuuint64_t) =
		(__typeof__(ask))driver_symbol("cuGetProcAddress");

	return ask ? ask(name, function, version, flags) : CUDA_ERROR_NOT_FOUND;
}

CUresult try_get_proc_address_v2(const char *name, void **function, int version, cuuint64_t flags,
				 CUdriverProcAddressQueryResult *status)
{
	const struct driver *driver = driver_open();
	CUresult result;

	if (!driver->get_proc_address)
		return ask_old_driver(name, function, version, flags);
	result = driver->get_proc_address(name, function, version, flags, status);
	if (result != CUDA_SUCCESS || !driver->is_complete || !name || !function || !*function ||
	    !process_is_wanted() || is_ours(*function))
		return result;
	process_start();
	*function = replace_by_version(name, version, flags, *function);
	return result;
}

CUresult try_get_proc_address(const char *name, void **function, int version, cuuint64_t flags)
{
	return try_get_proc_address_v2(name, function, version, flags, NULL);
}
