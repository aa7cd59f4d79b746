/*
 * nvshmem.cuh - NVSHMEM where it is there: memory that every GPU of the job has at its own address.
 *
 * The host's half of NVSHMEM is opened at run time (libnvshmem_host.so.3, of the package nvidia-nvshmem-cu13, which
 * PyTorch brings along): start, symmetric memory, and the calls that work on a stream.  Its device half would have to
 * be linked when this is built.  But between GPUs of one host its calls come down to loads, stores and atomics at the
 * address that nvshmem_ptr gives for another GPU's memory: those of signals.cuh.
 */
#ifndef ROOFLINE_NVSHMEM_CUH
#define ROOFLINE_NVSHMEM_CUH

#include <cstdint>
#include <cstdio>
#include <string>

#include <cuda_runtime.h>

#include "dynamic_library.cuh"
#include "processes.cuh"
#include "signals.cuh"

/* ---- the host's half ---- */

/* As NVSHMEM 3 lays them out; version: the layout's number, and the size of the whole. */
#define NVSHMEM_VERSION_OF(type) ((1 << 16) + (int)sizeof(type))

struct nvshmem_unique_id {
	int version;
	char internal[124];
};

struct nvshmem_unique_id_arguments {
	int version;
	struct nvshmem_unique_id *id;
	int rank, count;
};

struct nvshmem_init_arguments {
	int version;
	struct nvshmem_unique_id_arguments unique_id;
	char padding[96];
};

struct nvshmem_init_attributes {
	int version;
	void *mpi_communicator;
	struct nvshmem_init_arguments arguments;
};

static_assert(sizeof(nvshmem_unique_id) == 128 && sizeof(nvshmem_init_attributes) == 144, "");

enum { NVSHMEM_WITH_UNIQUE_ID = 1 << 3, NVSHMEM_SIGNAL_SET = 9, NVSHMEM_CMP_GE = 5 };

/* FUNCTION(result, name, parameters) */
#define NVSHMEM_FUNCTIONS(FUNCTION)                                                              \
	FUNCTION(int, nvshmemx_get_uniqueid, (struct nvshmem_unique_id *))                       \
	FUNCTION(int, nvshmemx_set_attr_uniqueid_args,                                           \
		 (int, int, const struct nvshmem_unique_id *, struct nvshmem_init_attributes *)) \
	FUNCTION(int, nvshmemx_hostlib_init_attr, (unsigned, struct nvshmem_init_attributes *))  \
	FUNCTION(void, nvshmemx_hostlib_finalize, ())                                            \
	FUNCTION(int, nvshmem_n_pes, ())                                                         \
	FUNCTION(int, nvshmem_my_pe, ())                                                         \
	FUNCTION(void *, nvshmem_calloc, (size_t, size_t))                                       \
	FUNCTION(void, nvshmem_free, (void *))                                                   \
	FUNCTION(void *, nvshmem_ptr, (const void *, int))                                       \
	FUNCTION(void, nvshmem_barrier_all, ())                                                  \
	FUNCTION(void, nvshmemx_barrier_all_on_stream, (cudaStream_t))                           \
	FUNCTION(void, nvshmemx_putmem_on_stream,                                                \
		 (void *, const void *, size_t, int, cudaStream_t))                              \
	FUNCTION(void, nvshmemx_putmem_signal_on_stream,                                         \
		 (void *, const void *, size_t, uint64_t *, uint64_t, int, int, cudaStream_t))   \
	FUNCTION(void, nvshmemx_signal_wait_until_on_stream,                                     \
		 (uint64_t *, int, uint64_t, cudaStream_t))

#define NVSHMEM_MEMBER(result, name, parameters) result(*name) parameters;
static struct nvshmem_functions {
	NVSHMEM_FUNCTIONS(NVSHMEM_MEMBER)
} nvshmem;
#undef NVSHMEM_MEMBER

static const char nvshmem_file[] = "libnvshmem_host.so.3";

