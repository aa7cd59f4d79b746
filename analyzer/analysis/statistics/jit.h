/*
 * jit.h - code that a program compiles or loads while it runs: how often, what that takes, and for how many launches.
 *
 * Of a compiler in the program itself, such as NVRTC or nvJitLink, no recording has calls.  It runs in host code right
 * before the load of what it made, so that is what its time is at most: of loads of what does not lie in the program or a
 * library, of which older recordings do not tell.  Those of CUDA 13 leave records of JIT there, too short to be all of it,
 * but show that a compiler ran.  The driver compiles PTX within the load, and that is recorded.
 */
#ifndef ROOFLINE_JIT_H
#define ROOFLINE_JIT_H

#include "trace/profile.h"

/* Host code right before a load that is shorter is no compiler's. */
#define JIT_LEAST_HOST_NS 100000

/* A call that loads code which is not known to lie in the program or a library. */
struct jit_load {
	uint32_t call;	   /* calls[] */
	uint32_t module;   /* modules[], or PROFILE_NONE: not known */
	uint32_t image;	   /* enum profile_image */
	bool is_again;	   /* its process had loaded the same code before */
	bool is_refused;   /* by the driver */
	bool is_compiled;  /* a compiler was seen in the host code right before it */
	int64_t host_ns;   /* of host code right before it; 0: too short for a compiler */
	int64_t driver_ns; /* of the call: the driver compiled, or used its cache on disk */
};

/* All loads of code in which one kernel is the first that ever ran. */
struct jit_kernel {
	const char *name; /* demangled; NULL: of code of which none ran, or is known */
	uint64_t load_count, again_count;
	int64_t host_ns, driver_ns;
	int64_t load_ns; /* the calls, with driver_ns */
	uint64_t launch_count;
	int64_t kernel_ns; /* of the launches */
};

struct jit {
	struct jit_load *loads; /* by call */
	size_t load_count;
	struct jit_kernel *kernels; /* by what they cost */
	size_t kernel_count;
	uint64_t known_count, again_count, refused_count, unload_count, ptx_count, compiled_count;
	/* Of the driver, in loads: compilations, and what its cache on disk gave and got. */
	uint64_t driver_count, hit_count, store_count;
	int64_t host_ns, driver_ns, load_ns, unload_ns;
	uint64_t launch_count; /* of kernels that were loaded so */
};

/* Never NULL but without memory (-ENOMEM); empty where nothing was loaded. */
int jit_build(struct jit **out, const struct profile *profile, struct err *err);
void jit_free(struct jit *jit);

/* The load that a call is, or NULL. */
const struct jit_load *jit_load_of(const struct jit *jit, uint32_t call);

/* What compiling and loading took together, ns. */
double jit_cost_ns(const struct jit *jit);

/* Whether anything was compiled, loaded again or refused: what programs always load at their start is not. */
bool jit_is_any(const struct jit *jit);

/* Whether a call takes code that was loaded out of memory. */
bool jit_is_unload(const struct profile *profile, const struct profile_call *call);

#endif
