/*
 * cubin.h - what a kernel's machine code tells: read from the ELF file that the driver has loaded.
 *
 * Sizes and offsets in the file are not trusted.  Knows nothing of CUPTI.
 */
#ifndef ROOFLINE_CUBIN_H
#define ROOFLINE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instructions of 16 bytes, with what pads the end.  Those of half precision are told apart, because no
 * hardware counter does: ptxas also sets registers to constants with them. */
struct cubin_counts {
	uint32_t instructions;
	uint32_t half_constants;   /* set a register to a constant */
	uint32_t half_conversions; /* from half precision to single */
	uint32_t half_arithmetic;  /* the others: add, multiply, multiply and add */
	/* Of programmatic dependent launch (griddepcontrol), from sm_90 on: */
	uint32_t dependency_waits;   /* for the kernels before it in the stream */
	uint32_t dependent_launches; /* the next kernel may begin */
	uint32_t loads; /* from memory that all blocks see: global, generic, and to shared memory */
	uint32_t
		loads_before_wait; /* of them, those that stand before the first of dependency_waits; 0: there is none */
};

struct cubin_kernel {
	const char *name; /* mangled; valid during the call */
	uint32_t sm;	  /* 90 for compute capability 9.0 */
	uint32_t local_bytes_per_thread;
	struct cubin_counts counts; /* with those of the functions that it may call */
};

/* A variable in global memory: __device__, or __managed__. */
struct cubin_variable {
	uint64_t bytes;
	bool is_managed;
};

/* Each may be NULL. */
struct cubin_visitor {
	void (*kernel)(const struct cubin_kernel *kernel, void *context);
	void (*variable)(const struct cubin_variable *variable, void *context);
};

/* Call the visitor for every kernel and variable of a file.  Returns the number of kernels: 0 for what is no cubin. */
size_t cubin_read(const void *bytes, size_t size, const struct cubin_visitor *visitor,
		  void *context);

#endif
