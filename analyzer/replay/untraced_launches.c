#include "replay/untraced_launches.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ns.h"
#include "base/search.h"
#include "replay/model.h"

/* Fewer launches of a kind tell nothing. */
#define LEAST_LAUNCHES 8

static enum profile_call_class class_of(const struct profile *profile, uint32_t call)
{
	return profile->call_names[profile->calls[call].name].call_class;
}

static int compare_launches(const void *left, const void *right)
{
	const struct untraced_launch *a = left, *b = right;

	if (a->call_class != b->call_class)
		return a->call_class > b->call_class ? 1 : -1;
	if (a->op_count != b->op_count)
		return a->op_count > b->op_count ? 1 : -1;
	return (a->added_ns > b->added_ns) - (a->added_ns < b->added_ns);
}

static bool is_launch(enum profile_call_class call_class)
{
	return call_class == CALL_LAUNCH || call_class == CALL_GRAPH_LAUNCH;
}

/* ---- from one watched call to the next one ---- */

/* Of a thread: from the start of a launch, or the end of a wait, to the start of the next watched call. */
struct stretch {
	const struct profile_untraced_call *calls; /* the two */
	enum profile_call_class first_class;
	int64_t longer_ns; /* that it took while it was recorded, but for reading counters */
};

static bool stretch_at(struct stretch *out, const struct model *model, size_t i)
{
	const struct profile *profile = model->profile;
	const struct profile_untraced_call *call = &profile->untraced_calls[i];
	const struct profile_call *first, *next;
	int64_t from_ns, untraced_from_ns;

	if (i + 1 >= profile->untraced_call_count)
		return false;
	first = &profile->calls[call->call];
	next = &profile->calls[call[1].call];
	if (first->thread != next->thread)
		return false;
	out->calls = call;
	out->first_class = class_of(profile, call->call);
	from_ns = is_launch(out->first_class) ? first->start_ns : first->end_ns;
	untraced_from_ns = is_launch(out->first_class) ? call->start_ns : call->end_ns;
	out->longer_ns = next->start_ns - from_ns - (call[1].start_ns - untraced_from_ns) -
			 model_profiler_ns(model, first->thread, from_ns, next->start_ns);
	return true;
}

/* Calls that are not watched lie in it. */
static size_t others_count(const struct stretch *stretch)
{
	return stretch->calls[1].call - stretch->calls[0].call - 1;
}

/* ---- of samples what is usual ---- */

/* A time in which the system did something else, in one of the runs. */
#define OUTLIER_SHARE 0.05

/* Of calls in order of what is added: the mean, which gives the time of the whole, but for outliers. */
static int64_t usual_added_ns(const struct untraced_launch *items, size_t count)
{
	size_t outlier_count = (size_t)(OUTLIER_SHARE * (double)count);
	double sum_ns = 0;

	for (size_t i = outlier_count; i < count - outlier_count; i++)
		sum_ns += (double)items[i].added_ns;
	return max_ns((int64_t)(sum_ns / (double)(count - 2 * outlier_count)), 0);
}

/* Of launches of one kind, which lie in order of what is added: one, with what is usual. */
static size_t keep_usual(struct untraced_launch *items, size_t count)
{
	size_t kept = 0, end;

	for (size_t first = 0; first < count; first = end) {
		struct untraced_launch usual;

		for (end = first + 1; end < count &&
				      items[end].call_class == items[first].call_class &&
				      items[end].op_count == items[first].op_count;)
			end++;
		usual = items[first];
		usual.added_ns = usual_added_ns(items + first, end - first);
		if (end - first >= LEAST_LAUNCHES)
			items[kept++] = usual;
	}
	return kept;
}

/* ---- launches that are followed by a watched call ---- */

static int find_launches(struct untraced_launches *out, const struct model *model)
{
	const struct profile *profile = model->profile;
	size_t count = 0;
	struct stretch stretch;

	out->items = malloc(profile->untraced_call_count * sizeof(*out->items));
	if (!out->items)
		return -ENOMEM;
	for (size_t i = 0; i < profile->untraced_call_count; i++)
		if (stretch_at(&stretch, model, i) && is_launch(stretch.first_class) &&
		    !others_count(&stretch))
			out->items[count++] = (struct untraced_launch){
				.call_class = stretch.first_class,
				.op_count =
					submissions_count(&model->submissions, stretch.calls->call),
				.added_ns = stretch.longer_ns};
	qsort(out->items, count, sizeof(*out->items), compare_launches);
	out->count = keep_usual(out->items, count);
	return 0;
}

/* ---- how fast the host is ---- */

/* So many launches behind a wait no queue is full, so that none of them waits for the GPU. */
#define QUEUED_MOST 64

