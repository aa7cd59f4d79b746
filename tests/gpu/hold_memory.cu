/* hold_memory: takes the device's memory and keeps it, so that others find none.
 * hold_memory [--leave-mib N]
 * Prints how much is left and "holding" once it has all but N MiB, and waits until it is killed or
 * the program that started it ends. */
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

#include "trial.cuh"

static size_t free_bytes()
{
	size_t free = 0, total = 0;

	CUDA_CHECK(cudaMemGetInfo(&free, &total));
	return free;
}

/* In pieces as large as there are: free memory need not be in one piece. */
static void use_all_but(size_t left_bytes)
{
	const size_t smallest = 2UL << 20;

	for (size_t piece = 1UL << 34; piece >= smallest;) {
		size_t free = free_bytes();
		void *memory;

		if (free >= left_bytes + piece && cudaMalloc(&memory, piece) == cudaSuccess)
			continue;
		cudaGetLastError();
		piece /= 2;
	}
}

int main(int argc, char **argv)
{
	long leave_mib = 1024;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	trial_parse(argc, argv, {{"leave-mib", &leave_mib}});
	use_all_but((size_t)leave_mib << 20);
	printf("left_mib %zu\nholding\n", free_bytes() >> 20);
	fflush(stdout);
	for (;;)
		pause();
}
