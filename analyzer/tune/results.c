/* results.c - lines of JSON, written and read. */
#define _GNU_SOURCE
#include "tune/results.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json_reader.h"
#include "base/memory_file.h"
#include "base/paths.h"

#define FILE_LIMIT_BYTES ((off_t)256 << 20) /* half a million measurements */

/* FACT(json key, member of struct tune_launch) */
#define LAUNCH_FACTS(FACT)                                 \
	FACT("threads", threads)                           \
	FACT("blocks", blocks)                             \
	FACT("registers", registers)                       \
	FACT("static_shared_bytes", static_shared_bytes)   \
	FACT("dynamic_shared_bytes", dynamic_shared_bytes) \
	FACT("occupancy", occupancy)                       \
	FACT("waves", waves)

/* LIMIT(json key, member of struct profile_device) */
#define GPU_LIMITS(LIMIT)                                   \
	LIMIT("compute_major", compute_major)               \
	LIMIT("sm_count", sm_count)                         \
	LIMIT("max_warps_per_sm", max_warps_per_sm)         \
	LIMIT("max_blocks_per_sm", max_blocks_per_sm)       \
	LIMIT("max_registers_per_sm", max_registers_per_sm) \
	LIMIT("max_shared_bytes_per_sm", max_shared_bytes_per_sm)

/* ---- writing ---- */

json_t *tune_results_parameters(struct json_builder *json, const struct tune_space *space,
				size_t point)
{
	json_t *parameters = json_object();

	for (size_t i = 0; i < space->parameter_count; i++)
		json_builder_put(json, parameters, space->parameters[i].name,
				 json_builder_text(tune_space_value(space, point, i)));
	return parameters;
}

static json_t *launch_of(struct json_builder *json, const struct tune_launch *launch)
{
	json_t *object = json_object();

#define PUT_FACT(key, member) json_builder_put(json, object, key, json_real(launch->member));
	LAUNCH_FACTS(PUT_FACT)
#undef PUT_FACT
	return object;
}

static json_t *gpu_of(struct json_builder *json, const struct profile_device *device)
{
	json_t *object = json_object();

#define PUT_LIMIT(key, member) json_builder_put(json, object, key, json_integer(device->member));
	GPU_LIMITS(PUT_LIMIT)
#undef PUT_LIMIT
	return object;
}

static json_t *line_of(struct json_builder *json, const struct tune_result *result,
		       const struct tune_space *space)
{
	const struct tune_trial *outcome = &result->outcome;
	char fingerprint[32];
	json_t *line;

	snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, result->fingerprint);
	line = json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:b, s:o, s:s, s:b, s:s, s:f}",
			 "fingerprint", fingerprint, "session", (int)result->session, "search",
			 result->search, "seed", (int)result->seed, "trial", (int)result->trial,
			 "round", (int)result->round, "stored", (int)result->is_stored,
			 "parameters", tune_results_parameters(json, space, outcome->point),
			 "objective", result->objective, "maximize", (int)result->is_maximized,
			 "status", tune_status_name(outcome->status), "seconds", result->seconds);
	if (outcome->status == TUNE_OK)
		json_builder_put(json, line, "value", json_real(outcome->value));
	if (result->least_value > 0)
		json_builder_put(json, line, "least", json_real(result->least_value));
	if (outcome->launch.threads > 0)
		json_builder_put(json, line, "launch", launch_of(json, &outcome->launch));
	if (result->device.max_warps_per_sm)
		json_builder_put(json, line, "gpu", gpu_of(json, &result->device));
	return line;
}

int tune_results_write(FILE *file, const struct tune_result *result, const struct tune_space *space)
{
	struct json_builder json = {0};
	json_t *line = line_of(&json, result, space);
	char *text =
		json.has_failed ? NULL : json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(12));
	int rc = text ? 0 : -ENOMEM;

	if (rc == 0 && (fprintf(file, "%s\n", text) < 0 || fflush(file)))
		rc = -errno;
	free(text);
	json_decref(line);
	return rc;
}

/* ---- reading ---- */

static const char *text_of(const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	return text ? text : "";
}

static uint32_t count_of(const json_t *line, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(line, key));

	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* "block=64 tile=8", as tune_space_describe has it. */
static char *describe(json_t *parameters)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);
	const char *name, *separator = "";
	json_t *value;

	if (!out)
		return NULL;
	json_object_foreach(parameters, name, value)
	{
		fprintf(out, "%s%s=%s", separator, name,
			json_is_string(value) ? json_string_value(value) : "");
		separator = " ";
	}
	return memory_file_close(&file);
}

