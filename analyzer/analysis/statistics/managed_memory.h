/*
 * managed_memory.h - what the driver did with managed memory: page faults and migrations, by kind, place and cause
 * (--managed).
 */
#ifndef ROOFLINE_ANALYSIS_MANAGED_MEMORY_H
#define ROOFLINE_ANALYSIS_MANAGED_MEMORY_H

#include "trace/profile.h"

/* KIND(constant, key, title, whether its value is bytes) */
#define MANAGED_KINDS(KIND)                                                                      \
	KIND(MANAGED_TO_DEVICE, "moved_to_device", "moved", true)                                \
	KIND(MANAGED_TO_HOST, "moved_to_host", "moved", true)                                    \
	KIND(MANAGED_CPU_FAULT, "cpu_page_faults", "page faults on the host", false)             \
	KIND(MANAGED_GPU_FAULTS, "gpu_page_faults", "page faults on", false)                     \
	KIND(MANAGED_THRASHING, "thrashing", "moved to and fro too often", true)                 \
	KIND(MANAGED_THROTTLING, "throttling", "made to wait, against moving to and fro", false) \
	KIND(MANAGED_REMOTE_MAP, "remote_mapping", "mapped where it lies", true)                 \
	KIND(MANAGED_BETWEEN_DEVICES, "moved_between_devices", "moved", true)

/* All of one kind, source, destination and cause. */
struct managed_row {
	uint32_t kind;		      /* enum profile_managed_kind */
	uint32_t source, destination; /* devices[], PROFILE_NONE: the host, or it does not apply */
	uint32_t cause;		      /* of what was moved, else 0 */
	uint64_t count;		      /* records */
	uint64_t value;		      /* bytes, or faults */
	int64_t time_ns;	      /* in which any of them went on */
};

struct managed_device {
	int64_t kernel_ns;   /* of all its kernels together */
	int64_t faulting_ns; /* of it, while page faults of this GPU were served */
};

struct managed_memory {
	struct managed_row *rows; /* longest first */
	size_t row_count;
	struct managed_device *devices; /* as profile->devices[] */
	size_t device_count;		/* 0: nothing was recorded */
};

/* -ENOMEM. */
int managed_memory_build(struct managed_memory **out, const struct profile *profile,
			 struct err *err);
void managed_memory_free(struct managed_memory *managed);

/* Whether the program uses managed memory and what became of it was not recorded. */
bool managed_memory_is_missing(const struct profile *profile);

const char *managed_kind_key(uint32_t kind);
const char *managed_kind_title(uint32_t kind);
bool managed_kind_has_bytes(uint32_t kind);
bool managed_kind_is_move(uint32_t kind);

/* "page fault", "prefetch", ...; NULL for none that is known. */
const char *managed_cause_name(uint32_t cause);

#endif
