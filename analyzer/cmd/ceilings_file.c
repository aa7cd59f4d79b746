#include "cmd/ceilings_file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/json_builder.h"
#include "base/json_reader.h"
#include "base/new_file.h"
#include "base/paths.h"

#define FILE_KIND "rooflinectl ceilings"
#define REMEDY "measure anew with 'rooflinectl ceilings'"
/* Sums of longer ones would overflow.  The longest that is measured, instantiating a graph of 1,000 nodes, takes
 * a millisecond. */
#define MOST_NS 1e9

/* ---- reading ---- */

/* A number of at least 0, or of more than 0; what is wrong goes to err. */
static int read_number(double *value, const json_t *row, const char *key, bool may_be_zero,
		       const char *where, struct err *err)
{
	const json_t *number = json_object_get(row, key);

	*value = json_number_value(number);
	if (json_is_number(number) && isfinite(*value) && *value >= 0 &&
	    (may_be_zero || *value > 0))
		return 0;
	return err_set(err, -EINVAL, "%s: %s is no %s number; " REMEDY, where, key,
		       may_be_zero ? "non-negative" : "positive");
}

static int read_count(uint64_t *count, const json_t *row, const char *key, const char *where,
		      struct err *err)
{
	const json_t *number = json_object_get(row, key);
	json_int_t value = json_integer_value(number);

	*count = (uint64_t)value;
	if (json_is_integer(number) && value >= 0)
		return 0;
	return err_set(err, -EINVAL, "%s: %s is no whole number; " REMEDY, where, key);
}

/* The text at key, copied; "" when it is absent and may be. */
static int read_text(char **text, const json_t *object, const char *key, bool may_be_absent,
		     const char *where, struct err *err)
{
	const json_t *string = json_object_get(object, key);

	if (string ? !json_is_string(string) : !may_be_absent)
		return err_set(err, -EINVAL, "%s: %s is no text; " REMEDY, where, key);
	*text = strdup(string ? json_string_value(string) : "");
	return *text ? 0 : err_set(err, -ENOMEM, "%s: out of memory", where);
}

/* The id and parameter of a row; *id is -1 when a newer version knows more than we do. */
static int read_place(int *id, uint64_t *parameter, const json_t *row, const char *where,
		      struct err *err)
{
	const char *name = json_string_value(json_object_get(row, "name"));

	if (!name)
		return err_set(err, -EINVAL, "%s: name is no text; " REMEDY, where);
	*id = ceiling_find(name);
	if (*id < 0)
		return 0;
	if (read_count(parameter, row, "parameter", where, err) < 0)
		return -EINVAL;
	if (!ceiling_parameter_fits((enum ceiling_id) * id, *parameter))
		return err_set(err, -EINVAL, "%s: %s cannot have the parameter %llu; " REMEDY,
			       where, name, (unsigned long long)*parameter);
	return 0;
}

static int check_unit(const json_t *row, enum ceiling_id id, const char *where, struct err *err)
{
	const char *unit = json_string_value(json_object_get(row, "unit"));

	if (unit && !strcmp(unit, ceiling_kind(id)->unit))
		return 0;
	return err_set(err, -EINVAL, "%s: the unit of %s is not '%s'; " REMEDY, where,
		       ceiling_kind(id)->name, ceiling_kind(id)->unit);
}

static int check_order(const struct ceiling *row, const char *where, struct err *err)
{
	if (row->low <= row->value && row->value <= row->high &&
	    row->sm_mhz_low <= row->sm_mhz_high)
		return 0;
	return err_set(err, -EINVAL, "%s: low and high do not enclose the value; " REMEDY, where);
}

static int check_possible(const struct ceiling *row, const char *where, struct err *err)
{
	const char *unit = ceiling_kind(row->id)->unit;

	if (strcmp(unit, "ns") || row->high <= MOST_NS)
		return 0;
	return err_set(err, -EINVAL, "%s: no GPU has a %s of %g %s; " REMEDY, where,
		       ceiling_kind(row->id)->name, row->high, unit);
}

static int read_values(struct ceiling *row, const json_t *from, const char *where, struct err *err)
{
	uint64_t samples = 0;

	if (check_unit(from, row->id, where, err) < 0 ||
	    read_number(&row->value, from, "value", false, where, err) < 0 ||
	    read_number(&row->low, from, "low", false, where, err) < 0 ||
	    read_number(&row->high, from, "high", false, where, err) < 0 ||
	    read_number(&row->sm_mhz_low, from, "sm_mhz_low", true, where, err) < 0 ||
	    read_number(&row->sm_mhz_high, from, "sm_mhz_high", true, where, err) < 0 ||
	    read_count(&samples, from, "samples", where, err) < 0)
		return -EINVAL;
	if (samples == 0 || samples > UINT32_MAX)
		return err_set(err, -EINVAL, "%s: samples cannot be %llu; " REMEDY, where,
			       (unsigned long long)samples);
	row->sample_count = (uint32_t)samples;
	if (check_order(row, where, err) < 0)
		return -EINVAL;
	return check_possible(row, where, err);
}

