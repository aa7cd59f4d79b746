#include "cmd/record_live.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS INT64_C(1000000000)
#define ERASE_LINE "\r\033[K"

static int64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void record_live_start(struct record_live *live, const char *folder, bool is_asked)
{
	*live = (struct record_live){.is_on = is_asked && isatty(STDERR_FILENO),
				     .folder = folder,
				     .start_ns = clock_now_ns()};
	live->next_ns = live->start_ns + PERIOD_NS;
}

/* It is written and erased again at once where the program prints next: what it prints begins in the first column. */
void record_live_tick(struct record_live *live)
{
	struct live_figures now;
	char text[512];
	int64_t now_ns = live->is_on ? clock_now_ns() : 0;

	if (!live->is_on || now_ns < live->next_ns)
		return;
	live->next_ns = now_ns + PERIOD_NS;
	if (live_figures_ask(&now, live->folder, NULL) < 0)
		return;
	if (live->before.time_ns) {
		live_line_format(text, sizeof(text), &live->before, &now);
		fprintf(stderr, ERASE_LINE "%lld s  %s\r",
			(long long)((now_ns - live->start_ns) / 1000000000), text);
	}
	live->before = now;
}

void record_live_end(struct record_live *live)
{
	if (live->is_on && live->before.time_ns)
		fputs(ERASE_LINE, stderr);
}
