#include "analysis/compare/same_work.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/command_line.h"
#include "base/groups.h"
#include "base/sums.h"
#include "base/format.h"

/* Copies are alike within a factor of 2, so that a result in half precision is none of another work.
 * Less than 64 KiB is flags and counters, of which an improved program copies any number. */
#define COPY_FACTOR 2
#define COPY_SLACK_BYTES (64 << 10)

/* Of different programs they must agree within an eighth: work_queue_mild runs the kernels of work_queue
 * on half as much. */
#define STRONG_PART 8

/* Other launch counts by one factor for every kernel: half as many iterations again, give or take 5%
 * for a warm-up that did not grow with them. */
#define LAUNCH_FACTOR 1.5
#define LAUNCH_SPREAD 1.05

#define WORD_SIZE 240 /* of a name from outside, as shown */

enum direction { TO_DEVICE, TO_HOST, DIRECTION_COUNT };

static const char *const direction_names[] = {"host to device", "device to host"};

enum sign { SIGN_UNKNOWN, SIGN_ALIKE, SIGN_OTHER };

struct side {
	const struct profile *profile;
	const struct profile_process *process; /* with the most operations */
	const struct profile_device *device;   /* likewise */
	uint64_t process_count, device_count;  /* that have operations */
	struct command_line command;
	uint64_t copied_bytes[DIRECTION_COUNT];
	uint64_t *launch_counts; /* owned; by kernel_names[] */
};

/* Kernels with names that both have. */
struct common {
	uint64_t count;
	bool has_same_shape;		/* one of them was launched in the same grid and block */
	double least_ratio, most_ratio; /* of launch counts, after by before */
};

struct pair {
	struct side before, after;
	struct common common;
	enum sign copies;
	struct sentences *differences, *notes;
};

/* ---- what a recording did ---- */

static int count_by_process(struct side *side)
{
	const struct profile *profile = side->profile;
	uint64_t *counts = calloc(profile->process_count + 1, sizeof(*counts));
	size_t most = 0;

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		counts[profile_op_process(profile, &profile->ops[i])]++;
	for (size_t i = 0; i < profile->process_count; i++) {
		side->process_count += counts[i] > 0;
		if (counts[i] > counts[most])
			most = i;
	}
	side->process = profile->process_count ? &profile->processes[most] : NULL;
	free(counts);
	return 0;
}

static void find_device(struct side *side)
{
	for (size_t i = 0; i < side->profile->device_count; i++) {
		const struct profile_device *device = &side->profile->devices[i];

		side->device_count += device->op_count > 0;
		if (!side->device || device->op_count > side->device->op_count)
			side->device = device;
	}
}

static void add_copy(struct side *side, const struct profile_copy *copy)
{
	const char *kind = profile_copy_kind_name(copy->kind);

	if (!strcmp(kind, "HtoD") || !strcmp(kind, "HtoA"))
		sum_add_count(&side->copied_bytes[TO_DEVICE], copy->bytes);
	else if (!strcmp(kind, "DtoH") || !strcmp(kind, "AtoH"))
		sum_add_count(&side->copied_bytes[TO_HOST], copy->bytes);
}

static int side_open(struct side *side, const struct profile *profile)
{
	int rc;

	side->profile = profile;
	side->launch_counts = calloc(profile->kernel_name_count + 1, sizeof(uint64_t));
	if (!side->launch_counts)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind == OP_COPY)
			add_copy(side, &profile->copies[op->detail]);
		else if (op->kind == OP_KERNEL)
			side->launch_counts[profile->signatures[op->detail].kernel]++;
	}
	find_device(side);
	rc = count_by_process(side);
	if (rc < 0)
		return rc;
	return command_line_parse(&side->command, side->process ? side->process->command : "");
}

static void side_close(struct side *side)
{
	command_line_free(&side->command);
	free(side->launch_counts);
}

/* ---- kernels that both have ---- */

