/* fork_exec: the ways in which programs make processes around CUDA.
 * fork_exec [--launches N] MODE
 *   fork-first   fork, then use CUDA in both
 *   fork-exit    use CUDA, fork, the child ends with exit() without touching CUDA
 *   fork-_exit   the same with _exit()
 *   exec-self    use CUDA, fork and exec this program, which uses CUDA
 *   exec-true    use CUDA, fork and exec /bin/true
 *   replace      use CUDA, then exec this program in place
 *   daemonize    become a daemon, then use CUDA there
 *   work         use CUDA, nothing else
 * Prints "NAME ok" per process; ends with 1 when a process failed. */
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "trial.cuh"

static long launches = 1000;

static int work(const char *who)
{
	bool ok = trial_count(launches);

	printf("%s %s\n", who, ok ? "ok" : "counted wrongly");
	fflush(stdout);
	return ok ? 0 : 1;
}

static int wait_for(pid_t child)
{
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) < 0) {
		perror("fork_exec");
		return 1;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	printf("child failed: status %d\n", status);
	return 1;
}

static void exec_self()
{
	std::string count = std::to_string(launches);

	execl("/proc/self/exe", "fork_exec", "--launches", count.c_str(), "work", (char *)nullptr);
	perror("fork_exec: exec");
	_exit(1);
}

static void exec_true()
{
	execl("/bin/true", "true", (char *)nullptr);
	perror("fork_exec: exec");
	_exit(1);
}

static void end_by_exit()
{
	exit(0);
}

static void end_by_underscore_exit()
{
	_exit(0);
}

/* The parent works before and after its child, so what came later must be recorded too. */
static int work_around_child(void (*child)())
{
	int failed = work("parent before");
	pid_t pid;

	pid = fork();
	if (pid == 0)
		child();
	failed |= wait_for(pid);
	return failed | work("parent after");
}

static int fork_first()
{
	pid_t pid = fork();
	int failed;

	if (pid == 0)
		exit(work("child"));
	failed = wait_for(pid);
	return failed | work("parent");
}

static int fork_exit()
{
	return work_around_child(end_by_exit);
}

static int fork_underscore_exit()
{
	return work_around_child(end_by_underscore_exit);
}

static int fork_exec_self()
{
	return work_around_child(exec_self);
}

static int fork_exec_true()
{
	return work_around_child(exec_true);
}

static int replace()
{
	work("before");
	exec_self();
	return 1;
}

/* stdout stays open: whoever reads it knows when the daemon is done. */
static int daemonize()
{
	if (daemon(1, 1) < 0) {
		perror("fork_exec: daemon");
		return 1;
	}
	return work("daemon");
}

static int only_work()
{
	return work("work");
}

static const struct {
	const char *name;
	int (*run)();
} modes[] = {
	{"fork-first", fork_first},
	{"fork-exit", fork_exit},
	{"fork-_exit", fork_underscore_exit},
	{"exec-self", fork_exec_self},
	{"exec-true", fork_exec_true},
	{"replace", replace},
	{"daemonize", daemonize},
	{"work", only_work},
};

int main(int argc, char **argv)
{
	int index = trial_parse(argc, argv, {{"launches", &launches}});

	for (const auto &mode : modes)
		if (index + 1 == argc && !strcmp(mode.name, argv[index]))
			return mode.run();
	fprintf(stderr, "fork_exec: takes one of");
	for (const auto &mode : modes)
		fprintf(stderr, " %s", mode.name);
	fputc('\n', stderr);
	return 2;
}