static int compare_times(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static bool is_launch_of_one(const struct model *model, const struct profile_untraced_call *call)
{
	return class_of(model->profile, call->call) == CALL_LAUNCH &&
	       submissions_count(&model->submissions, call->call) == 1;
}

static int find_launch_call(struct untraced_launches *out, const struct model *model)
{
	const struct profile *profile = model->profile;
	const struct profile_untraced_call *calls = profile->untraced_calls;
	int64_t *times_ns = malloc(profile->untraced_call_count * sizeof(*times_ns));
	size_t count = 0, queued_count = 0;

	if (!times_ns)
		return -ENOMEM;
	for (size_t i = 0; i < profile->untraced_call_count; i++) {
		if (!is_launch(class_of(profile, calls[i].call))) {
			queued_count = 0;
			continue;
		}
		if (queued_count && queued_count < QUEUED_MOST &&
		    is_launch_of_one(model, &calls[i]))
			times_ns[count++] = calls[i].end_ns - calls[i].start_ns;
		queued_count++;
	}
	qsort(times_ns, count, sizeof(*times_ns), compare_times);
	out->launch_call_ns = count >= LEAST_LAUNCHES ? times_ns[count / 2] : 0;
	free(times_ns);
	return 0;
}

/* ---- calls that are not watched ---- */

/* What it was longer by itself, without the launch that it begins with; false: that is not known, or some of its calls waits
 * for work, which may have taken another time. */
static bool others_longer_ns(int64_t *out, const struct untraced_launches *launches,
			     const struct model *model, const struct stretch *stretch)
{
	uint32_t first = stretch->calls[0].call, next = stretch->calls[1].call;
	bool has_work = is_launch(stretch->first_class);
	int64_t launch_ns = 0;

	for (uint32_t i = first + 1; i < next; i++) {
		unsigned int behavior = model->call_traits[i].behavior;

		if (behavior == CALL_WAITS_OWN || (behavior == CALL_WAITS && has_work))
			return false;
		has_work |= submissions_count(&model->submissions, i) > 0;
	}
	if (is_launch(stretch->first_class))
		launch_ns = untraced_added_ns(launches, stretch->first_class,
					      submissions_count(&model->submissions, first));
	*out = stretch->longer_ns - launch_ns;
	return launch_ns >= 0;
}

/* By the time that each of them took; items[] have the name in place of a class. */
static size_t share_out(struct untraced_launch *items, const struct profile *profile,
			const struct stretch *stretch, int64_t longer_ns)
{
	uint32_t first = stretch->calls[0].call + 1, end = stretch->calls[1].call;
	double all_ns = 0;

	for (uint32_t i = first; i < end; i++)
		all_ns += (double)(profile->calls[i].end_ns - profile->calls[i].start_ns);
	for (uint32_t i = first; i < end; i++) {
		const struct profile_call *call = &profile->calls[i];
		double own_ns = (double)(call->end_ns - call->start_ns);
		double share = all_ns > 0 ? own_ns / all_ns : 1.0 / (end - first);

		items[i - first] =
			(struct untraced_launch){.call_class = call->name,
						 .added_ns = (int64_t)(share * (double)longer_ns)};
	}
	return end - first;
}

static size_t all_others_count(const struct model *model)
{
	size_t count = 0;
	struct stretch stretch;

	for (size_t i = 0; i < model->profile->untraced_call_count; i++)
		if (stretch_at(&stretch, model, i))
			count += others_count(&stretch);
	return count;
}

static int find_others(struct untraced_launches *out, const struct model *model)
{
	const struct profile *profile = model->profile;
	struct untraced_launch *items = malloc((all_others_count(model) + 1) * sizeof(*items));
	size_t count = 0;
	struct stretch stretch;
	int64_t longer_ns;

	out->others_ns = malloc((profile->call_name_count + 1) * sizeof(*out->others_ns));
	if (!items || !out->others_ns) {
		free(items);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->call_name_count; i++)
		out->others_ns[i] = -1;
	for (size_t i = 0; i < profile->untraced_call_count; i++)
		if (stretch_at(&stretch, model, i) && others_count(&stretch) &&
		    others_longer_ns(&longer_ns, out, model, &stretch))
			count += share_out(&items[count], profile, &stretch, longer_ns);
	qsort(items, count, sizeof(*items), compare_launches);
	count = keep_usual(items, count);
	for (size_t i = 0; i < count; i++)
		out->others_ns[items[i].call_class] = items[i].added_ns;
	free(items);
	return 0;
}

int untraced_launches_find(struct untraced_launches *out, const struct model *model)
{
	int rc;

	*out = (struct untraced_launches){0};
	if (!model->profile->untraced_call_count)
		return 0;
	rc = find_launches(out, model);
	if (rc == 0)
		rc = find_launch_call(out, model);
	return rc < 0 ? rc : find_others(out, model);
}

void untraced_launches_free(struct untraced_launches *launches)
{
	free(launches->items);
	free(launches->others_ns);
	*launches = (struct untraced_launches){0};
}

struct lookup {
	const struct untraced_launches *launches;
	struct untraced_launch wanted;
};

static bool is_not_before(size_t index, const void *context)
{
	const struct lookup *lookup = context;
	const struct untraced_launch *item = &lookup->launches->items[index];
	const struct untraced_launch *wanted = &lookup->wanted;

	return item->call_class > wanted->call_class ||
	       (item->call_class == wanted->call_class && item->op_count >= wanted->op_count);
}

int64_t untraced_added_ns(const struct untraced_launches *launches,
			  enum profile_call_class call_class, uint32_t op_count)
{
	const struct lookup lookup = {launches, {.call_class = call_class, .op_count = op_count}};
	size_t i = search_first(0, launches->count, is_not_before, &lookup);

	return i < launches->count && launches->items[i].call_class == lookup.wanted.call_class &&
			       launches->items[i].op_count == op_count
		       ? launches->items[i].added_ns
		       : -1;
}

int64_t untraced_other_added_ns(const struct untraced_launches *launches, uint32_t call_name)
{
	return launches->others_ns ? launches->others_ns[call_name] : -1;
}