static void add_common(struct common *common, uint64_t before_count, uint64_t after_count)
{
	double ratio = before_count ? (double)after_count / (double)before_count : 0;

	if (!common->count || ratio < common->least_ratio)
		common->least_ratio = ratio;
	if (!common->count || ratio > common->most_ratio)
		common->most_ratio = ratio;
	common->count++;
}

static int compare_names(struct pair *pair, struct groups *names)
{
	const struct profile *before = pair->before.profile, *after = pair->after.profile;
	uint32_t number;

	for (size_t i = 0; i < before->kernel_name_count; i++)
		if (groups_find(names, before->kernel_names[i], strlen(before->kernel_names[i]),
				&number) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < after->kernel_name_count; i++) {
		number = groups_look(names, after->kernel_names[i], strlen(after->kernel_names[i]));
		if (number !=
		    UINT32_MAX) /* names are unique, so that they are numbered as they lie */
			add_common(&pair->common, pair->before.launch_counts[number],
				   pair->after.launch_counts[i]);
	}
	return 0;
}

struct shape {
	uint32_t kernel, grid[3], block[3]; /* no padding: it is a key */
};

static struct shape shape_of(const struct profile_signature *signature, uint32_t kernel)
{
	struct shape shape = {.kernel = kernel};

	memcpy(shape.grid, signature->grid, sizeof(shape.grid));
	memcpy(shape.block, signature->block, sizeof(shape.block));
	return shape;
}

static int compare_shapes(struct pair *pair, const struct groups *names)
{
	const struct profile *before = pair->before.profile, *after = pair->after.profile;
	struct groups shapes = {0};
	struct shape shape;
	uint32_t number;
	int rc = 0;

	for (size_t i = 0; i < before->signature_count && rc == 0; i++) {
		shape = shape_of(&before->signatures[i], before->signatures[i].kernel);
		rc = groups_find(&shapes, &shape, sizeof(shape), &number);
	}
	for (size_t i = 0; i < after->signature_count && rc == 0; i++) {
		const char *name = after->kernel_names[after->signatures[i].kernel];

		shape = shape_of(&after->signatures[i], groups_look(names, name, strlen(name)));
		if (groups_look(&shapes, &shape, sizeof(shape)) != UINT32_MAX)
			pair->common.has_same_shape = true;
	}
	groups_free(&shapes);
	return rc;
}

static int compare_kernels(struct pair *pair)
{
	struct groups names = {0};
	int rc = compare_names(pair, &names);

	if (rc == 0)
		rc = compare_shapes(pair, &names);
	groups_free(&names);
	return rc;
}

/* ---- copies ---- */

static bool is_within_factor(uint64_t a, uint64_t b)
{
	uint64_t less = a < b ? a : b, more = a < b ? b : a;

	return more - less <= COPY_SLACK_BYTES || more / COPY_FACTOR <= less;
}

static bool is_close(uint64_t a, uint64_t b)
{
	uint64_t less = a < b ? a : b, more = a < b ? b : a;

	return more - less <= more / STRONG_PART;
}

static uint64_t all_copied(const struct side *side)
{
	uint64_t bytes = side->copied_bytes[TO_DEVICE];

	sum_add_count(&bytes, side->copied_bytes[TO_HOST]);
	return bytes;
}

static enum sign judge_copies(const struct side *before, const struct side *after)
{
	for (int i = 0; i < DIRECTION_COUNT; i++)
		if (!is_within_factor(before->copied_bytes[i], after->copied_bytes[i]))
			return SIGN_OTHER;
	return all_copied(before) && all_copied(after) ? SIGN_ALIKE : SIGN_UNKNOWN;
}

/* Enough to recognize the work in another program. */
static bool are_copies_strong(const struct pair *pair)
{
	for (int i = 0; i < DIRECTION_COUNT; i++)
		if (!is_close(pair->before.copied_bytes[i], pair->after.copied_bytes[i]))
			return false;
	return all_copied(&pair->before) > COPY_SLACK_BYTES;
}

