#include "nvtx_stubs.h"

#include <stddef.h>
#include <stdint.h>

/* ---- what NVTX gives to a tool: nvtxDetail/nvtxTypes.h of version 3 ---- */

/* All functions of NVTX take up to three numbers or addresses and return one or none.  So one type does for all of them: both
 * architectures of CUDA pass these in registers, and who takes or returns fewer leaves the others alone. */
typedef uintptr_t nvtx_function(uintptr_t, uintptr_t, uintptr_t);
typedef nvtx_function *nvtx_place; /* where a module has one */

enum { CALLBACKS = 1 }; /* NVTX_ETID_CALLBACKS */
enum { CORE = 1, CUDA = 2, CUDART = 4, CORE2 = 5, SYNC = 6, MODULE_COUNT };

struct callbacks {
	size_t struct_size;
	int (*get_functions)(int module, nvtx_place ***places, unsigned int *count);
};

#define MOST_FUNCTIONS 16 /* of a module of NVTX; the first is none */

/* ---- going on ---- */

static void (*serve_call)(void);
static nvtx_function *cupti_functions[MODULE_COUNT][MOST_FUNCTIONS];

/* What NVTX returns without a tool: of pushes and pops NVTX_NO_PUSH_POP_TRACKING. */
static uintptr_t nothing(int module, int function)
{
	bool is_level = (module == CORE && function >= 8 && function <= 11) ||
			(module == CORE2 && (function == 4 || function == 5));

	return is_level ? (uintptr_t)-2 : 0;
}

static uintptr_t go_on(int module, int number, uintptr_t a, uintptr_t b, uintptr_t c)
{
	nvtx_function *function;

	__atomic_load_n(&serve_call, __ATOMIC_ACQUIRE)();
	function = __atomic_load_n(&cupti_functions[module][number], __ATOMIC_ACQUIRE);
	return function ? function(a, b, c) : nothing(module, number);
}

/* ---- the stubs, each of which knows no more than its number ---- */

#define STUB(module, number)                                                             \
	static uintptr_t stub_##module##_##number(uintptr_t a, uintptr_t b, uintptr_t c) \
	{                                                                                \
		return go_on(module, number, a, b, c);                                   \
	}
#define STUB_NAME(module, number) [number] = stub_##module##_##number,

#define FIRST_SIX(ROW, module) \
	ROW(module, 1) ROW(module, 2) ROW(module, 3) ROW(module, 4) ROW(module, 5) ROW(module, 6)
#define FIRST_EIGHT(ROW, module) FIRST_SIX(ROW, module) ROW(module, 7) ROW(module, 8)
#define FIRST_FIFTEEN(ROW, module) \
	FIRST_EIGHT(ROW, module)   \
	ROW(module, 9)             \
	ROW(module, 10)            \
	ROW(module, 11) ROW(module, 12) ROW(module, 13) ROW(module, 14) ROW(module, 15)

/* Names of OpenCL's objects are left out, which CUPTI has no functions for. */
FIRST_FIFTEEN(STUB, CORE)
FIRST_EIGHT(STUB, CUDA)
FIRST_SIX(STUB, CUDART)
FIRST_FIFTEEN(STUB, CORE2)
FIRST_SIX(STUB, SYNC)

static nvtx_function *const stubs[MODULE_COUNT][MOST_FUNCTIONS] = {
	[CORE] = {FIRST_FIFTEEN(STUB_NAME, CORE)}, [CUDA] = {FIRST_EIGHT(STUB_NAME, CUDA)},
	[CUDART] = {FIRST_SIX(STUB_NAME, CUDART)}, [CORE2] = {FIRST_FIFTEEN(STUB_NAME, CORE2)},
	[SYNC] = {FIRST_SIX(STUB_NAME, SYNC)},
};

/* ---- in a module ---- */

/* Where a function of it is, or NULL.  Older NVTX has fewer. */
static nvtx_place *place_of(void *table, int module, unsigned int number)
{
	const struct callbacks *(*get_table)(uint32_t) =
		(const struct callbacks *(*)(uint32_t))table;
	const struct callbacks *callbacks = table ? get_table(CALLBACKS) : NULL;
	nvtx_place **places;
	unsigned int count;

	if (!callbacks || callbacks->struct_size < sizeof(*callbacks) ||
	    !callbacks->get_functions(module, &places, &count))
		return NULL;
	return number < count ? places[number] : NULL;
}

static void for_each(void *table, void (*act)(nvtx_place *place, int module, int number))
{
	for (int module = 0; module < MODULE_COUNT; module++)
		for (int number = 0; number < MOST_FUNCTIONS; number++) {
			nvtx_place *place = stubs[module][number]
						    ? place_of(table, module, (unsigned int)number)
						    : NULL;

			if (place)
				act(place, module, number);
		}
}

static void put(nvtx_place *place, int module, int number)
{
	__atomic_store_n(place, stubs[module][number], __ATOMIC_RELEASE);
}

/* A thread that is in a stub finds CUPTI's function there. */
static void end(nvtx_place *place, int module, int number)
{
	nvtx_function *function = stubs[module][number];

	if (!__atomic_compare_exchange_n(place, &function, NULL, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		__atomic_store_n(&cupti_functions[module][number], function, __ATOMIC_RELEASE);
}

bool nvtx_stubs_put(void *table, void (*serve)(void))
{
	if (!place_of(table, CORE, 1))
		return false;
	__atomic_store_n(&serve_call, serve, __ATOMIC_RELEASE);
	for_each(table, put);
	return true;
}

void nvtx_stubs_end(void *table)
{
	for_each(table, end);
}

static nvtx_any_function *function_of(void *table, unsigned int number)
{
	nvtx_place *place = place_of(table, CORE2, number);
	nvtx_function *function = place ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : NULL;

	return function == stubs[CORE2][number] ? NULL : (nvtx_any_function *)function;
}

enum { DOMAIN_PUSH = 4, DOMAIN_POP = 5 }; /* of CORE2 */

nvtx_any_function *nvtx_stubs_domain_pop(void *table)
{
	return function_of(table, DOMAIN_POP);
}

nvtx_any_function *nvtx_stubs_domain_push(void *table)
{
	return function_of(table, DOMAIN_PUSH);
}

void nvtx_stubs_replace_domain_push(void *table, nvtx_any_function *function)
{
	__atomic_store_n(place_of(table, CORE2, DOMAIN_PUSH), (nvtx_function *)function,
			 __ATOMIC_RELEASE);
}
