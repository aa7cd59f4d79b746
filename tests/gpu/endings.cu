/* endings: the ways in which a program that used CUDA can end.
 * endings [--launches N] [--in-flight 1] [--idle-ms N] MODE
 *   return exit _exit abort sigterm sigkill quick_exit   end so, after that many kernels
 *   thread_exit    another thread calls exit() while this one still launches
 *   never          launch until killed, and tell on stdout how far it is
 * --in-flight 1 leaves out the wait for the last kernels; --idle-ms sleeps before the end. */
#include <csignal>
#include <cstring>
#include <thread>

#include <unistd.h>

#include "trial.cuh"

static void end_by_return()
{
}

static void end_by_exit()
{
	exit(3);
}

static void end_by_underscore_exit()
{
	_exit(4);
}

static void end_by_quick_exit()
{
	quick_exit(5);
}

static void end_by_sigterm()
{
	raise(SIGTERM);
}

static void end_by_sigkill()
{
	raise(SIGKILL);
}

static void end_by_other_thread()
{
	std::thread other([] {
		usleep(50000);
		exit(6);
	});

	other.detach();
	for (;;) {
		empty_kernel<<<1, 1>>>();
		if (cudaGetLastError() != cudaSuccess)
			pause(); /* CUDA is being torn down under us: exit() is on its way */
	}
}

/* A line per 100 ms: how many kernels had finished by when.  A recording of a killed run must hold
 * all of the line that is a second older than the kill. */
static void end_never()
{
	long launched = 0, next_ns = now_ns();

	for (;;) {
		for (int i = 0; i < 100; i++, launched++)
			CUDA_LAUNCH(empty_kernel<<<1, 1>>>());
		CUDA_CHECK(cudaDeviceSynchronize());
		if (now_ns() < next_ns)
			continue;
		printf("launched %ld at_ns %ld\n", launched, now_ns());
		fflush(stdout);
		next_ns = now_ns() + 100000000;
	}
}

static const struct {
	const char *name;
	void (*end)();
} modes[] = {
	{"return", end_by_return},
	{"exit", end_by_exit},
	{"_exit", end_by_underscore_exit},
	{"quick_exit", end_by_quick_exit},
	{"abort", abort},
	{"sigterm", end_by_sigterm},
	{"sigkill", end_by_sigkill},
	{"thread_exit", end_by_other_thread},
	{"never", end_never},
};

static void (*find_mode(const char *name))()
{
	for (const auto &mode : modes)
		if (name && !strcmp(mode.name, name))
			return mode.end;
	fprintf(stderr, "endings: takes one of");
	for (const auto &mode : modes)
		fprintf(stderr, " %s", mode.name);
	fputc('\n', stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	long launches = 1000, in_flight = 0, idle_ms = 0;
	int index = trial_parse(argc, argv,
				{{"launches", &launches},
				 {"in-flight", &in_flight},
				 {"idle-ms", &idle_ms}});
	void (*end)() = find_mode(argv[index]);

	for (long i = 0; i < launches; i++)
		CUDA_LAUNCH(empty_kernel<<<1, 1>>>());
	if (!in_flight)
		CUDA_CHECK(cudaDeviceSynchronize());
	printf("kernels %ld\n", launches);
	fflush(stdout);
	usleep(idle_ms * 1000);
	end();
	return 0;
}
