#include "html/html_whatif.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"
#include "html/html_blocks.h"
#include "whatif/scenario.h"

#define STEP_MOST 3 /* pictures of the first steps, and of all of them together */

/* What a step's options for whatif say: --graph --batch-atomics 8. */
static void choose(struct chosen_techniques *chosen, const char *options)
{
	char *copy = strdup(options), *rest = copy, *word;

	*chosen = (struct chosen_techniques){0};
	while (copy && (word = strsep(&rest, " ")))
		for (int i = 0; i < TECHNIQUE_COUNT && !strncmp(word, "--", 2); i++)
			if (!strcmp(word + 2, techniques[i]->option))
				chosen->items[chosen->count++] = (enum technique_id)i;
	free(copy);
}

static json_t *span_of(const struct html_names *names, const struct side *side,
		       const struct side_span *span)
{
	json_t *entry = json_array();

	json_builder_append(names->json, entry, json_integer(span->start_ns - side->start_ns));
	json_builder_append(names->json, entry, json_integer(span->end_ns - span->start_ns));
	json_builder_append(names->json, entry, json_boolean(span->is_own));
	return entry;
}

static json_t *calls_of(const struct html_names *names, const struct side *side)
{
	const struct profile *profile = names->report->profile;
	json_t *list = json_array();

	for (size_t i = 0; i < side->call_count; i++) {
		const struct side_span *span = &side->calls[i];
		const struct profile_call *call = &profile->calls[span->index];
		json_t *entry = span_of(names, side, span);
		/* A call that has become another one has another name. */
		bool is_same = profile->call_names[call->name].call_class == span->call_class;

		json_builder_append(names->json, entry, json_integer(span->call_class));
		json_builder_append(names->json, entry,
				    is_same ? json_integer(html_name_of_call(names, call))
					    : json_null());
		json_builder_append(names->json, list, entry);
	}
	return list;
}

static json_t *ops_of(const struct html_names *names, const struct side *side)
{
	const struct profile *profile = names->report->profile;
	json_t *list = json_array();

	for (size_t i = 0; i < side->op_count; i++) {
		const struct side_span *span = &side->ops[i];
		const struct profile_op *op = &profile->ops[span->index];
		json_t *entry = span_of(names, side, span);

		json_builder_append(names->json, entry, json_integer(html_class_of_op(names, op)));
		json_builder_append(names->json, entry, json_integer(html_name_of_op(names, op)));
		json_builder_append(names->json, entry, json_integer(op->stream));
		json_builder_append(names->json, list, entry);
	}
	return list;
}

static json_t *side_of(const struct html_names *names, const struct side *side)
{
	json_t *object = json_object();

	json_builder_put(names->json, object, "length_ns",
			 json_integer(side->end_ns - side->start_ns));
	json_builder_put(names->json, object, "calls", calls_of(names, side));
	json_builder_put(names->json, object, "ops", ops_of(names, side));
	return object;
}

static json_t *streams_of(const struct html_names *names)
{
	const struct profile *profile = names->report->profile;
	json_t *list = json_array();
	char label[48];

	for (size_t i = 0; i < profile->stream_count; i++) {
		const struct profile_stream *stream = &profile->streams[i];

		snprintf(label, sizeof(label), "stream %u", stream->stream);
		json_builder_append(names->json, list,
				    json_string(stream->is_null ? "default stream" : label));
	}
	return list;
}

static json_t *picture_of(const struct html_names *names, const struct side_by_side *sides,
			  const struct plan_step *step)
{
	const struct stretch *stretch = &sides->stretch;
	json_t *object = json_object();

	json_builder_put(names->json, object, "title", html_text(step->title));
	json_builder_put(names->json, object, "options", html_text(step->options));
	json_builder_put(names->json, object, "first_iteration",
			 json_integer((json_int_t)stretch->first_iteration));
	json_builder_put(names->json, object, "iteration_count",
			 json_integer((json_int_t)stretch->iteration_count));
	json_builder_put(names->json, object, "loop_iteration_count",
			 json_integer((json_int_t)stretch->loop_iteration_count));
	json_builder_put(names->json, object, "before", side_of(names, &sides->before));
	json_builder_put(names->json, object, "after", side_of(names, &sides->after));
	return object;
}

static int add_picture(const struct html_names *names, const struct plan_step *step, json_t *list)
{
	struct chosen_techniques chosen;
	struct scenario scenario;
	struct side_by_side sides = {0};
	struct err err = {""};
	int rc;

	choose(&chosen, step->options);
	rc = scenario_show(&scenario, &sides, names->report, &chosen, NULL, &err);
	if (rc == 0 && sides.stretch.end)
		json_builder_append(names->json, list, picture_of(names, &sides, step));
	side_by_side_free(&sides);
	return rc == -ENODATA ? 0 : rc;
}

int html_write_whatif(const struct report *report, const struct html_names *names, FILE *out)
{
	const struct advice *advice = report->advice;
	json_t *object = json_object(), *list = json_array();
	int rc = 0;

	for (size_t i = 0; rc == 0 && advice && i < advice->plan_count; i++)
		if (i < STEP_MOST || i + 1 == advice->plan_count)
			rc = add_picture(names, &advice->plan[i], list);
	json_builder_put(names->json, object, "streams", streams_of(names));
	json_builder_put(names->json, object, "steps", list);
	if (rc < 0) {
		json_decref(object);
		return rc;
	}
	return html_write_packed_json(out, "whatif", names->json, object);
}