static int read_row(struct ceilings *ceilings, const json_t *from, const char *where,
		    struct err *err)
{
	struct ceiling row = {0};
	int id = -1, rc = read_place(&id, &row.parameter, from, where, err);

	if (rc < 0)
		return rc;
	if (id < 0) {
		ceilings->unknown_count++;
		return 0;
	}
	row.id = (enum ceiling_id)id;
	rc = read_values(&row, from, where, err);
	if (rc == 0 && ceilings_add(ceilings, &row) < 0)
		rc = err_set(err, -ENOMEM, "%s: out of memory", where);
	return rc;
}

static int read_skip(struct ceilings *ceilings, const json_t *from, const char *where,
		     struct err *err)
{
	const char *reason = json_string_value(json_object_get(from, "reason"));
	uint64_t parameter = 0;
	int id = -1, rc = read_place(&id, &parameter, from, where, err);

	if (rc < 0)
		return rc;
	if (!reason)
		return err_set(err, -EINVAL, "%s: reason is no text; " REMEDY, where);
	if (id < 0)
		return 0;
	if (ceilings_add_skip(ceilings, (enum ceiling_id)id, parameter, reason) < 0)
		return err_set(err, -ENOMEM, "%s: out of memory", where);
	return 0;
}

typedef int (*row_reader)(struct ceilings *ceilings, const json_t *from, const char *where,
			  struct err *err);

/* Every object of the list at key; where names the file and the place in the list. */
static int read_list(struct ceilings *ceilings, const json_t *root, const char *key,
		     row_reader read, const char *path, struct err *err)
{
	const json_t *list = json_object_get(root, key);
	char where[PATH_MAX + 64];
	int rc = 0;

	if (!json_is_array(list))
		return err_set(err, -EINVAL, "%s: %s is no list; " REMEDY, path, key);
	for (size_t i = 0; i < json_array_size(list) && rc == 0; i++) {
		snprintf(where, sizeof(where), "%s: %s[%zu]", path, key, i);
		rc = read(ceilings, json_array_get(list, i), where, err);
	}
	return rc;
}

static int check_head(const json_t *root, const char *path, struct err *err)
{
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const json_t *schema = json_object_get(root, "schema");

	if (!kind || strcmp(kind, FILE_KIND))
		return err_set(err, -EINVAL,
			       "%s: no ceilings in it: its kind is not '" FILE_KIND "'; " REMEDY,
			       path);
	if (!json_is_integer(schema) || json_integer_value(schema) < 1)
		return err_set(err, -EINVAL, "%s: schema is no version; " REMEDY, path);
	if (json_integer_value(schema) > CEILINGS_SCHEMA)
		return err_set(
			err, -EINVAL,
			"%s: schema %lld is of a newer rooflinectl than this, which reads %d; "
			"update it, or " REMEDY,
			path, (long long)json_integer_value(schema), CEILINGS_SCHEMA);
	return 0;
}

static int read_head(struct ceilings *ceilings, const json_t *root, const char *path,
		     struct err *err)
{
	int rc = check_head(root, path, err);

	if (rc == 0)
		rc = read_text(&ceilings->gpu, root, "gpu", false, path, err);
	if (rc == 0)
		rc = read_text(&ceilings->driver, root, "driver", false, path, err);
	if (rc == 0)
		rc = read_text(&ceilings->cuda, root, "cuda", true, path, err);
	if (rc == 0)
		rc = read_text(&ceilings->date, root, "date", true, path, err);
	if (rc == 0)
		rc = read_text(&ceilings->command, root, "command", true, path, err);
	ceilings->is_quick = json_is_true(json_object_get(root, "quick"));
	return rc;
}

static int read_root(struct ceilings *ceilings, const json_t *root, const char *path,
		     struct err *err)
{
	const struct ceiling *twice;
	int rc = read_head(ceilings, root, path, err);

	if (rc == 0)
		rc = read_list(ceilings, root, "ceilings", read_row, path, err);
	if (rc == 0 && json_object_get(root, "skipped"))
		rc = read_list(ceilings, root, "skipped", read_skip, path, err);
	if (rc < 0)
		return rc;
	twice = ceilings_sort(ceilings);
	if (twice)
		return err_set(err, -EINVAL, "%s: %s with parameter %llu is there twice; " REMEDY,
			       path, ceiling_kind(twice->id)->name,
			       (unsigned long long)twice->parameter);
	ceilings->path = strdup(path);
	return ceilings->path ? 0 : err_set(err, -ENOMEM, "%s: out of memory", path);
}

