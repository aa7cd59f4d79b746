/* nvtx_app.c - a program with real NVTX calls and no CUDA.  Prints ok and ends with 5.
 * nvtx_app MS: its first call is made by another thread, and so much later children that use NVTX are forked.  It ends with 5
 * if they have ended with 0.
 * nvtx_app storm SEED: the same within 2 ms, children one after the other and the call at any time.  Ends with 1 if a
 * child took longer than a second. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#define CHILDREN 3
#define STORM_CHILDREN 8
#define STORM_NS 2000000

static pthread_barrier_t start;
static long call_after_ns;

static void use_nvtx(void)
{
	nvtxRangePushA("first");
	nvtxRangePop();
}

static void *nvtx_main(void *unused)
{
	use_nvtx();
	return unused;
}

static int fork_children(unsigned int delay_ms)
{
	pthread_t thread;
	int failed = 0, status;

	if (pthread_create(&thread, NULL, nvtx_main, NULL))
		return 1;
	usleep(delay_ms * 1000);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			use_nvtx();
			_exit(0);
		}
		failed |= waitpid(child, &status, 0) != child || status;
	}
	pthread_join(thread, NULL);
	return failed;
}

/* ---- storm ---- */

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *storm_main(void *unused)
{
	long end_ns;

	pthread_barrier_wait(&start);
	end_ns = now_ns() + call_after_ns;
	while (now_ns() < end_ns)
		;
	use_nvtx();
	return unused;
}

static pid_t fork_one(void)
{
	pid_t child = fork();

	if (child == 0) {
		alarm(1);
		use_nvtx();
		_exit(0);
	}
	return child;
}

static int storm(unsigned int seed)
{
	pid_t children[STORM_CHILDREN];
	int count = 0, failed = 0, status;
	pthread_t thread;
	long end_ns;

	srand(seed);
	call_after_ns = rand() % (STORM_NS * 3 / 4);
	pthread_barrier_init(&start, NULL, 2);
	if (pthread_create(&thread, NULL, storm_main, NULL))
		return 2;
	pthread_barrier_wait(&start);
	for (end_ns = now_ns() + STORM_NS; count < STORM_CHILDREN && now_ns() < end_ns; count++)
		children[count] = fork_one();
	for (int i = 0; i < count; i++)
		failed |= waitpid(children[i], &status, 0) != children[i] || status;
	pthread_join(thread, NULL);
	return failed ? 1 : 5;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "storm"))
		return storm((unsigned int)atoi(argv[2]));
	if (argc > 1)
		return fork_children((unsigned int)atoi(argv[1])) ? 1 : 5;
	nvtxRangePushA("before");
	nvtxMarkA("a mark");
	nvtxRangePop();
	puts("ok");
	return 5;
}
