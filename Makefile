# rooflinectl: see README.md.  The two commands of a newcomer: `make demo` and `make check`.
#
# Sources and tests are found by wildcard: a new .c, .cu, .bats or .sh file needs no line here.

# Build on all cores, unless -j says on how many; a make that this one starts shares them.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

BUILD    ?= build
PREFIX   ?= /usr/local
VERSION  := 0.1.0
CC       ?= cc
ifeq ($(SANITIZE),clang)
CC       := clang
endif
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
# Sanitizers find the same at -O1, which compiles in half the time, and need only lines; what few tests run, not optimized.
CFLAGS   ?= $(or $(flags_$(SANITIZE)),-O2 -g)
flags_1         := -O1 -g1
flags_fuzz      := -O1 -g1
flags_clang     := -O0 -g1
# With that, what a report of ten million kernels executes is 5% less.
ANALYZER_CFLAGS := $(if $(SANITIZE),,$(if $(filter file,$(origin CFLAGS)),-O3))
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) $(SANITIZER) -MMD -MP -fPIC -Iinclude \
	     -DROOFLINE_VERSION='"$(VERSION)"'

# SANITIZE=1 builds the C code with ASan and UBSan; `make check` does so into build/sanitized.
ifeq ($(SANITIZE),1)
SANITIZER := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# SANITIZE=clang builds with clang's UBSan and ThreadSanitizer and without optimizing, into build/clang, for few tests: clang
# looks for more than gcc, and what is optimized away is not found.  Programs have the sanitizers' code, and libraries use it.
ifeq ($(SANITIZE),clang)
SANITIZER := -fsanitize=thread,undefined,float-cast-overflow -fno-sanitize-recover=all -DBLOCKS_ARE_COUNTED -DWORKER_LEAST_ITEMS=1 \
	     -include tests/tools/thread_sanitizer.h
# Each basic block of the analyzer that runs is counted, in tests/unit/test_scaling.c: clang's library does nothing with it.
BLOCKS := -fsanitize-coverage=trace-pc-guard
endif

# SANITIZE=fuzz builds for libFuzzer, into build/libfuzzer: `make fuzz`.
ifeq ($(SANITIZE),fuzz)
CC        := clang
SANITIZER := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# The CUDA toolkit is optional: without it the collector and the workloads are left out.
NVCC       ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_HOME  ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
CUPTI_H    := $(firstword $(wildcard $(CUDA_HOME)/include/cupti.h $(CUDA_HOME)/extras/CUPTI/include/cupti.h))
CUDA_H     := $(wildcard $(CUDA_HOME)/include/cuda.h)
CUDA_FLAGS := $(foreach d,$(sort $(CUDA_HOME)/include $(dir $(CUPTI_H))),-isystem $d) -isystem collector/compat
# sm_80 (Ampere) and sm_90 (Hopper) machine code, and PTX, which the driver compiles for what comes after: 8 KB and no
# time of its own.  -rdc for launches from the device; the driver links PTX of several objects when it loads them.
GENCODE    ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
	      -gencode arch=compute_90,code=compute_90
comma      := ,
NVCCFLAGS  ?= -O3 -lineinfo -std=c++17

