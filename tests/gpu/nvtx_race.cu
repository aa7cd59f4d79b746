/* nvtx_race: one thread's first NVTX call, and at the same time a library that uses NVTX in its constructor is
 * loaded, or processes are forked that use NVTX.
 * nvtx_race [--delay-us N] [--forks N] [LIBRARY]
 * Prints how many children ended well, and whether the kernels that follow counted right. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "trial.cuh"

static void use_nvtx()
{
	nvtxRangePushA("first");
	nvtxRangePop();
}

/* Returns how many ended with 0. */
static long run_children(long count)
{
	std::vector<pid_t> children;
	long good = 0;

	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			use_nvtx();
			_exit(0);
		}
		children.push_back(child);
		usleep(2000);
	}
	for (pid_t child : children) {
		int status = 0;

		waitpid(child, &status, 0);
		good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return good;
}

int main(int argc, char **argv)
{
	long delay_us = 0, forks = 0;
	int first = trial_parse(argc, argv, {{"delay-us", &delay_us}, {"forks", &forks}});
	std::thread other(use_nvtx);

	usleep(delay_us);
	if (first < argc && !dlopen(argv[first], RTLD_NOW))
		return 3;
	printf("children %ld\n", run_children(forks));
	other.join();
	printf("counted %d\n", trial_count(100));
	return 0;
}
