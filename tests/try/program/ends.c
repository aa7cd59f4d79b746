/* ends.c - ways in which a program ends, or becomes another one, right after a launch. */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRUE_PROGRAM "/bin/true"

enum {
	CHILDREN = 600,
	CHILD_S = 10,
	LOOKING = 2,
	LAUNCHES = 30,
	FORK_S = 2, /* less than a launch is blocked for */
	INSIDE_US = 300000
};

static char *const words[] = {"true", NULL};

static void end_by_quick_exit(void)
{
	quick_exit(0);
}

static void end_by_underscore_exit(void)
{
	_exit(0);
}

static void end_by_execve(void)
{
	execve(TRUE_PROGRAM, words, environ);
}

static void end_by_execv(void)
{
	execv(TRUE_PROGRAM, words);
}

static void end_by_execvp(void)
{
	execvp("true", words);
}

static void end_by_execvpe(void)
{
	execvpe("true", words, environ);
}

static void end_by_execl(void)
{
	execl(TRUE_PROGRAM, "true", "unused", (char *)NULL);
}

static void end_by_execlp(void)
{
	execlp("true", "true", (char *)NULL);
}

static void end_by_execle(void)
{
	execle(TRUE_PROGRAM, "true", (char *)NULL, environ);
}

static void end_by_fexecve(void)
{
	fexecve(open(TRUE_PROGRAM, O_RDONLY | O_CLOEXEC), words, environ);
}

static void end_by_execveat(void)
{
	execveat(AT_FDCWD, TRUE_PROGRAM, words, environ, 0);
}

/* Its own work goes on. */
static void end_not_by_execve(void)
{
	if (execve("there is no such program", words, environ) == 0)
		abort();
}

static const struct {
	const char *how;
	void (*end)(void);
} ends[] = {
	{"quick_exit", end_by_quick_exit}, {"_exit", end_by_underscore_exit},
	{"execve", end_by_execve},	   {"execv", end_by_execv},
	{"execvp", end_by_execvp},	   {"execvpe", end_by_execvpe},
	{"execl", end_by_execl},	   {"execlp", end_by_execlp},
	{"execle", end_by_execle},	   {"fexecve", end_by_fexecve},
	{"execveat", end_by_execveat},	   {"execve-fails", end_not_by_execve},
};

void end_as(const char *how)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(ends[i].how, how))
			ends[i].end();
}

/* ---- children that look up functions ---- */

static bool has_ended;
static __typeof__(cuGetProcAddress) *ask;

/* One before which what was put off is flushed, so that it gets a stub. */
static void look_up(void)
{
	void *function;

	(void)ask("cuFuncSetCacheConfig", &function, 12000, 0, NULL);
}

static void *look_up_again(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&has_ended, __ATOMIC_RELAXED))
		look_up();
	return NULL;
}

void make_children_that_look_up(void)
{
	pthread_t looking[LOOKING];
	int status, failed_count = 0;

	ask = (__typeof__(ask))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2");
	for (int i = 0; i < LOOKING; i++)
		pthread_create(&looking[i], NULL, look_up_again, NULL);
	for (int i = 0; i < CHILDREN && !failed_count; i++) {
		pid_t child = fork();

		if (child == 0) {
			alarm(CHILD_S);
			look_up();
			_exit(0);
		}
		waitpid(child, &status, 0);
		failed_count += status != 0;
	}
	__atomic_store_n(&has_ended, true, __ATOMIC_RELAXED);
	for (int i = 0; i < LOOKING; i++)
		pthread_join(looking[i], NULL);
	printf("%d children failed\n", failed_count);
}

/* ---- children between launches ---- */

static void launch_often(unsigned kind)
{
	for (int i = 0; i < LAUNCHES; i++)
		do_launch(&(struct launch){.kind = kind, .stream = 3});
}

/* It is in the driver for a while (FAKE_DRIVER_BLOCKS=many). */
static void *launch_many(void *unused)
{
	(void)unused;
	must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
	launch_often(3);
	must(p_cuStreamSynchronize(streams[3]), "cuStreamSynchronize");
	return NULL;
}

/* The child prints what the driver had done by the time of the fork. */
static void make_child(bool is_telling)
{
	time_t start = time(NULL);
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(CHILD_S);
		if (is_telling)
			report("done before the fork", CUDA_SUCCESS);
		fflush(stdout);
		_exit(3);
	}
	printf("forked %s\n", time(NULL) - start < FORK_S ? "at once" : "late");
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

void make_children_between_launches(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		launch_often(1);
		make_child(true);
		report("done after it", CUDA_SUCCESS);
	}
	pthread_create(&thread, NULL, launch_many, NULL);
	usleep(INSIDE_US);
	make_child(false);
	pthread_join(thread, NULL);
	report("done", CUDA_SUCCESS);
}