analyzer_c := $(wildcard analyzer/*.c analyzer/*/*.c analyzer/*/*/*.c)
analyzer_o := $(analyzer_c:%.c=$(BUILD)/%.o)
library_o  := $(filter-out $(BUILD)/analyzer/main.o,$(analyzer_o))
collector_c := $(wildcard collector/*.c collector/*/*.c)
collector_o := $(collector_c:%.c=$(BUILD)/%.o)
# Its stubs are written for this machine's instructions; sanitizers call dlsym, which it replaces, before they have started.
try_c      := $(if $(CUDA_H),$(if $(filter x86_64,$(shell uname -m)),$(if $(SANITIZE),,$(wildcard try/*.c))))
try_o      := $(try_c:%.c=$(BUILD)/%.o)
workload_cu := $(filter-out workloads/workload.cu,$(wildcard workloads/*.cu))
workload_py := $(filter-out workloads/workload.py,$(wildcard workloads/*.py))
# Those in Python need no toolkit: they are built always.
python_workloads := $(workload_py:workloads/%.py=$(BUILD)/lib/rooflinectl/workloads/%)
workloads  := $(workload_cu:workloads/%.cu=$(BUILD)/lib/rooflinectl/workloads/%) $(python_workloads)
ceiling_cu := $(wildcard workloads/ceilings/*.cu)
ceilings   := $(ceiling_cu:workloads/ceilings/%.cu=$(BUILD)/lib/rooflinectl/ceilings/%)

binary    := $(BUILD)/bin/rooflinectl
collector := $(BUILD)/lib/librooflinecollector.so
try       := $(if $(try_c),$(BUILD)/lib/librooflinetry.so)
shared    := $(BUILD)/share/rooflinectl
# Those that analyzer/cmd/demo.c reads; tests and documents read tests/recordings itself.
demo_recordings := $(addprefix tests/recordings/,graph_chain.naive.roofline graph_chain.graph.roofline \
		   atomic_batch.naive.roofline)
shared_files    := $(wildcard plots/*.gp html/* ceilings/*.json) $(demo_recordings)

# Debian and Ubuntu packages.  gnuplot-nox:gnuplot is satisfied by any package with that command; charts leave room for texts
# in Liberation Sans, which is as wide as Arial.  The collector is linked with the C++ library's demangler.
demo_packages  := gcc:cc make:make libcsv-dev libjansson-dev zlib1g-dev libarchive-dev libzstd-dev libsqlite3-dev libyajl-dev \
		  uthash-dev libiberty-dev gnuplot-nox:gnuplot fonts-liberation?
build_packages := $(demo_packages) g++:g++
ANALYZER_LIBS := -lcsv -ljansson -lyajl -lsqlite3 -larchive -lzstd -lz -liberty -lm -lpthread
# What clang's sanitizer is linked with: a package of its own since Debian 12, part of another one before.
clang_runtime   = $(if $(wildcard $(shell clang -print-file-name=libclang_rt.ubsan_standalone-$(shell uname -m).a 2>/dev/null)),,libclang-rt-dev?)
check_packages  = libcmocka-dev bats:bats zstd:zstd procps:pkill perl:prove python3:python3 clang-format:clang-format \
		  clang-tidy:clang-tidy clang:clang $(clang_runtime) cppcheck:cppcheck lowdown:lowdown groff-base:groff \
		  shfmt:shfmt mount:mount

.PHONY: all analyzer collector try workloads
all: analyzer $(python_workloads) $(if $(CUPTI_H),collector) try $(if $(NVCC),workloads)
analyzer: $(binary) $(shared)/.stamp
collector: $(collector)
try: $(try)
workloads: $(workloads) $(ceilings)

# ---- what make does not see ----
# It compares times.  These files change when other flags, or another set of sources, would make something else: what was
# made with the old ones is made anew, and nothing stays of a source that is gone.
$(BUILD)/.flags:      export STAMP = $(CC) $(ALL_CFLAGS) $(ANALYZER_CFLAGS) $(BLOCKS) $(LDFLAGS) $(CUDA_FLAGS) $(old_glibc)
$(BUILD)/.nvcc_flags: export STAMP = $(NVCC) $(NVCCFLAGS) $(GENCODE)
$(BUILD)/.sources:    export STAMP = $(analyzer_o) $(collector_o) $(try_o) $(mock_app_o) $(mock_o) $(fake_o) $(program_o) $(shared_files)
# Of a checkout; --version tells it.
$(BUILD)/.commit:     export STAMP = $(shell git describe --always --dirty 2>/dev/null)
$(BUILD)/.flags $(BUILD)/.nvcc_flags $(BUILD)/.sources $(BUILD)/.commit: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$STAMP" | cmp -s - $@ || printf '%s\n' "$$STAMP" >$@
.PHONY: FORCE
inputs = $(filter %.o %.a,$^)

# $(call show,CC) before a command prints one short line in its place, with the source or the file named; V=1 shows the
# command, and -s nothing.
show = $(if $(filter 1,$(V))$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '%-5s %s\n' $(1) $(or $(2),$<) &&)

# ---- analyzer: no CUDA anywhere ----
$(BUILD)/analyzer/%.o: analyzer/%.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call show,CC)$(CC) $(ALL_CFLAGS) $(ANALYZER_CFLAGS) $(BLOCKS) -Ianalyzer -I. -c $< -o $@

$(BUILD)/analyzer/main.o: $(BUILD)/.commit
$(BUILD)/analyzer/main.o: private CFLAGS += -DROOFLINE_COMMIT='"$(shell cat $(BUILD)/.commit 2>/dev/null)"'

# Sanitized it has 230,000 addresses, which a program at a fixed place needs not to be told at each start.
$(binary): $(analyzer_o) $(BUILD)/.sources
	@mkdir -p $(@D)
	$(call show,LINK,$@)$(CC) $(SANITIZER) $(if $(filter 1,$(SANITIZE)),-no-pie) -o $@ $(inputs) $(LDFLAGS) $(ANALYZER_LIBS)

# What the analyzer reads at run time lies beside it, in the build tree as after `make install`.
$(shared)/.stamp: $(shared_files) $(BUILD)/.sources
	@rm -rf $(shared)
	@mkdir -p $(shared)/plots $(shared)/html $(shared)/recordings $(shared)/ceilings
	$(if $(wildcard plots/*.gp),$(call show,COPY,$(shared)/plots)cp plots/*.gp $(shared)/plots/)
	$(call show,COPY,$(shared)/html)html/assemble.sh >$(shared)/html/page.html
	$(call show,COPY,$(shared)/recordings)cp $(demo_recordings) $(shared)/recordings/
	$(if $(wildcard ceilings/*.json),$(call show,COPY,$(shared)/ceilings)cp ceilings/*.json $(shared)/ceilings/)
	@touch $@

# ---- collector: the only module that sees CUPTI ----
$(BUILD)/collector/%.o: collector/%.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call show,CC)$(CC) $(ALL_CFLAGS) $(old_glibc) -fvisibility=hidden $(CUDA_FLAGS) -Icollector -c $< -o $@

# What is preloaded runs with glibc 2.17: collector/compat/old_glibc.h.  Before 2.34 these were libraries of their own; sanitizers
# bring functions of those names, and want the C library of today.
old_glibc      := $(if $(SANITIZER),,-include collector/compat/old_glibc.h)
old_glibc_libs := $(if $(SANITIZER),,-Wl,--push-state -Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -Wl,--pop-state)

# The C++ library's demangler alone, which needs nothing else of it: programs must not get a C++ library from us.
demangler := -Wl,--exclude-libs,libstdc++.a -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic
$(collector): $(collector_o) $(BUILD)/.sources
	@mkdir -p $(@D)
	$(call show,LINK,$@)$(CC) $(SANITIZER) -shared $(if $(filter clang,$(SANITIZE)),,-Wl$(comma)-z$(comma)defs) -Wl,-z,now -Wl,-z,nodelete -o $@ $(inputs) $(LDFLAGS) $(demangler) $(old_glibc_libs) -ldl -lpthread

# ---- try: what is preloaded to try a strategy ----
$(BUILD)/try/%.o: try/%.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call show,CC)$(CC) $(ALL_CFLAGS) $(old_glibc) -DDEFINES_DLOPEN -fvisibility=hidden $(CUDA_FLAGS) -Itry -c $< -o $@

$(BUILD)/lib/librooflinetry.so: $(try_o) $(BUILD)/collector/compat/old_glibc.o $(BUILD)/.sources
	@mkdir -p $(@D)
	$(call show,LINK,$@)$(CC) -shared -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete -o $@ $(inputs) $(LDFLAGS) $(old_glibc_libs) -ldl -lpthread

# ---- workloads ----
# The runner, which takes longer to compile than most workloads, is compiled once.
runner := $(BUILD)/workloads/workload.o
$(runner): workloads/workload.cu $(wildcard workloads/*.cuh workloads/*.h) include/roofline/ranks.h $(BUILD)/.nvcc_flags
	@mkdir -p $(@D)
	$(call show,NVCC)$(NVCC) $(NVCCFLAGS) $(GENCODE) -rdc=true -Iinclude -Iworkloads -c -o $@ $<

$(BUILD)/lib/rooflinectl/workloads/%: workloads/%.cu $(runner) $(wildcard workloads/*.cuh workloads/*.h) $(BUILD)/.nvcc_flags
	@mkdir -p $(@D)
	$(call show,NVCC)$(NVCC) $(NVCCFLAGS) $(GENCODE) -rdc=true -cudart static -Iinclude -Iworkloads -o $@ $< $(runner) -lcudadevrt

# Those with wgmma, an instruction that only machine code for Hopper itself has.  Without -rdc, with which warps cannot hand
# each other registers (setmaxnreg); the stamps that stamps.cuh declares extern are the runner's, which no kernel here uses.
hopper := fuse_conv_bn_relu fuse_layernorm_gemm
$(hopper:%=$(BUILD)/lib/rooflinectl/workloads/%): private HOPPER := \
	$(subst arch=compute_90$(comma)code=sm_90,arch=compute_90a$(comma)code=sm_90a,$(GENCODE))
$(hopper:%=$(BUILD)/lib/rooflinectl/workloads/%): $(BUILD)/lib/rooflinectl/workloads/%: workloads/%.cu $(runner) \
		$(wildcard workloads/*.cuh workloads/*.h) $(BUILD)/.nvcc_flags
	@mkdir -p $(@D)
	$(call show,NVCC)$(NVCC) $(NVCCFLAGS) $(HOPPER) -diag-suppress=20044 -Iinclude -Iworkloads -c -o $(BUILD)/workloads/$*.o $<
	$(call show,LINK,$@)$(NVCC) $(NVCCFLAGS) $(GENCODE) -rdc=true -cudart static -o $@ $(BUILD)/workloads/$*.o $(runner) -lcudadevrt

# What they import and read lies beside them.
$(python_workloads): $(BUILD)/lib/rooflinectl/workloads/%: workloads/%.py workloads/workload.py workloads/workloads.h
	@mkdir -p $(@D)
	@install -m 644 workloads/workload.py workloads/workloads.h $(@D)
	$(call show,COPY)install -m 755 $< $@

# Measuring programs.  Those that launch from the device name -rdc; cuBLASLt is opened at run time.
$(BUILD)/lib/rooflinectl/ceilings/%: workloads/ceilings/%.cu $(wildcard workloads/ceilings/*.cuh) \
				     workloads/cuda_check.cuh workloads/dynamic_library.cuh include/roofline/ceilings.h $(BUILD)/.nvcc_flags
	@mkdir -p $(@D)
	$(call show,NVCC)$(NVCC) $(NVCCFLAGS) $(GENCODE) $(CEILING_FLAGS) -cudart static -Iinclude -Iworkloads -o $@ $< -lcudadevrt -ldl

$(BUILD)/lib/rooflinectl/ceilings/links: workloads/graph_capture.cuh
$(BUILD)/lib/rooflinectl/ceilings/nvshmem: $(addprefix workloads/,nvshmem.cuh signals.cuh processes.cuh gpus.cuh nvtx_range.cuh \
					     workload_options.cuh) include/roofline/ranks.h
$(BUILD)/lib/rooflinectl/ceilings/device_launches: CEILING_FLAGS = -rdc=true
$(BUILD)/lib/rooflinectl/ceilings/tensor: CEILING_FLAGS = -Xlinker -rpath,$(CUDA_HOME)/lib64

# ---- trial programs for `make check-gpu` and the cost benchmark; collector.sh says how to run them ----
gpu_tests := $(patsubst tests/gpu/%.cu,$(BUILD)/tests/gpu/%,$(wildcard tests/gpu/*.cu)) \
	     $(patsubst tests/gpu/%.c,$(BUILD)/tests/gpu/%,$(filter-out tests/gpu/lib%,$(wildcard tests/gpu/*.c))) \
	     $(patsubst tests/gpu/%.c,$(BUILD)/tests/gpu/%.so,$(wildcard tests/gpu/lib*.c)) \
	     $(BUILD)/tests/gpu/many_launches_shared
GPU_TEST = $(NVCC) $(NVCCFLAGS) $(GENCODE) -rdc=true -Iinclude -Iworkloads

.PHONY: gpu-tests
gpu-tests: $(gpu_tests)

$(BUILD)/tests/gpu/%: tests/gpu/%.cu tests/gpu/trial.cuh $(wildcard workloads/*.cuh) $(BUILD)/.nvcc_flags
	@mkdir -p $(@D)
	$(call show,NVCC)$(GPU_TEST) -cudart static -o $@ $< -lcudadevrt

$(BUILD)/tests/gpu/%_shared: tests/gpu/%.cu tests/gpu/trial.cuh $(wildcard workloads/*.cuh) $(BUILD)/.nvcc_flags
	@mkdir -p $(@D)
	$(call show,NVCC)$(GPU_TEST) -cudart shared -Xlinker -rpath,$(CUDA_HOME)/lib64 -o $@ $< -lcudadevrt

$(BUILD)/tests/gpu/%: tests/gpu/%.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call show,CC)$(CC) -std=gnu11 $(WARNINGS) $(CFLAGS) $(CUDA_FLAGS) -o $@ $< $(LIBCUDA)

# Clients of CUPTI of their own; the driver loads them into a program.
$(BUILD)/tests/gpu/lib%.so: tests/gpu/lib%.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call show,CC)$(CC) -std=gnu11 $(WARNINGS) $(CFLAGS) $(CUDA_FLAGS) -fPIC -shared -o $@ $< -ldl

# The driver's library is linked from the toolkit's stub and found at run time.
$(BUILD)/tests/gpu/driver_api $(BUILD)/tests/gpu/allocations: LIBCUDA = -L$(CUDA_HOME)/lib64/stubs -lcuda

-include $(analyzer_o:.o=.d) $(collector_o:.o=.d) $(try_o:.o=.d)

# ---- tests: everything that `make check` and tests/run need, built from tests/ ----
unit_c      := $(wildcard tests/unit/test_*.c)
fixture_o   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/fixture*.c))
units       := $(unit_c:%.c=$(BUILD)/%)
# A tool is a program; one called lib*.c is a shared library, such as a stand-in for NVIDIA's.
# Those in tests/collector/ see CUPTI's headers and are left out without a CUDA toolkit; some have parts.
mock_app_c  := $(if $(CUPTI_H),$(wildcard tests/collector/mock_app_*.c))
mock_app_o  := $(mock_app_c:%.c=$(BUILD)/%.o)
every_chip  := $(if $(CUPTI_H),$(BUILD)/tests/collector/every_chip.o)
tool_c      := $(wildcard tests/tools/*.c) \
	       $(if $(CUPTI_H),$(filter-out $(mock_app_c) %/every_chip.c,$(wildcard tests/collector/*.c))) \
	       $(if $(try_c),$(wildcard tests/try/*.c))
tool_lib_c  := $(foreach c,$(tool_c),$(if $(filter lib%,$(notdir $c)),$c))
tool_lib    := $(tool_lib_c:%.c=$(BUILD)/%.so)
tools       := $(patsubst %.c,$(BUILD)/%,$(filter-out $(tool_lib_c),$(tool_c)))
# The stand-in for CUPTI; as one before 12.6 it neither samples nor counts; as 12.4 it lacks what old.map names.
mock_o      := $(patsubst %.c,$(BUILD)/%.o,$(if $(CUPTI_H),$(wildcard tests/collector/mock/*.c)))
mock_old_o  := $(filter-out %/sample_cupti.o %/sample_gpu.o %/sample_values.o,$(mock_o))
mock_bare_o := $(filter-out %/counters.o %/ranges.o %/launches.o,$(mock_old_o))
mocks       := $(if $(mock_o),$(patsubst %,$(BUILD)/tests/collector/libcupti_%.so,mock nosampling bare old))
# The stand-in for the driver.
fake_o      := $(if $(try_c),$(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/try/fake/*.c)))
# What random_program, which runs bare and tried against it, consists of.
program_o   := $(if $(try_c),$(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/try/program/*.c)))
fake_driver := $(if $(try_c),$(BUILD)/tests/try/libfake_driver.so)
bats        := $(wildcard tests/cli/*.bats tests/collector/*.bats) $(if $(try_c),$(wildcard tests/try/*.bats))
# A link to a .bats file in another build folder: its place tells tests/run which build to test.
bats_links  := $(if $(filter-out build,$(BUILD)),$(bats:%=$(BUILD)/%))
library     := $(BUILD)/libanalyzer.a
# The unit tests share it: linking each with all of it would take a minute and gigabytes.
unit_library := $(BUILD)/libanalyzer.so
# All targets are one program, beside which lies what the analyzer reads at run time.  Without libFuzzer it replays files.
fuzz_replay := $(BUILD)/fuzz/fuzz
fuzz_o      := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/replay.c,$(wildcard tests/fuzz/*.c)) \
	       $(if $(filter fuzz,$(SANITIZE)),,tests/fuzz/replay.c))
test_o      := $(unit_c:%.c=$(BUILD)/%.o) $(fixture_o) $(fuzz_o) $(tool_c:%.c=$(BUILD)/%.o) $(mock_app_o) $(mock_o) $(fake_o) $(program_o) $(every_chip)

.PHONY: tests
.SECONDARY: $(test_o)
tests: $(units) $(tools) $(tool_lib) $(mocks) $(fake_driver) $(bats_links) $(python_workloads) $(fuzz_replay)

$(library): $(library_o) $(BUILD)/.sources
	@rm -f $@
	$(call show,AR,$@)$(AR) rcs $@ $(inputs)

$(BUILD)/tests/%.o: tests/%.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call show,CC)$(CC) $(ALL_CFLAGS) $(if $(filter tests/collector/% tests/try/%,$<),$(CUDA_FLAGS)) -Icollector -Ianalyzer -I. -c $< -o $@

$(unit_library): $(library_o) $(BUILD)/.sources
	$(call show,LINK,$@)$(CC) $(SANITIZER) -shared -Wl,-soname,$(@F) -o $@ $(inputs) $(LDFLAGS) $(ANALYZER_LIBS)

# What is tested is in the library, optimized as it is; compiling the tests' own code so takes four times as long.
$(unit_c:%.c=$(BUILD)/%.o) $(fixture_o): private ALL_CFLAGS += -O0

# It links them in a third of the time; where there is none, with the usual one.
gold := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(units): %: %.o $(fixture_o) $(unit_library)
	$(call show,LINK,$@)$(CC) $(SANITIZER) $(gold) -o $@ $(inputs) $(LDFLAGS) $(unit_library) -Wl,-rpath,'$$ORIGIN/../..' -lcmocka $(ANALYZER_LIBS)

# NVTX's own start reads plainly what whoever attaches writes: ThreadSanitizer takes that for races.
$(BUILD)/tests/collector/mock_app_nvtx.o $(BUILD)/tests/collector/libfirst_nvtx.o: SANITIZER :=

# It is loaded into programs that have no sanitizer.
$(BUILD)/tests/tools/libfake_try.o $(BUILD)/tests/tools/libfake_try.so: SANITIZER :=

$(tools): %: %.o $(library)
	$(call show,LINK,$@)$(CC) $(SANITIZER) -o $@ $(inputs) $(LDFLAGS) $(ANALYZER_LIBS) -ldl

$(fuzz_replay): $(fuzz_o) $(library)
	@mkdir -p $(@D)
	$(call show,LINK,$@)$(CC) $(SANITIZER) $(if $(filter fuzz,$(SANITIZE)),-fsanitize=fuzzer) -o $@ $(inputs) $(LDFLAGS) $(ANALYZER_LIBS)

$(BUILD)/tests/collector/mock_app: $(mock_app_o) $(BUILD)/.sources
$(BUILD)/tests/try/random_program: $(program_o) $(BUILD)/.sources
$(BUILD)/tests/collector/metric_table $(BUILD)/tests/collector/sample_table: $(every_chip)

$(tool_lib): %.so: %.o
# As the driver does, it calls its own functions and not those of a library that is preloaded.
$(fake_driver): private LDFLAGS += -Wl,-Bsymbolic
$(fake_driver): $(fake_o) $(BUILD)/.sources
$(BUILD)/tests/collector/libcupti_mock.so: $(mock_o)
$(BUILD)/tests/collector/libcupti_nosampling.so: $(mock_old_o)
$(BUILD)/tests/collector/libcupti_bare.so: $(mock_bare_o)
$(BUILD)/tests/collector/libcupti_old.so: private LDFLAGS += -Wl,--version-script=tests/collector/mock/old.map
$(BUILD)/tests/collector/libcupti_old.so: $(mock_bare_o) tests/collector/mock/old.map
$(mocks): $(BUILD)/.sources
$(tool_lib) $(mocks) $(fake_driver):
	$(call show,LINK,$@)$(CC) $(SANITIZER) -shared -o $@ $(inputs) $(LDFLAGS) -ldl -lpthread

$(bats_links): $(BUILD)/%: %
	@mkdir -p $(@D)
	@ln -sf '$(abspath $<)' $@

# What clang's build is for; attaching and exit are where threads meet.
clang_tests := tests/cli/undefined.bats tests/cli/fuzz.bats tests/unit/test_scaling tests/cli/threads.bats \
	       $(if $(CUPTI_H),tests/collector/threads.bats tests/collector/attaching.bats)
.PHONY: clang-tests
clang-tests: analyzer $(BUILD)/fuzz/fuzz $(BUILD)/tests/tools/make_trace $(if $(CUPTI_H),collector $(BUILD)/tests/collector/mock_app \
	$(patsubst %,$(BUILD)/tests/collector/lib%.so,cupti_mock nvperf_host mock_cuda first_nvtx starts_cuda)) $(clang_tests:%=$(BUILD)/%)

-include $(test_o:.o=.d)

# ---- what people type ----
sanitized := $(BUILD)/sanitized
clang     := $(BUILD)/clang
lint      := $(wildcard tests/lint/*.sh)
golden    := $(wildcard tests/golden/*.txt)
sources    = $(shell find analyzer $(wildcard collector try include workloads tests) -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
# Longest first, so that both cores have work to the end: clang-tidy and the collector against its stand-in.
slow      := tests/lint/tidy.sh tests/collector/sampling.bats tests/cli/recordings.bats \
	     tests/collector/real_cupti.bats tests/collector/counters.bats tests/lint/contributing_test.sh
slow      := $(wildcard $(slow)) $(patsubst %,$(sanitized)/%,$(filter %.bats,$(wildcard $(slow))))
in_order   = $(filter $(1),$(slow)) $(filter-out $(slow),$(1))
# What python3 runs: a version manager puts a script of its own before it.
python     = $(shell python3 -c 'import sys; print(sys.executable)')
# TAP of every test file through prove, four at a time on two cores because many wait; tests/run knows the sorts, and
# SkipSummary.pm in tests/tools counts what was skipped by reason.  $(call prove,FILES,OPTION...)
prove      = PYTHON='$(python)' BUILD='$(abspath $(BUILD))' CUDA_FLAGS='$(if $(CUPTI_H),$(CUDA_FLAGS))' PERL5LIB='$(CURDIR)/tests/tools'$${PERL5LIB:+:$$PERL5LIB} \
	     prove $(or $(2),-j4) --harness SkipSummary --exec tests/run $(1)

.PHONY: setup setup-demo setup-build setup-check demo check check-changed check-bare fuzz faults check-html check-gpu bench lint format readme install deb clean help golden
setup: setup-check ## install what is missing to build, run and check (Debian, Ubuntu)

setup-build:
	@./setup.sh $(build_packages)

setup-check:
	@./setup.sh $(build_packages) $(check_packages)

setup-demo:
	@./setup.sh $(demo_packages)

demo: setup-demo ## a newcomer's first minute: build the analyzer and see it at work, no GPU needed
	@$(MAKE) --no-print-directory analyzer
	@$(binary) demo
	@printf '%s\n' '' 'Open roofline-demo/report.html in a browser. This shell finds rooflinectl after:' '' '  export PATH="$$PWD/$(BUILD)/bin:$$PATH"'

check: setup-check ## every test that needs no GPU, plain and with ASan and UBSan; those of threads with TSan, too
	$(MAKE) --no-print-directory all tests
	$(MAKE) --no-print-directory SANITIZE=1 BUILD=$(sanitized) analyzer $(if $(CUPTI_H),collector) tests
	$(MAKE) --no-print-directory SANITIZE=clang BUILD=$(clang) clang-tests
	TIDY_JOBS=1 TIDY_STATES=5000 $(call prove,$(call in_order,$(bats) $(patsubst %,$(sanitized)/%,$(filter-out tests/try/%,$(bats))) $(clang_tests:%=$(clang)/%) $(lint) \
		$(units) $(unit_c:%.c=$(sanitized)/%)))

check-changed: setup-check ## the tests of the files that differ from HEAD alone, or from BASE=COMMIT
	$(MAKE) --no-print-directory analyzer tests try $(if $(CUPTI_H),collector)
	files=$$(BUILD=$(BUILD) tests/changed $(BASE)); [ -z "$$files" ] || $(call prove,$$files)

# FUZZ_S=600 for each target; TARGETS="recording names" for these alone.
FUZZ_S ?= 60
fuzz-build := $(BUILD)/libfuzzer
fuzz: setup-check ## give every part that reads untrusted bytes new ones, for FUZZ_S seconds each (60), and add up in docs/results/fuzz.txt
	$(MAKE) --no-print-directory SANITIZE=fuzz BUILD=$(fuzz-build) analyzer $(fuzz-build)/fuzz/fuzz
	BUILD='$(abspath $(fuzz-build))' tests/fuzz/run.sh $(FUZZ_S) $(TARGETS)

faults: setup-check ## each command with an allocation failing, with a write failing, and of tables with a byte damaged, at FAULT_RUNS places (200)
	$(MAKE) --no-print-directory analyzer tests
	BUILD='$(abspath $(BUILD))' tests/faults/no_memory.sh $(FAULT_RUNS)
	BUILD='$(abspath $(BUILD))' tests/faults/no_space.sh --disk $(FAULT_RUNS)
	BUILD='$(abspath $(BUILD))' tests/faults/damage.sh $(FAULT_RUNS)

check-html: setup-check ## the page of report --html in a browser; installs Chromium where there is none
	@./setup.sh chromium:chromium
	$(MAKE) --no-print-directory analyzer
	$(call prove,$(wildcard tests/cli/html*.bats))

BARE ?= bookworm trixie
check-bare: ## make demo and make check on bare systems, of the Debian releases BARE (bookworm trixie); tests/bare.sh has more; needs root
	@./setup.sh debootstrap:debootstrap
	BUILD='$(abspath $(BUILD))' tests/bare.sh $(BARE)

check-gpu: ## the tests that need a GPU; refuses without one
	@nvidia-smi -L >/dev/null 2>&1 || { echo "make check-gpu needs an NVIDIA GPU: nvidia-smi finds none" >&2; exit 1; }
	$(MAKE) --no-print-directory all tests gpu-tests
# one at a time: they share a GPU, and one of them takes all its memory
	TEST_TIMEOUT_S=900 $(call prove,$(wildcard tests/gpu/check_*.sh),-j1)

bench: setup-build ## how fast and how big: each script of tests/bench prints its figures
	@$(MAKE) --no-print-directory all tests
	@set -e; for script in $(wildcard tests/bench/*.sh tests/bench/*.py); do BUILD='$(abspath $(BUILD))' $$script; done

lint: setup-check ## the style checks only: formatting, includes, static analysis, documents
	@$(MAKE) --no-print-directory analyzer
	$(call prove,$(lint))

format: ## clang-format every source file
	clang-format -i $(sources)

readme: analyzer ## put the current report and charts into README.md
	BUILD=$(BUILD) docs/update.sh

golden: analyzer ## write the reports of tests/golden anew, on purpose: read the diff
	for file in $(golden); do XDG_DATA_HOME=/nonexistent $(binary) report tests/recordings/$$(basename $$file .txt) >$$file || exit 1; done

# One source for both: docs/rooflinectl.md and docs/commands/.
$(BUILD)/man/.stamp: docs/man.sh docs/rooflinectl.md $(wildcard docs/commands/*.md)
	@./setup.sh lowdown:lowdown
	@rm -rf $(@D)
	docs/man.sh $(@D)
	@touch $@

headers = $(wildcard include/roofline/*.h)

# $(call complete,SHELL,FILE): what the shell completes by, where it looks
complete   = install -d $(DESTDIR)$(PREFIX)/share/$(dir $(2)) && $(binary) completion $(1) >$(DESTDIR)$(PREFIX)/share/$(2)

install: all $(BUILD)/man/.stamp ## into PREFIX (default /usr/local), under DESTDIR when given
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man1 include/roofline lib/pkgconfig)
	install -m 755 $(binary) $(DESTDIR)$(PREFIX)/bin/
	cp -R $(shared) $(DESTDIR)$(PREFIX)/share/
	rm -f $(DESTDIR)$(PREFIX)/share/rooflinectl/.stamp
	$(if $(wildcard $(BUILD)/lib),cp -R $(BUILD)/lib $(DESTDIR)$(PREFIX)/)
	rm -rf $(DESTDIR)$(PREFIX)/lib/rooflinectl/workloads/__pycache__
	install -m 644 $(BUILD)/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(headers) $(DESTDIR)$(PREFIX)/include/roofline/
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: roofline-trace' 'Description: tables and columns of a recording of rooflinectl' \
		'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' >$(DESTDIR)$(PREFIX)/lib/pkgconfig/roofline-trace.pc
	$(call complete,bash,bash-completion/completions/rooflinectl)
	$(call complete,zsh,zsh/site-functions/_rooflinectl)
	$(call complete,fish,fish/vendor_completions.d/rooflinectl.fish)

deb: all $(BUILD)/man/.stamp ## a Debian package of what install installs, into BUILD
	@./setup.sh dpkg-dev:dpkg-shlibdeps
	rm -rf $(BUILD)/deb
	@$(MAKE) --no-print-directory install DESTDIR=$(BUILD)/deb PREFIX=/usr
	packaging/deb.sh $(BUILD)/deb $(VERSION) $(BUILD)

clean: ## remove the build folder
	rm -rf $(BUILD)

help: ## these lines
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12
