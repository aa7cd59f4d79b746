/*
 * nvml.h - what the collector uses of NVIDIA's management library, resolved by name.
 *
 * Its header is not part of every toolkit, so the few functions are declared here.
 */
#ifndef ROOFLINE_NVML_H
#define ROOFLINE_NVML_H

#include <stdbool.h>

#define NVML_OK 0
#define NVML_CLOCK_OF_SM 1
#define NVML_CLOCK_OF_MEMORY 2
#define NVML_TEMPERATURE_OF_GPU 0

typedef struct nvml_device *nvml_device;

struct nvml {
	int (*init)(void);
	int (*shutdown)(void);
	int (*find)(const char *uuid, nvml_device *device);
	int (*clock)(nvml_device device, int which, unsigned int *mhz);
	int (*power)(nvml_device device, unsigned int *milliwatts);
	int (*temperature)(nvml_device device, int which, unsigned int *celsius);
	int (*reasons)(nvml_device device, unsigned long long *reasons);
};

/* Loads the library from where the linker finds it, or from where libcuda lies.  Returns false when there is none, or
 * when it lacks a function. */
bool nvml_load(struct nvml *nvml);

#endif