static enum tune_status status_of(const char *name)
{
	for (int i = 0; i < TUNE_STATUS_COUNT; i++)
		if (!strcmp(name, tune_status_name((enum tune_status)i)))
			return (enum tune_status)i;
	return TUNE_STATUS_COUNT;
}

static void read_launch(struct tune_launch *launch, const json_t *object)
{
#define GET_FACT(key, member) launch->member = json_number_value(json_object_get(object, key));
	LAUNCH_FACTS(GET_FACT)
#undef GET_FACT
}

static void read_gpu(struct profile_device *device, const json_t *object)
{
#define GET_LIMIT(key, member) device->member = count_of(object, key);
	GPU_LIMITS(GET_LIMIT)
#undef GET_LIMIT
}

static bool is_result(const json_t *line)
{
	const json_t *value = json_object_get(line, "value");
	enum tune_status status = status_of(text_of(line, "status"));

	return json_is_object(json_object_get(line, "parameters")) && status != TUNE_STATUS_COUNT &&
	       (status != TUNE_OK || json_is_number(value));
}

static int add_line(struct tune_results *results, json_t *line)
{
	struct tune_result *result = ARRAY_NEXT(results->items, results->capacity, results->count);

	if (!result)
		return -ENOMEM;
	*result = (struct tune_result){
		.point = describe(json_object_get(line, "parameters")),
		.objective = strdup(text_of(line, "objective")),
		.fingerprint = strtoull(text_of(line, "fingerprint"), NULL, 16),
		.session = count_of(line, "session"),
		.seed = count_of(line, "seed"),
		.trial = count_of(line, "trial"),
		.round = count_of(line, "round"),
		.is_maximized = json_is_true(json_object_get(line, "maximize")),
		.is_stored = json_is_true(json_object_get(line, "stored")),
		.least_value = json_number_value(json_object_get(line, "least")),
		.seconds = json_number_value(json_object_get(line, "seconds")),
		.outcome = {.status = status_of(text_of(line, "status")),
			    .value = json_number_value(json_object_get(line, "value"))},
	};
	snprintf(result->search, sizeof(result->search), "%s", text_of(line, "search"));
	read_launch(&result->outcome.launch, json_object_get(line, "launch"));
	read_gpu(&result->device, json_object_get(line, "gpu"));
	results->count++;
	return result->point && result->objective ? 0 : -ENOMEM;
}

static int read_lines(struct tune_results *results, FILE *file)
{
	char *text = NULL;
	size_t room = 0;
	int rc = 0;

	while (rc == 0 && getline(&text, &room, file) > 0) {
		json_error_t problem;
		json_t *line;

		rc = json_reader_text(&line, text, 0, &problem);
		if (rc == -ENOMEM)
			break;
		rc = 0;
		if (is_result(line))
			rc = add_line(results, line);
		else
			results->unreadable_count++;
		json_decref(line);
	}
	free(text);
	return rc == 0 && !feof(file) ? -ENOMEM : rc;
}

int tune_results_read(struct tune_results *results, const char *folder, struct err *err)
{
	char path[PATH_MAX];
	struct stat status;
	FILE *file;
	int fd, rc;

	*results = (struct tune_results){0};
	snprintf(path, sizeof(path), "%s/" TUNE_RESULTS_FILE, folder);
	rc = path_open_file(&fd, path);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return err_set(err, rc, "%s: cannot read: %s", path, path_problem(rc));
	if (fstat(fd, &status) == 0 && status.st_size > FILE_LIMIT_BYTES) {
		close(fd);
		return err_set(err, -EFBIG,
			       "%s: larger than %d MiB; take lines out, or give -o another folder",
			       path, (int)(FILE_LIMIT_BYTES >> 20));
	}
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	}
	rc = read_lines(results, file);
	if (ferror(file))
		rc = err_set(err, -EIO, "%s: cannot read", path);
	fclose(file);
	return rc < 0 ? err_set(err, rc, "%s: out of memory", path) : 0;
}

bool tune_results_are_there(const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" TUNE_RESULTS_FILE, folder);
	return access(path, F_OK) == 0;
}

void tune_results_free(struct tune_results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		free(results->items[i].point);
		free(results->items[i].objective);
	}
	free(results->items);
	*results = (struct tune_results){0};
}