static int add_copies(const struct pair *pair, struct sentences *where)
{
	const uint64_t *before = pair->before.copied_bytes, *after = pair->after.copied_bytes;
	int rc = 0;

	for (int i = 0; i < DIRECTION_COUNT && rc == 0; i++)
		if (!is_within_factor(before[i], after[i]))
			rc = sentences_add(where, "copied %s: %s before, %s after",
					   direction_names[i], format_bytes((double)before[i]).text,
					   format_bytes((double)after[i]).text);
	return rc;
}

/* ---- arguments ---- */

struct word {
	char text[WORD_SIZE];
};

static struct word shown(const char *text, size_t length)
{
	struct word whole = {""}, word = {""};

	if (length > sizeof(whole.text) - 1)
		length = sizeof(whole.text) - 1;
	memcpy(whole.text, text, length);
	format_text(word.text, sizeof(word.text), whole.text, WORD_SIZE / 4 - 1);
	return word;
}

static struct word shown_text(const char *text)
{
	return shown(text, strlen(text));
}

static struct word shown_name(const struct command_argument *argument)
{
	return argument->name ? shown(argument->name, argument->name_length)
			      : shown_text("argument");
}

static bool has_number(const struct command_argument *argument)
{
	return argument && argument->value && command_is_number(argument->value);
}

/* By how much every kernel of both was launched more or less often, 0 where that is no one factor. */
static double launch_factor(const struct common *common)
{
	double ratio = common->most_ratio;

	if (!common->count || common->least_ratio <= 0 ||
	    common->most_ratio > LAUNCH_SPREAD * common->least_ratio)
		return 0;
	return fmax(ratio, 1 / ratio) < LAUNCH_FACTOR ? 0 : ratio;
}

/* An option that only one has may be the change itself, --batch 16, or the number of iterations. */
static int judge_single_option(const struct pair *pair, const struct command_argument *argument,
			       const char *when, const char *other)
{
	double factor = launch_factor(&pair->common);

	if (!argument->name)
		return 0;
	if (factor > 0)
		return sentences_add(pair->differences,
				     "%s %s only %s, and every kernel of both was launched %.3g "
				     "times as often after",
				     shown_name(argument).text, shown_text(argument->value).text,
				     when, factor);
	return sentences_add(pair->notes, "%s %s %s, none %s", shown_name(argument).text,
			     shown_text(argument->value).text, when, other);
}

/* Those without a name are compared where both have as many numbers among them. */
static size_t count_plain_numbers(const struct command_line *command)
{
	size_t count = 0;

	for (size_t i = 0; i < command->count; i++)
		count += !command->arguments[i].name && has_number(&command->arguments[i]);
	return count;
}

static int judge_argument(const struct pair *pair, size_t index)
{
	const struct command_line *before = &pair->before.command, *after = &pair->after.command;
	const struct command_argument *argument = &before->arguments[index];
	const struct command_argument *counterpart = command_line_counterpart(before, index, after);

	if (!has_number(argument))
		return 0;
	if (!counterpart)
		return judge_single_option(pair, argument, "before", "after");
	if (!has_number(counterpart) || command_is_same_number(argument->value, counterpart->value))
		return 0;
	if (!argument->name && count_plain_numbers(before) != count_plain_numbers(after))
		return 0;
	return sentences_add(pair->differences, "%s %s before, %s after", shown_name(argument).text,
			     shown_text(argument->value).text, shown_text(counterpart->value).text);
}

static int judge_arguments(const struct pair *pair)
{
	const struct command_line *before = &pair->before.command, *after = &pair->after.command;
	int rc = 0;

	for (size_t i = 0; i < before->count && rc == 0; i++)
		rc = judge_argument(pair, i);
	for (size_t i = 0; i < after->count && rc == 0; i++)
		if (has_number(&after->arguments[i]) && !command_line_counterpart(after, i, before))
			rc = judge_single_option(pair, &after->arguments[i], "after", "before");
	return rc;
}

/* ---- the verdict ---- */

