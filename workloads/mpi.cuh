/*
 * mpi.cuh - messages by Open MPI, for programs that run without it too.
 *
 * The library is opened when first wanted.  Its handles are addresses of objects that it exports (ompi_mpi_comm_world), as
 * its header has them, so that none is needed to build; those of other MPIs are something else, and they are not used.
 * It is opened for all to see: its own plugins look their symbols up there.
 */
#ifndef ROOFLINE_MPI_CUH
#define ROOFLINE_MPI_CUH

#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <stdlib.h>

#include "cuda_check.cuh"
#include "gpus.cuh"

static const char mpi_file[] = "libmpi.so.40"; /* Open MPI 4 and 5 */
static const int mpi_any_thread = 3;	       /* MPI_THREAD_MULTIPLE */

typedef void *mpi_handle;

#define MPI_FUNCTIONS(FUNCTION)                                                                   \
	FUNCTION(Init_thread, int *, char ***, int, int *)                                        \
	FUNCTION(Finalize, void)                                                                  \
	FUNCTION(Abort, mpi_handle, int)                                                          \
	FUNCTION(Barrier, mpi_handle)                                                             \
	FUNCTION(Comm_rank, mpi_handle, int *)                                                    \
	FUNCTION(Comm_size, mpi_handle, int *)                                                    \
	FUNCTION(Get_library_version, char *, int *)                                              \
	FUNCTION(Sendrecv, const void *, int, mpi_handle, int, int, void *, int, mpi_handle, int, \
		 int, mpi_handle, void *)

#define MPI_MEMBER(name, ...) int (*name)(__VA_ARGS__);
static struct mpi_functions {
	MPI_FUNCTIONS(MPI_MEMBER)
	int (*query_cuda_support)(void); /* MPIX_Query_cuda_support, nullptr: it lacks that */
	mpi_handle world, byte;
} mpi;
#undef MPI_MEMBER

static inline bool mpi_bind(void *library)
{
#define MPI_BIND(name, ...)                                          \
	mpi.name = (decltype(mpi.name))dlsym(library, "MPI_" #name); \
	if (!mpi.name)                                               \
		return false;
	MPI_FUNCTIONS(MPI_BIND)
#undef MPI_BIND
	mpi.query_cuda_support =
		(decltype(mpi.query_cuda_support))dlsym(library, "MPIX_Query_cuda_support");
	mpi.byte = dlsym(library, "ompi_mpi_byte");
	mpi.world = dlsym(library, "ompi_mpi_comm_world");
	return mpi.world && mpi.byte;
}

/* Why this machine has no messages, nullptr where it has. */
static inline const char *mpi_why_missing()
{
	static std::string reason;
	void *library = dlopen(mpi_file, RTLD_NOW | RTLD_GLOBAL);

	if (library && mpi_bind(library))
		return nullptr;
	reason = std::string(mpi_file) + (library ? " is no Open MPI that this program knows"
						  : " not found: install openmpi-bin of Debian, or "
						    "name its folder in LD_LIBRARY_PATH");
	return reason.c_str();
}

static inline void mpi_check(int result, const char *call, const char *file, int line)
{
	host_call_count++;
	if (result == 0)
		return;
	fprintf(stderr, "%s:%d: %s failed with %d\n", file, line, call, result);
	exit(1);
}

#define MPI_CHECK(...) mpi_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

/* Others wait for a process that has failed: it must not wait for them. */
static inline void mpi_end(int status, void *)
{
	if (status == 0)
		mpi.Finalize();
	else
		mpi.Abort(mpi.world, status);
}

/* Once a process; it ends with the program.  The launcher's ranks and MPI's are the same. */
static inline void mpi_begin(const struct gpus_place &place)
{
	int provided, rank, count;

	MPI_CHECK(mpi.Init_thread(nullptr, nullptr, mpi_any_thread, &provided));
	MPI_CHECK(mpi.Comm_rank(mpi.world, &rank));
	MPI_CHECK(mpi.Comm_size(mpi.world, &count));
	if (rank != place.rank || count != place.count || provided < mpi_any_thread) {
		fprintf(stderr,
			"MPI has rank %d of %d, the launcher says %d of %d; it allows %s threads: "
			"start the program with mpirun of the same MPI\n",
			rank, count, place.rank, place.count,
			provided < mpi_any_thread ? "too few" : "all");
		exit(1);
	}
	on_exit(mpi_end, nullptr);
}

/* Whether messages may be of memory of the device. */
static inline bool mpi_takes_device_memory()
{
	return mpi.query_cuda_support && mpi.query_cuda_support() == 1;
}

/* "Open MPI v4.1.4, package: ..." up to the first comma */
static inline std::string mpi_version()
{
	char text[256 * 32] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING is less */
	int length = 0;
	std::string version;

	MPI_CHECK(mpi.Get_library_version(text, &length));
	version = text;
	return version.substr(0, version.find(','));
}

/* So many bytes to one process, and from another one, at the same time; 2 GiB would be too many. */
static inline void mpi_exchange(const void *out, int to, void *in, int from, long bytes,
				int tag_out, int tag_in)
{
	MPI_CHECK(mpi.Sendrecv(out, (int)bytes, mpi.byte, to, tag_out, in, (int)bytes, mpi.byte,
			       from, tag_in, mpi.world, nullptr));
}

#endif