/* jansson quotes what it stumbled over: bytes that a terminal must not get. */
static int describe_problem(const char *path, const json_error_t *problem, struct err *err)
{
	char safe[JSON_ERROR_TEXT_LENGTH];

	format_text(safe, sizeof(safe), problem->text, sizeof(safe));
	return err_set(err, -EINVAL, "%s:%d: not JSON: %s; " REMEDY, path, problem->line, safe);
}

/* The JSON of a file.  Only of a file: reading a pipe or a device might never end. */
static int load_json(json_t **root, const char *path, struct err *err)
{
	struct stat status;
	json_error_t problem;
	int rc;

	if (stat(path, &status) < 0)
		return err_set(err, -errno, "%s: cannot be read: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return err_set(err, -EINVAL,
			       "%s: not a file; name one that 'rooflinectl ceilings' "
			       "stored",
			       path);
	rc = json_reader_file(root, path, JSON_REJECT_DUPLICATES, &problem);
	if (rc == -EINVAL)
		return describe_problem(path, &problem, err);
	if (rc == -EFBIG)
		return err_set(err, rc,
			       "%s: larger than %zu MiB, as no file of ceilings is; " REMEDY, path,
			       JSON_READER_MOST_BYTES >> 20);
	return rc < 0 ? err_set(err, rc, "%s: cannot be read: %s", path, strerror(-rc)) : 0;
}

int ceilings_file_read(struct ceilings **out, const char *path, struct err *err)
{
	struct ceilings *ceilings;
	json_t *root = NULL;
	int rc = load_json(&root, path, err);

	if (rc < 0)
		return rc;
	ceilings = calloc(1, sizeof(*ceilings));
	rc = ceilings ? read_root(ceilings, root, path, err)
		      : err_set(err, -ENOMEM, "%s: out of memory", path);
	json_decref(root);
	if (rc < 0) {
		ceilings_free(ceilings);
		return rc;
	}
	*out = ceilings;
	return 0;
}

/* ---- writing ---- */

static json_t *row_json(const struct ceiling *row)
{
	const struct ceiling_kind *kind = ceiling_kind(row->id);

	return json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:I, s:f, s:f}", "name", kind->name,
			 "parameter", (json_int_t)row->parameter, "unit", kind->unit, "value",
			 row->value, "low", row->low, "high", row->high, "samples",
			 (json_int_t)row->sample_count, "sm_mhz_low", row->sm_mhz_low,
			 "sm_mhz_high", row->sm_mhz_high);
}

static json_t *skip_json(const struct ceiling_skip *skip)
{
	return json_pack("{s:s, s:I, s:o}", "name", ceiling_kind(skip->id)->name, "parameter",
			 (json_int_t)skip->parameter, "reason", json_builder_text(skip->reason));
}

static json_t *text_json(const char *text)
{
	return json_builder_text(text ? text : "");
}

static json_t *root_json(struct json_builder *json, const struct ceilings *ceilings)
{
	json_t *rows = json_array(), *skips = json_array();

	for (size_t i = 0; i < ceilings->count; i++)
		json_builder_append(json, rows, row_json(&ceilings->rows[i]));
	for (size_t i = 0; i < ceilings->skip_count; i++)
		json_builder_append(json, skips, skip_json(&ceilings->skips[i]));
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "schema",
			 CEILINGS_SCHEMA, "kind", FILE_KIND, "gpu", text_json(ceilings->gpu),
			 "driver", text_json(ceilings->driver), "cuda", text_json(ceilings->cuda),
			 "date", text_json(ceilings->date), "command", text_json(ceilings->command),
			 "quick", ceilings->is_quick, "ceilings", rows, "skipped", skips);
}

int ceilings_file_print(const struct ceilings *ceilings, FILE *out, struct err *err)
{
	struct json_builder json = {0};
	json_t *root = root_json(&json, ceilings);

	/* Six digits: the spread of the samples is in the third or fourth. */
	return json_builder_write(&json, root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6),
				  "the ceilings", err);
}

int ceilings_file_write(const struct ceilings *ceilings, const char *path, struct err *err)
{
	char folders[PATH_MAX];
	struct new_file file;
	FILE *out;
	int rc;

	if ((size_t)snprintf(folders, sizeof(folders), "%s", path) >= sizeof(folders))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", path);
	rc = path_make_parents(folders, 1);
	if (rc < 0)
		return err_set(err, rc, "%s: cannot make this folder: %s; give -o FILE", folders,
			       strerror(-rc));
	rc = new_file_open(&file, path, err);
	if (rc < 0)
		return rc;
	out = new_file_stream(&file, err);
	return new_file_close(&file, out ? ceilings_file_print(ceilings, out, err) : -ENOMEM, err);
}