static inline bool nvshmem_bind(void *library)
{
#define NVSHMEM_BIND(result, name, parameters)                      \
	nvshmem.name = (result(*) parameters)dlsym(library, #name); \
	if (!nvshmem.name)                                          \
		return false;
	NVSHMEM_FUNCTIONS(NVSHMEM_BIND)
#undef NVSHMEM_BIND
	return true;
}

/* Why it cannot be used, in one line, nullptr when it can. */
static inline const char *nvshmem_why_missing()
{
	static std::string reason;
	void *library = dynamic_library_open_wheel(nvshmem_file, "nvshmem");

	if (library && nvshmem_bind(library))
		return nullptr;
	reason = dynamic_library_problem(library, nvshmem_file,
					 "NVSHMEM (nvidia-nvshmem-cu13 of PyPI)");
	return reason.c_str();
}

/* A workload's start: a process for each GPU, as processes_start has it. */
static inline const char *nvshmem_start(long &device)
{
	return processes_start(device, nvshmem_why_missing);
}

static inline void nvshmem_require(bool is_good, const char *call)
{
	if (is_good)
		return;
	fprintf(stderr, "rank %d of %d: %s failed; NVSHMEM_DEBUG=INFO tells more\n", processes.rank,
		processes.count, call);
	exit(1);
}

/* All are on one host: they meet through its own address, and need neither a network nor multicast. */
static inline void nvshmem_set_defaults()
{
	setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
	setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
	setenv("NVSHMEM_DISABLE_NVLS", "1", 0);
}

/* On the current device, of all processes at once.  The first one's id tells the others where it is. */
static inline void nvshmem_open()
{
	struct nvshmem_unique_id id = {NVSHMEM_VERSION_OF(nvshmem_unique_id), {}};
	struct nvshmem_init_attributes attributes = {
		NVSHMEM_VERSION_OF(nvshmem_init_attributes),
		nullptr,
		{NVSHMEM_VERSION_OF(nvshmem_init_arguments),
		 {NVSHMEM_VERSION_OF(nvshmem_unique_id_arguments), nullptr, -1, -1},
		 {}}};

	nvshmem_set_defaults();
	CUDA_CHECK(cudaFree(nullptr)); /* there is a context from here on */
	if (processes.rank == 0) {
		nvshmem_require(!nvshmem.nvshmemx_get_uniqueid(&id), "nvshmemx_get_uniqueid");
		memcpy(processes.page->note, &id, sizeof(id));
	}
	processes_meet();
	memcpy(&id, processes.page->note, sizeof(id));
	processes_tell("starts NVSHMEM");
	nvshmem_require(!nvshmem.nvshmemx_set_attr_uniqueid_args(processes.rank, processes.count,
								 &id, &attributes),
			"nvshmemx_set_attr_uniqueid_args");
	nvshmem_require(!nvshmem.nvshmemx_hostlib_init_attr(NVSHMEM_WITH_UNIQUE_ID, &attributes) &&
				nvshmem.nvshmem_my_pe() == processes.rank &&
				nvshmem.nvshmem_n_pes() == processes.count,
			"nvshmemx_hostlib_init_attr");
}

static inline void nvshmem_close()
{
	processes_tell("ends NVSHMEM");
	nvshmem.nvshmemx_hostlib_finalize();
	processes_end();
}

/* ---- symmetric memory ---- */

/* The same array on every GPU: of[pe] is where that of another one can be read and written from here. */
template <class T> struct symmetric {
	T *of[processes_most];
	T *own;
};

/* Of zeros.  All processes make the same ones in the same order. */
template <class T> symmetric<T> symmetric_array(size_t count)
{
	symmetric<T> array = {};

	array.own = (T *)nvshmem.nvshmem_calloc(count, sizeof(T));
	if (!array.own)
		throw cuda_out_of_memory{"nvshmem_calloc"}; /* so do all: the memory is symmetric */
	for (int pe = 0; pe < processes.count; pe++) {
		array.of[pe] = (T *)nvshmem.nvshmem_ptr(array.own, pe);
		nvshmem_require(array.of[pe], "nvshmem_ptr of another GPU's memory");
	}
	return array;
}

template <class T> void symmetric_free(symmetric<T> &array)
{
	nvshmem.nvshmem_free(array.own);
	array = {};
}

#endif
