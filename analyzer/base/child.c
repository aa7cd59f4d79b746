#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Lies in shared memory, in front of the result. */
struct shared {
	bool is_done;
	_Alignas(max_align_t) char result[];
};

static void child_main(struct shared *shared, child_work work, const void *context)
{
	int null = open("/dev/null", O_RDWR);

	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	work(shared->result, context);
	shared->is_done = true;
	_exit(0); /* no atexit handlers, no second flush of the parent's streams */
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for the child until deadline_ms and ends it when it is late. */
static int child_wait(pid_t pid, int64_t deadline_ms)
{
	static const struct timespec pause = {.tv_nsec = 1000000};
	pid_t ended;

	while ((ended = waitpid(pid, NULL, WNOHANG)) == 0 && now_ms() < deadline_ms)
		nanosleep(&pause, NULL);
	if (ended == pid)
		return 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return -ETIMEDOUT;
}

int child_call(child_work work, const void *context, void *result, size_t size, int timeout_ms)
{
	size_t mapped = sizeof(struct shared) + size;
	struct shared *shared =
		mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int rc;

	if (shared == MAP_FAILED)
		return -errno;
	pid = fork();
	if (pid == 0)
		child_main(shared, work, context);
	rc = pid < 0 ? -errno : child_wait(pid, now_ms() + timeout_ms);
	if (pid > 0) {
		memcpy(result, shared->result, size);
		if (rc == 0 && !shared->is_done)
			rc = -ECANCELED;
	}
	munmap(shared, mapped);
	return rc;
}
