#include "cmd/live_line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "trace/recording.h"

static void add(struct live_figures *figures, const struct control_status *status)
{
	struct control_status *sum = &figures->sum;

#define ADD(name, meaning) sum->name += status->name;
	CONTROL_VALUES(ADD)
#undef ADD
	for (int device = 0; device < CONTROL_DEVICES; device++)
		sum->busy_ns[device] += status->busy_ns[device];
	figures->process_count++;
}

int live_figures_ask(struct live_figures *figures, const char *folder, struct err *err)
{
	struct recording recording;
	struct control_status status;
	struct timespec now;
	struct err first = {""};
	int rc = recording_open(&recording, folder, err);

	*figures = (struct live_figures){0};
	for (size_t i = 0; rc == 0 && i < recording.process_count; i++)
		if (control_ask(recording.processes[i].path, CONTROL_status, &status, &first) == 0)
			add(figures, &status);
	recording_close(&recording);
	clock_gettime(CLOCK_MONOTONIC, &now);
	figures->time_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (rc == 0 && !figures->process_count)
		rc = err_set(err, -ESRCH, "%s",
			     *first.text ? first.text : "no process has used CUDA yet");
	return rc;
}

/* A process that has ended takes its counts with it. */
static uint64_t rate(uint64_t before, uint64_t now, double s)
{
	return now > before && s > 0 ? (uint64_t)((double)(now - before) / s + 0.5) : 0;
}

__attribute__((format(printf, 3, 4))) static void put(char *text, size_t size, const char *format,
						      ...)
{
	size_t used = strlen(text);
	va_list values;

	va_start(values, format);
	vsnprintf(text + used, size - used, format, values);
	va_end(values);
}

static const char *state_of(const struct live_figures *now)
{
	if (now->sum.has_ended)
		return "ended by a limit  ";
	return now->sum.is_stopped ? "stopped  " : "";
}

void live_line_format(char *text, size_t size, const struct live_figures *before,
		      const struct live_figures *now)
{
	double s = (double)(now->time_ns - before->time_ns) / 1e9;
	const struct control_status *a = &before->sum, *b = &now->sum;

	text[0] = '\0';
	put(text, size, "%s%s launches/s  %s kernels/s  ", state_of(now),
	    format_count(rate(a->launches, b->launches, s)).text,
	    format_count(rate(a->kernels, b->kernels, s)).text);
	for (int device = 0; device < CONTROL_DEVICES; device++)
		if (b->busy_ns[device])
			put(text, size, "GPU %d %s busy  ", device,
			    format_percent((double)(b->busy_ns[device] - a->busy_ns[device]),
					   s * 1e9)
				    .text);
	put(text, size, "%s, %s  %s lost", format_bytes((double)b->written_bytes).text,
	    format_rate((double)rate(a->written_bytes, b->written_bytes, s)).text,
	    format_count(b->lost).text);
}

static json_t *describe_devices(const struct control_status *a, const struct control_status *b,
				double s)
{
	json_t *list = json_array();

	for (int device = 0; device < CONTROL_DEVICES; device++)
		if (b->busy_ns[device] && s > 0)
			(void)json_array_append_new(
				list, json_pack("{s:i, s:f}", "device", device, "busy_ratio",
						(double)(b->busy_ns[device] - a->busy_ns[device]) /
							(s * 1e9)));
	return list;
}

json_t *live_object(const struct live_figures *before, const struct live_figures *now)
{
	double s = (double)(now->time_ns - before->time_ns) / 1e9;
	const struct control_status *a = &before->sum, *b = &now->sum;

	return json_pack("{s:i, s:s, s:i, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "schema", 1, "state",
			 b->has_ended	 ? "ended"
			 : b->is_stopped ? "stopped"
					 : "recording",
			 "processes", (int)now->process_count, "interval_ns",
			 (json_int_t)(now->time_ns - before->time_ns), "launches_per_s",
			 (json_int_t)rate(a->launches, b->launches, s), "kernels_per_s",
			 (json_int_t)rate(a->kernels, b->kernels, s), "devices",
			 describe_devices(a, b, s), "written_bytes", (json_int_t)b->written_bytes,
			 "written_byte_per_s",
			 (json_int_t)rate(a->written_bytes, b->written_bytes, s), "lost",
			 (json_int_t)b->lost);
}
