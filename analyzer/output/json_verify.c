/* json_verify.c - a comparison of two recordings for programs.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/verify.h"

#include <errno.h>
#include <string.h>

#include "output/json_values.h"

/* null where it is not known: no figure is made up */
static void set_known(json_t *object, const char *key, bool is_known, double value)
{
	json_object_set_new(object, key, is_known ? json_real(value) : json_null());
}

static void set_sentences(json_t *object, const char *key, const struct sentences *sentences)
{
	json_t *array = json_array();

	for (size_t i = 0; i < sentences->count; i++)
		json_array_append_new(array, text_of(sentences->items[i]));
	json_object_set_new(object, key, array);
}

static void set_compared(json_t *object, const char *prefix, const struct compared_time *time)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_ns", prefix);
	set_real(object, key, time->mean_ns);
	snprintf(key, sizeof(key), "%s_count", prefix);
	set_count(object, key, time->count);
	snprintf(key, sizeof(key), "%s_min_ns", prefix);
	set_integer(object, key, time->min_ns);
	snprintf(key, sizeof(key), "%s_max_ns", prefix);
	set_integer(object, key, time->max_ns);
}

static void set_predicted(json_t *object, const struct comparison *comparison)
{
	bool is_predicted = comparison->predicted > 0, is_judged = comparison_is_judged(comparison);

	set_text(object, "strategy", comparison->strategy);
	set_text(object, "advice", comparison->advice);
	set_known(object, "predicted", is_predicted, comparison->predicted);
	set_known(object, "low", is_predicted, comparison->low);
	set_known(object, "high", is_predicted, comparison->high);
	set_known(object, "error", is_judged, comparison->error_ratio);
	json_object_set_new(object, "is_inside",
			    is_judged ? json_boolean(comparison->is_inside) : json_null());
}

int verify_write_json(const struct comparison *comparison, FILE *out,
		      const struct output_options *options, struct err *err)
{
	json_t *root = json_object(), *compared = json_object();
	int rc;

	(void)options;
	set_integer(root, "schema", OUTPUT_SCHEMA);
	set_text(root, "before", comparison->before_profile->path);
	set_text(root, "after", comparison->after_profile->path);
	set_text(root, "range", comparison->range);
	set_predicted(root, comparison);
	set_known(root, "measured", comparison->measured > 0, comparison->measured);
	set_known(root, "measured_low", comparison->measured_low > 0, comparison->measured_low);
	set_known(root, "measured_high", comparison->measured_high > 0, comparison->measured_high);
	set_compared(compared, "before", &comparison->before);
	set_compared(compared, "after", &comparison->after);
	set_real(compared, "before_share", comparison->before_share);
	set_real(compared, "after_share", comparison->after_share);
	json_object_set_new(root, "compared", compared);
	set_bool(root, "is_same_work", !comparison->differences.count);
	set_sentences(root, "differences", &comparison->differences);
	set_sentences(root, "obstacles", &comparison->obstacles);
	set_sentences(root, "warnings", &comparison->warnings);
	rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_decref(root);
	if (rc < 0 || fputc('\n', out) == EOF || fflush(out))
		return err_set(err, -EIO, "the comparison could not be written: %s",
			       strerror(errno));
	return 0;
}
