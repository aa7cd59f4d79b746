#define _GNU_SOURCE /* memfd_create */
#include "cmd/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/new_file.h"

#define NOT_FOUND 127 /* of a shell that has no such command */

static const char usual_pager[] = "less";

/* Descriptors: of what is kept and of the terminal, -1 without a pager. */
static int kept_fd = -1, terminal_fd = -1;
static off_t shown_bytes; /* of what is kept */

static const char *pager_command(void)
{
	const char *pager = getenv("PAGER"), *terminal = getenv("TERM");

	if (!pager)
		pager = usual_pager;
	if (!*pager || !strcmp(pager, "cat") || !terminal || !strcmp(terminal, "dumb"))
		return NULL;
	return pager;
}

int pager_terminal(void)
{
	return terminal_fd >= 0 ? terminal_fd : STDOUT_FILENO;
}

/* ---- how long it is ---- */

/* Rows that text takes, where lines wrap at so many columns; escape sequences and all but the first byte of a character
 * take none. */
struct rows {
	size_t count, column, columns;
	bool is_escape;
};

static void count_byte(struct rows *rows, unsigned char byte)
{
	if (rows->is_escape) {
		rows->is_escape = byte != 'm';
		return;
	}
	rows->is_escape = byte == '\033';
	if (byte == '\n') {
		rows->count++;
		rows->column = 0;
	} else if (!rows->is_escape && (byte & 0xc0) != 0x80 && rows->column++ == rows->columns) {
		rows->count++;
		rows->column = 1;
	}
}

/* The row of the prompt is left for it. */
static bool is_longer_than_screen(void)
{
	struct winsize size;
	struct rows rows = {0};
	unsigned char bytes[4096];
	ssize_t length;
	off_t at = 0;

	if (ioctl(terminal_fd, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
		return false;
	rows.columns = size.ws_col;
	for (; (length = pread(kept_fd, bytes, sizeof(bytes), at)) > 0; at += length)
		for (ssize_t i = 0; i < length; i++)
			count_byte(&rows, bytes[i]);
	return rows.count >= size.ws_row;
}

/* ---- showing ---- */

/* A terminal that is gone is no failure of ours. */
static void show_rest(void)
{
	char bytes[4096];
	ssize_t length;

	while ((length = pread(kept_fd, bytes, sizeof(bytes), shown_bytes)) > 0 &&
	       write_all(terminal_fd, bytes, (size_t)length) == 0)
		shown_bytes += length;
}

/* less and lv keep colors where they are told to, unless the user tells them something else. */
static void become_pager(const char *command)
{
	(void)setenv("LESS", "R", 0);
	(void)setenv("LV", "-c", 0);
	(void)lseek(kept_fd, 0, SEEK_SET);
	if (dup2(kept_fd, STDIN_FILENO) < 0 || dup2(terminal_fd, STDOUT_FILENO) < 0)
		_exit(NOT_FOUND);
	if (!strcmp(command, usual_pager)) /* without a shell, which would say that there is none */
		execlp(command, command, (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NOT_FOUND);
}

/* Whether the pager was there.  Ctrl-C is for it, not for us. */
static bool run_pager(const char *command)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, interrupt, quit;
	int status = 0;
	pid_t pager;

	sigaction(SIGINT, &ignored, &interrupt);
	sigaction(SIGQUIT, &ignored, &quit);
	pager = fork();
	if (pager == 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		become_pager(command);
	}
	while (pager > 0 && waitpid(pager, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return pager > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

static void show(void)
{
	const char *command = pager_command();

	if (kept_fd < 0)
		return;
	(void)fflush(stdout);
	if (!command || !is_longer_than_screen() || !run_pager(command))
		show_rest();
}

/* ---- keeping ---- */

void pager_open(void)
{
	int kept, terminal;

	if (!pager_command() || !isatty(STDOUT_FILENO))
		return;
	kept = memfd_create("report", MFD_CLOEXEC);
	terminal = dup(STDOUT_FILENO);
	if (kept < 0 || terminal < 0 || atexit(show) || dup2(kept, STDOUT_FILENO) < 0) {
		close(kept);
		close(terminal);
		return;
	}
	kept_fd = kept;
	terminal_fd = terminal;
}

void pager_cancel(void)
{
	if (kept_fd < 0)
		return;
	(void)dup2(terminal_fd, STDOUT_FILENO);
	close(kept_fd);
	close(terminal_fd);
	kept_fd = terminal_fd = -1;
}

void pager_show_begin(void)
{
	if (kept_fd < 0)
		return;
	(void)fflush(stdout);
	show_rest();
}
