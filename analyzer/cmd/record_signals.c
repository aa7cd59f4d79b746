/*
 * record_signals.c - waits for a program as if it had been started without us.
 *
 * A signal may be sent to us alone (kill, a batch system) or to the whole process group (Ctrl-C, timeout,
 * mpirun), and then the program has it already.  The kernel does not tell which.  So there is a witness:
 * a process of the same group that blocks every signal and does nothing.  What is pending there went to all.
 */
#define _GNU_SOURCE
#include "cmd/record_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sigset_t mask_before;
static struct sigaction child_action_before;
static bool is_held, is_end_asked;

void signals_hold(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t all;

	if (is_held)
		return;
	is_held = true;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask_before);
	/* Whoever ignores it has no children to wait for. */
	sigaction(SIGCHLD, &usual, &child_action_before);
}

void signals_restore(void)
{
	is_held = false;
	sigaction(SIGCHLD, &child_action_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

bool signals_are_end_asked(void)
{
	return is_end_asked;
}

/* ---- the witness ---- */

/* Whoever signals rooflinectl by its name (pkill, killall) does not mean the witness. */
static void take_another_name(void)
{
	static const char name[] = "signal-witness";
	size_t length = strlen(program_invocation_name);

	prctl(PR_SET_NAME, name);
	snprintf(program_invocation_name, length + 1, "%s", name);
}

/* Returns its process id, or -1.  It ends with us, and holds no file of anybody open. */
static pid_t witness_start(void)
{
	pid_t parent = getpid(), witness = fork();

	if (witness != 0)
		return witness;
	take_another_name();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_close_range, 0, ~0U, 0);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static void witness_end(pid_t witness)
{
	if (witness <= 0)
		return;
	kill(witness, SIGKILL);
	while (waitpid(witness, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Signals that are pending in a process, bit n - 1 for signal n. */
static uint64_t pending_signals(pid_t process)
{
	static const char key[] = "\nShdPnd:";
	char path[64], text[4096], *found;
	ssize_t length;
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return 0;
	length = read(descriptor, text, sizeof(text) - 1);
	close(descriptor);
	text[length < 0 ? 0 : length] = '\0';
	found = strstr(text, key);
	return found ? strtoull(found + sizeof(key) - 1, NULL, 16) : 0;
}

struct witness {
	pid_t pid;
	uint64_t noted; /* pending in the witnesses before it, and not received by us yet */
};

/* Whether the signal went to the whole group.  A witness that has one is replaced, so that the next one shows;
 * until the new one is there the old one goes on seeing.  The newest process of a group is signaled first, so a
 * witness has a signal before we do. */
static bool witness_has(struct witness *witness, int signal_number)
{
	uint64_t bit = UINT64_C(1) << (signal_number - 1);
	pid_t before = witness->pid;

	if (before > 0 && (pending_signals(before) & bit)) {
		witness->pid = witness_start();
		witness->noted |= pending_signals(before);
		witness_end(before);
	}
	if (!(witness->noted & bit))
		return false;
	witness->noted &= ~bit;
	return true;
}

/* ---- waiting ---- */

static void pass_on(pid_t program, const siginfo_t *signal)
{
	if (signal->si_code == SI_QUEUE)
		sigqueue(program, signal->si_signo, signal->si_value);
	else
		kill(program, signal->si_signo);
}

static bool asks_for_an_end(int signal_number)
{
	struct sigaction action;

	if (signal_number != SIGINT && signal_number != SIGQUIT && signal_number != SIGTERM &&
	    signal_number != SIGHUP)
		return false;
	/* What nohup ignores stays ignored. */
	return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler != SIG_IGN;
}

/* The terminal's is always the group's; a timer or a limit that was set before we were started is the program's. */
static bool is_from_terminal(const siginfo_t *signal)
{
	int number = signal->si_signo;

	return signal->si_code == SI_KERNEL && number != SIGALRM && number != SIGVTALRM &&
	       number != SIGPROF && number != SIGXCPU && number != SIGIO;
}

/* systemd and others that end all processes of a control group signal one after the other. */
#define IN_TURN_NS 20000000

static bool group_has(struct witness *witness, const siginfo_t *signal, pid_t program)
{
	const struct timespec in_turn = {.tv_nsec = IN_TURN_NS};
	bool has_it = witness_has(witness, signal->si_signo);

	if (!has_it && asks_for_an_end(signal->si_signo)) {
		nanosleep(&in_turn, NULL);
		has_it = witness_has(witness, signal->si_signo);
	}
	return has_it && getpgid(program) == getpgrp();
}

/* A signal of the program to its parent is for whoever would be its parent without us: for nobody that
 * we know, and not for the program. */
static void receive(const siginfo_t *signal, pid_t program, struct witness *witness)
{
	bool has_program_it = group_has(witness, signal, program) || is_from_terminal(signal);

	if (asks_for_an_end(signal->si_signo))
		is_end_asked = true;
	if (!has_program_it && signal->si_pid != program)
		pass_on(program, signal);
}

/* Where there is a terminal, a shell that gave us a process group of our own may wait to hear that its job has stopped, and
 * will continue it.  Elsewhere nobody would: we go on waiting for the program. */
static void stop_as_program(void)
{
	int terminal;

	if (getpgid(getppid()) == getpgrp())
		return;
	terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		return;
	close(terminal);
	raise(SIGSTOP);
}

/* Returns true when the program has ended.  As the first process of a container we also have to wait for those that have lost
 * their parents; and somebody may have ended the witness. */
static bool has_ended(pid_t program, int *status, struct witness *witness, int *problem)
{
	int found_status;
	pid_t found;

	while ((found = waitpid(-1, &found_status, WNOHANG | WUNTRACED)) > 0) {
		if (found == witness->pid && !WIFSTOPPED(found_status))
			witness->pid = 0;
		if (found != program)
			continue;
		*status = found_status;
		if (!WIFSTOPPED(found_status))
			return true;
		stop_as_program();
	}
	if (found < 0 && errno != EINTR) {
		*problem = -errno;
		return true;
	}
	return false;
}

/* The next signal, or 0 when it is time for a tick. */
static int next_signal(const struct signals_watch *watch, siginfo_t *signal)
{
	struct timespec period = {watch->period_ms / 1000, watch->period_ms % 1000 * 1000000L};
	sigset_t all;
	int number;

	sigfillset(&all);
	number = watch->tick ? sigtimedwait(&all, signal, &period) : sigwaitinfo(&all, signal);
	return number > 0 && number != SIGCHLD ? number : 0;
}

/* The program may have ended while its tick was worked on, by a signal that we have not taken yet. */
static void note_pending(void)
{
	static const int ends[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigismember(&pending, ends[i]) == 1 && asks_for_an_end(ends[i]))
			is_end_asked = true;
}

int signals_wait(pid_t program, int *status, const struct signals_watch *watch)
{
	struct witness witness = {.pid = witness_start()};
	int problem = 0, number;
	siginfo_t signal;

	while (!has_ended(program, status, &witness, &problem)) {
		number = next_signal(watch, &signal);
		if (number && number != watch->taken_signal)
			receive(&signal, program, &witness);
		if (watch->tick)
			watch->tick(watch->user, number && number == watch->taken_signal);
	}
	note_pending();
	witness_end(witness.pid);
	return problem;
}

/* ---- the end ---- */

void signals_die_of(int signal_number)
{
	const struct rlimit none = {0, 0};
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0); /* a limit of 0 does not hold where cores go into a pipe */
	signal(signal_number, SIG_DFL);
	raise(signal_number);
	sigemptyset(&one);
	sigaddset(&one, signal_number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}
