/* nvtx_app.c - a program with real NVTX calls and no CUDA.  Prints ok and ends with 5.
 * With an argument, a number of ms: its first call is made by another thread, and so much later children that use NVTX
 * are forked.  It ends with 5 if they have ended with 0. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#define CHILDREN 3

static void *use_nvtx(void *unused)
{
	nvtxRangePushA("first");
	nvtxRangePop();
	return unused;
}

static int fork_children(unsigned int delay_ms)
{
	pthread_t thread;
	int failed = 0, status;

	if (pthread_create(&thread, NULL, use_nvtx, NULL))
		return 1;
	usleep(delay_ms * 1000);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			use_nvtx(NULL);
			_exit(0);
		}
		failed |= waitpid(child, &status, 0) != child || status;
	}
	pthread_join(thread, NULL);
	return failed;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return fork_children((unsigned int)atoi(argv[1])) ? 1 : 5;
	nvtxRangePushA("before");
	nvtxMarkA("a mark");
	nvtxRangePop();
	nvtxNameOsThreadA(1, "a thread");
	puts("ok");
	return 5;
}
