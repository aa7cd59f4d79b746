# rooflinectl: see README.md.  The two commands of a newcomer: `make demo` and `make check`.
#
# Sources are found by wildcard: a new .c or .cu file needs no line here.

BUILD    ?= build
PREFIX   ?= /usr/local
VERSION  := 0.1.0
CC       ?= cc
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
CFLAGS   ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) $(SANITIZER) -MMD -MP -fPIC -Iinclude \
	     -DROOFLINE_VERSION='"$(VERSION)"'

# SANITIZE=1 builds everything with ASan and UBSan; `make check` does so into build/sanitized.
ifeq ($(SANITIZE),1)
SANITIZER := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# The CUDA toolkit is optional: without it the collector and the workloads are left out.
NVCC       ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_HOME  ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
CUPTI_H    := $(firstword $(wildcard $(CUDA_HOME)/include/cupti.h $(CUDA_HOME)/extras/CUPTI/include/cupti.h))
CUDA_FLAGS := $(foreach d,$(sort $(CUDA_HOME)/include $(dir $(CUPTI_H))),-isystem $d)
# sm_90 (Hopper) and sm_80 (Ampere) machine code; -rdc for launches from the device.
GENCODE    ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
NVCCFLAGS  ?= -O3 -lineinfo -std=c++17

analyzer_c := $(wildcard analyzer/*.c analyzer/*/*.c analyzer/*/*/*.c)
analyzer_o := $(analyzer_c:%.c=$(BUILD)/%.o)
library_o  := $(filter-out $(BUILD)/analyzer/main.o,$(analyzer_o))
collector_c := $(wildcard collector/*.c)
collector_o := $(collector_c:%.c=$(BUILD)/%.o)
workload_cu := $(wildcard workloads/*.cu)
workloads  := $(workload_cu:workloads/%.cu=$(BUILD)/lib/rooflinectl/workloads/%)

binary    := $(BUILD)/bin/rooflinectl
collector := $(BUILD)/lib/librooflinecollector.so
shared    := $(BUILD)/share/rooflinectl

.PHONY: all analyzer collector workloads
all: analyzer $(if $(CUPTI_H),collector) $(if $(NVCC),workloads)
analyzer: $(binary) $(shared)/.stamp
collector: $(collector)
workloads: $(workloads)

# ---- analyzer: no CUDA anywhere ----
$(BUILD)/analyzer/%.o: analyzer/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Ianalyzer -I. -c $< -o $@

$(binary): $(analyzer_o)
	@mkdir -p $(@D)
	$(CC) $(SANITIZER) -o $@ $^ $(LDFLAGS) -lcsv -ljansson -lstdc++ -lm -lpthread

# What the analyzer reads at run time lies beside it, in the build tree as after `make install`.
$(shared)/.stamp: $(wildcard plots/*.gp) $(wildcard tests/recordings/*/*/*.csv)
	@mkdir -p $(shared)/plots $(shared)/recordings
	$(if $(wildcard plots/*.gp),cp plots/*.gp $(shared)/plots/)
	$(if $(wildcard tests/recordings/*),cp -r tests/recordings/. $(shared)/recordings/)
	@touch $@

# ---- collector: the only room that sees CUPTI ----
$(BUILD)/collector/%.o: collector/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fvisibility=hidden $(CUDA_FLAGS) -c $< -o $@

$(collector): $(collector_o)
	@mkdir -p $(@D)
	$(CC) $(SANITIZER) -shared -Wl,-z,defs -Wl,-z,now -o $@ $^ $(LDFLAGS) -ldl -lpthread

# ---- workloads ----
$(BUILD)/lib/rooflinectl/workloads/%: workloads/%.cu $(wildcard workloads/*.cuh workloads/*.h)
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) $(GENCODE) -rdc=true -cudart static -Iworkloads -o $@ $< -lcudadevrt

# ---- trial programs for `make check-gpu` and the cost benchmark; cost.sh says how to run them ----
gpu_tests := $(patsubst tests/gpu/%.cu,$(BUILD)/tests/gpu/%,$(wildcard tests/gpu/*.cu)) \
	     $(patsubst tests/gpu/%.c,$(BUILD)/tests/gpu/%,$(wildcard tests/gpu/*.c)) \
	     $(BUILD)/tests/gpu/many_launches_shared
GPU_TEST = $(NVCC) $(NVCCFLAGS) $(GENCODE) -rdc=true -Iworkloads

.PHONY: gpu-tests
gpu-tests: $(gpu_tests)

$(BUILD)/tests/gpu/%: tests/gpu/%.cu tests/gpu/trial.cuh workloads/cuda_check.cuh
	@mkdir -p $(@D)
	$(GPU_TEST) -cudart static -o $@ $< -lcudadevrt

$(BUILD)/tests/gpu/%_shared: tests/gpu/%.cu tests/gpu/trial.cuh workloads/cuda_check.cuh
	@mkdir -p $(@D)
	$(GPU_TEST) -cudart shared -Xlinker -rpath,$(CUDA_HOME)/lib64 -o $@ $< -lcudadevrt

$(BUILD)/tests/gpu/%: tests/gpu/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARNINGS) $(CFLAGS) $(CUDA_FLAGS) -o $@ $< $(LIBCUDA)

# The driver's library is linked from the toolkit's stub and found at run time.
$(BUILD)/tests/gpu/driver_api: LIBCUDA = -L$(CUDA_HOME)/lib64/stubs -lcuda

-include $(analyzer_o:.o=.d) $(collector_o:.o=.d)
