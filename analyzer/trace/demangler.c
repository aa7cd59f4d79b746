#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "trace/demangler.h"

#include <ctype.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Names of CUTLASS have 4,000 characters and become twice as long within 0.2 ms. */
#define MOST_CPU_US 100000
#define MOST_LOST 5 /* then names that need a child stay as they are */
#define LONGEST_MANGLED ((size_t)16 * 1024)

/* Each reference at most doubles what comes before it. */
#define SHORT_NAME 512
#define FEW_REFERENCES 8

/* ---- one name ---- */

struct text {
	char *bytes;
	size_t length, most;
	jmp_buf too_long;
};

static void add(const char *bytes, size_t count, void *context)
{
	struct text *text = context;

	if (count >= text->most - text->length)
		longjmp(text->too_long,
			1); /* the demangler holds nothing that would have to be freed */
	memcpy(text->bytes + text->length, bytes, count);
	text->length += count;
}

/* What names may take grows with the file that they are in, and no faster. */
static size_t most_bytes(size_t mangled_length)
{
	size_t most = 1024 + 16 * mangled_length;

	return most < DEMANGLER_LONGEST ? most : DEMANGLER_LONGEST;
}

/* Takes no memory but the stack's.  The length, or 0 when it is no name. */
static size_t demangle(char *bytes, const char *mangled)
{
	struct text text = {.bytes = bytes, .most = most_bytes(strlen(mangled))};

	if (setjmp(text.too_long) ||
	    !cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT,
					add, &text))
		return 0;
	bytes[text.length] = '\0';
	return text.length;
}

/* S_, S0_, T_, T0_ and such; packs are repeated by their length. */
static bool is_harmless(const char *mangled)
{
	size_t count = 0, length = strlen(mangled);

	for (const char *at = mangled; length <= SHORT_NAME && *at; at++)
		count += (*at == 'S' || *at == 'T') &&
			 (at[1] == '_' || isdigit((unsigned char)at[1]) ||
			  isupper((unsigned char)at[1]));
	return length <= SHORT_NAME && count <= FEW_REFERENCES && !strstr(mangled, "Dp");
}

/* ---- the child ---- */

static bool read_all(int channel, void *bytes, size_t count)
{
	for (char *next = bytes; count;) {
		ssize_t length = read(channel, next, count);

		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return false;
		next += length;
		count -= (size_t)length;
	}
	return true;
}

/* A length and as many bytes. */
static bool send_text(int channel, const char *text, uint32_t length)
{
	return send(channel, &length, sizeof(length), MSG_NOSIGNAL) == sizeof(length) &&
	       (!length || send(channel, text, length, MSG_NOSIGNAL) == (ssize_t)length);
}

static bool receive_text(int channel, char *text, size_t size)
{
	uint32_t length;

	if (!read_all(channel, &length, sizeof(length)) || length >= size ||
	    !read_all(channel, text, length))
		return false;
	text[length] = '\0';
	return true;
}

static void limit_time(long us)
{
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_usec = us}}, NULL);
}

static void serve(int channel)
{
	static char mangled[LONGEST_MANGLED], text[DEMANGLER_LONGEST];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGVTALRM, SIG_DFL);
	while (receive_text(channel, mangled, sizeof(mangled))) {
		size_t length;

		limit_time(MOST_CPU_US);
		length = demangle(text, mangled);
		limit_time(0);
		if (!send_text(channel, text, (uint32_t)length))
			break;
	}
	_exit(0); /* no second flush of our streams */
}

static void start(struct demangler *demangler)
{
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		serve(ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return;
	}
	demangler->child = child;
	demangler->channel = ends[0];
}

void demangler_close(struct demangler *demangler)
{
	if (!demangler->child)
		return;
	close(demangler->channel);
	while (waitpid(demangler->child, NULL, 0) < 0 && errno == EINTR)
		;
	demangler->child = 0;
}

static const char *ask(struct demangler *demangler, const char *mangled)
{
	size_t length = strlen(mangled);

	if (length >= LONGEST_MANGLED || demangler->lost_count >= MOST_LOST)
		return NULL;
	if (!demangler->child)
		start(demangler);
	if (!demangler->child)
		return NULL;
	if (send_text(demangler->channel, mangled, (uint32_t)length) &&
	    receive_text(demangler->channel, demangler->text, sizeof(demangler->text)))
		return *demangler->text ? demangler->text : NULL;
	demangler->lost_count++;
	demangler_close(demangler);
	return NULL;
}

const char *demangler_name(struct demangler *demangler, const char *mangled)
{
	if (!is_harmless(mangled))
		return ask(demangler, mangled);
	return demangle(demangler->text, mangled) ? demangler->text : NULL;
}
