#include "advice/loop_text.h"

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "base/names/range_fold.h"
#include "base/search.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MOST 3
#define NAME_WIDTH 40
#define RANGE_WIDTH 40
#define OPERATOR_WIDTH 32
#define NAME_SIZE (NAME_WIDTH + 8 + 4 * OPERATOR_WIDTH + 8)

/* Each once: by its operator of PyTorch, else by its own name. */
struct names {
	char items[NAMES_MOST][NAME_SIZE];
	const char *operators[NAMES_MOST]; /* "": of none */
	size_t count;			   /* more than NAMES_MOST: there are others */
};

static const char *copy_name(const struct profile *profile, const struct profile_op *op)
{
	switch (profile->copies[op->detail].kind) {
	case COPY_TO_DEVICE:
		return "copy to the device";
	case COPY_TO_HOST:
		return "copy to the host";
	default:
		return "copy";
	}
}

static void name_op(char *buffer, size_t size, const struct profile *profile,
		    const struct profile_op *op)
{
	if (op->kind == OP_KERNEL)
		format_text(buffer, size,
			    kernel_label(profile->kernel_labels,
					 profile->signatures[op->detail].name, LABEL_MEDIUM),
			    NAME_WIDTH);
	else
		snprintf(buffer, size, "%s",
			 op->kind == OP_COPY	 ? copy_name(profile, op)
			 : op->kind == OP_MEMSET ? "memset"
						 : "graph");
}

struct range_search {
	const struct profile_range *ranges;
	int64_t time_ns;
};

static bool begins_later(size_t index, const void *context)
{
	const struct range_search *search = context;

	return search->ranges[index].start_ns > search->time_ns;
}

/* The innermost operator of PyTorch that made the call, of those that began from first_ns on; "": none. */
static const char *operator_of(const struct profile *profile, const struct profile_call *call,
			       int64_t first_ns)
{
	const struct profile_thread *thread = &profile->threads[call->thread];
	const struct range_search search = {profile->ranges + thread->first_range, call->start_ns};
	size_t next = search_first(0, thread->range_count, begins_later, &search);

	for (; next > 0 && search.ranges[next - 1].start_ns >= first_ns; next--) {
		const struct profile_range *range = &search.ranges[next - 1];

		if (range->is_push_pop && range->end_ns >= call->end_ns &&
		    (range->recorded_name || range_is_operator(range->name)))
			return range->name;
	}
	return "";
}

static void add_name(struct names *names, const char *operator_name, const char *name)
{
	size_t known = names->count < NAMES_MOST ? names->count : NAMES_MOST;
	char shown[OPERATOR_WIDTH * 4 + 1];

	for (size_t i = 0; i < known; i++)
		if (*operator_name ? !strcmp(names->operators[i], operator_name)
				   : !strcmp(names->items[i], name))
			return;
	if (names->count < NAMES_MOST && *operator_name) {
		format_text(shown, sizeof(shown), operator_name, OPERATOR_WIDTH);
		snprintf(names->items[names->count], NAME_SIZE, "%s (%s)", shown, name);
	} else if (names->count < NAMES_MOST) {
		snprintf(names->items[names->count], NAME_SIZE, "%s", name);
	}
	if (names->count < NAMES_MOST)
		names->operators[names->count] = operator_name;
	names->count++;
}

static void collect_names(struct names *names, const struct model *model, const struct loop *loop)
{
	const struct submissions *submissions = &model->submissions;
	const struct profile *profile = model->profile;
	int64_t first_ns = profile->calls[loop->iterations[0]].start_ns;
	char name[NAME_WIDTH + 8];

	for (size_t i = loop->iterations[1]; i < loop->iterations[2]; i++) {
		const char *operator_name = "";

		if (submissions_count(submissions, i))
			operator_name = operator_of(profile, &profile->calls[i], first_ns);
		for (uint32_t j = submissions_first(submissions, i);
		     j < submissions_first(submissions, i + 1); j++) {
			name_op(name, sizeof(name), profile,
				&profile->ops[submissions_op(submissions, j)]);
			add_name(names, operator_name, name);
		}
	}
}

/* The innermost range of the thread around these calls, or NULL; ranges come by start. */
static const struct profile_range *range_around(const struct profile *profile,
						const struct profile_thread *thread,
						size_t first_call, size_t last_call)
{
	const struct profile_range *found = NULL;

	for (size_t i = thread->first_range; i < thread->first_range + thread->range_count; i++) {
		const struct profile_range *range = &profile->ranges[i];

		if (range->start_ns > profile->calls[first_call].start_ns)
			break;
		if (range->end_ns >= profile->calls[last_call].end_ns)
			found = range;
	}
	return found;
}

static int64_t device_first_ns(const struct profile *profile, size_t device)
{
	const struct profile_device *where = &profile->devices[device];

	return where->op_count ? profile->ops[where->first_op].start_ns : 0;
}

__attribute__((format(printf, 3, 4))) static void add(char *buffer, size_t size, const char *format,
						      ...)
{
	size_t used = strlen(buffer);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer + used, size - used, format, arguments);
	va_end(arguments);
}

void loop_text(char *buffer, size_t size, const struct model *model, const struct loop *loop,
	       size_t device)
{
	const struct profile *profile = model->profile;
	size_t last_call = loop->first_call + loop->call_count - 1;
	const struct profile_range *range =
		range_around(profile, &profile->threads[loop->thread], loop->first_call, last_call);
	int64_t from_ns =
		profile->calls[loop->first_call].start_ns - device_first_ns(profile, device);
	struct names names = {.count = 0};
	char range_name[RANGE_WIDTH * 4];

	buffer[0] = '\0';
	collect_names(&names, model, loop);
	for (size_t i = 0; i < names.count && i < NAMES_MOST; i++)
		add(buffer, size, "%s%s", i ? ", " : "", names.items[i]);
	if (names.count > NAMES_MOST)
		add(buffer, size, " and more");
	add(buffer, size, ", %s times from %s on", format_count(loop->iteration_count).text,
	    format_ns(from_ns > 0 ? (double)from_ns : 0).text);
	if (!range)
		return;
	format_text(range_name, sizeof(range_name), range->name, RANGE_WIDTH);
	add(buffer, size, ", in NVTX range '%s'", range_name);
}
