#include "analysis/statistics/spilled_kernels.h"

#define LEAST_BYTES 32
/* Registers are had in units of so many, and so is a limit by launch bounds: a kernel that ends between two was not
 * limited.  The most that a thread can have is no multiple. */
#define REGISTER_UNIT 8
#define REGISTERS_MOST 255
#define REGISTER_BYTES 4
/* Values that are not live at once may have a slot each: 1.5 times what registers would hold takes limited_kernel of
 * the workload overfused. */
#define SLOTS_MOST 2

/* A limit, and not much more memory than the registers beyond it would hold: the compiler would keep it there without. */
bool spilled_signature(const struct profile_signature *signature)
{
	uint32_t registers = signature->registers_per_thread;
	uint32_t bytes = signature->local_bytes_per_thread;

	if (bytes < LEAST_BYTES || registers >= REGISTERS_MOST)
		return bytes >= LEAST_BYTES;
	return registers % REGISTER_UNIT == 0 &&
	       bytes <= SLOTS_MOST * REGISTER_BYTES * (REGISTERS_MOST - registers);
}

bool spilled_kernel(const struct profile *profile, uint32_t kernel)
{
	for (size_t i = 0; i < profile->signature_count; i++)
		if (profile->signatures[i].kernel == kernel &&
		    spilled_signature(&profile->signatures[i]))
			return true;
	return false;
}