static int judge_devices(const struct pair *pair)
{
	const struct side *before = &pair->before, *after = &pair->after;
	const char *before_name = before->device ? before->device->name : "";
	const char *after_name = after->device ? after->device->name : "";
	int rc = 0;

	if (strcmp(before_name, after_name))
		rc = sentences_add(pair->differences, "%s before, %s after",
				   shown_text(before_name).text, shown_text(after_name).text);
	if (rc == 0 && before->device_count != after->device_count)
		rc = sentences_add(pair->notes, "GPUs: %" PRIu64 " before, %" PRIu64 " after",
				   before->device_count, after->device_count);
	if (rc == 0 && before->process_count != after->process_count)
		rc = sentences_add(pair->notes, "processes: %" PRIu64 " before, %" PRIu64 " after",
				   before->process_count, after->process_count);
	return rc;
}

static bool has_kernels(const struct pair *pair)
{
	return pair->before.profile->kernel_name_count || pair->after.profile->kernel_name_count;
}

/* Of the same program one more sign is enough; copies that differ weigh as much as a kernel that does
 * not, unless it was launched in the same shape, which a problem of another size changes. */
static int judge_same_program(const struct pair *pair)
{
	const struct common *common = &pair->common;

	if (pair->copies == SIGN_OTHER)
		return add_copies(pair, common->has_same_shape ? pair->notes : pair->differences);
	if (!common->count && pair->copies == SIGN_UNKNOWN && has_kernels(pair))
		return sentences_add(
			pair->differences,
			"no kernel name in common, and no copies between host and device to compare");
	return 0;
}

static bool is_same_program(const struct pair *pair)
{
	return !strcmp(pair->before.command.program, pair->after.command.program);
}

/* Without a command in one of the recordings, as in many imports, kernels and copies have to be enough. */
static bool has_unknown_program(const struct pair *pair)
{
	return !*pair->before.command.program || !*pair->after.command.program;
}

static const char *program_of(const struct side *side)
{
	return *side->command.program ? side->command.program : "unknown program";
}

static int judge_unknown_program(const struct pair *pair)
{
	int rc = judge_same_program(pair);

	if (rc == 0 && !is_same_program(pair))
		rc = sentences_add(pair->notes, "%s before, %s after",
				   shown_text(program_of(&pair->before)).text,
				   shown_text(program_of(&pair->after)).text);
	return rc;
}

static int judge_other_program(const struct pair *pair)
{
	bool is_known = pair->common.count && are_copies_strong(pair);
	int rc = sentences_add(is_known ? pair->notes : pair->differences, "%s before, %s after%s",
			       shown_text(pair->before.command.program).text,
			       shown_text(pair->after.command.program).text,
			       is_known ? ""
			       : !pair->common.count
				       ? ", with no kernel name in common"
				       : ", and the copies between host and device differ");

	if (rc == 0 && pair->copies == SIGN_OTHER)
		rc = add_copies(pair, pair->differences);
	return rc;
}

/* A part against a part is what somebody chose. */
static int judge_parts(const struct pair *pair)
{
	bool is_part_before = pair->before.profile->window.is_part;

	if (is_part_before == pair->after.profile->window.is_part)
		return 0;
	return sentences_add(pair->differences,
			     is_part_before ? "a part of a run before, a whole run after"
					    : "a whole run before, a part of one after");
}

static int judge(struct pair *pair)
{
	int rc = compare_kernels(pair);

	pair->copies = judge_copies(&pair->before, &pair->after);
	if (rc == 0)
		rc = judge_devices(pair);
	if (rc == 0)
		rc = judge_parts(pair);
	if (rc == 0)
		rc = has_unknown_program(pair) ? judge_unknown_program(pair)
		     : is_same_program(pair)   ? judge_same_program(pair)
					       : judge_other_program(pair);
	return rc < 0 ? rc : judge_arguments(pair);
}

int same_work_judge(const struct profile *before, const struct profile *after,
		    struct sentences *differences, struct sentences *notes)
{
	struct pair pair = {.differences = differences, .notes = notes};
	int rc = side_open(&pair.before, before);

	if (rc == 0)
		rc = side_open(&pair.after, after);
	if (rc == 0)
		rc = judge(&pair);
	side_close(&pair.before);
	side_close(&pair.after);
	return rc;
}
