/* summary_read.c - a file into a summary; every number in it is checked before anything is done with it. */
#include "summary/summary.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "summary/summary_text.h"

/* A file, line by line. */
struct reading {
	struct summary *summary;
	char *at; /* in the line */
	size_t line;
	const char *path;
	struct err *err;
	bool is_bad;		     /* of the line: something in it was no such number or text */
	struct summary_rank *rank;   /* that time, idle and member lines are of */
	struct summary_times *times; /* that a line of buckets is of */
	uint32_t part;		     /* parts[] that at lines are of; UINT32_MAX: none yet */
	uint64_t before_ns, before_alone_ns;
	bool has_ended;
};

/* ---- parts of a line ---- */

static uint64_t take_count(struct reading *reading)
{
	char *end = reading->at;
	uint64_t value = 0;

	if (*end++ != ' ' || !isdigit((unsigned char)*end))
		reading->is_bad = true;
	for (; isdigit((unsigned char)*end); end++)
		if (__builtin_mul_overflow(value, 10U, &value) ||
		    __builtin_add_overflow(value, (unsigned)(*end - '0'), &value))
			reading->is_bad = true;
	if (!reading->is_bad)
		reading->at = end;
	return reading->is_bad ? 0 : value;
}

static int64_t take_integer(struct reading *reading)
{
	bool is_negative = reading->at[0] == ' ' && reading->at[1] == '-';
	uint64_t value;

	if (is_negative)
		*++reading->at = ' ';
	value = take_count(reading);
	if (value > (uint64_t)INT64_MAX + is_negative)
		reading->is_bad = true;
	return (int64_t)(is_negative ? 0 - value : value);
}

static int64_t take_ns(struct reading *reading)
{
	int64_t value = take_integer(reading);

	if (value < 0)
		reading->is_bad = true;
	return value;
}

/* An index of something of which the file has told so many. */
static uint32_t take_index(struct reading *reading, size_t count)
{
	uint64_t value = take_count(reading);

	if (value >= count)
		reading->is_bad = true;
	return reading->is_bad ? 0 : (uint32_t)value;
}

/* Up to the next space or the end of the line, which it ends. */
static const char *take_word(struct reading *reading)
{
	char *word = reading->at, *end;

	if (*word != ' ') {
		reading->is_bad = true;
		return "";
	}
	word++;
	end = word + strcspn(word, " ");
	reading->at = end;
	return word;
}

static bool is_word(const char *word, const char *wanted)
{
	size_t length = strlen(wanted);

	return strncmp(word, wanted, length) == 0 && (!word[length] || word[length] == ' ');
}

static int hexadecimal(const char *text)
{
	int value = 0;

	for (int i = 0; i < 2; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return -1;
		value = 16 * value + (isdigit((unsigned char)text[i])
					      ? text[i] - '0'
					      : tolower((unsigned char)text[i]) - 'a' + 10);
	}
	return value ? value : -1;
}

/* What is in quotes, in its place. */
static const char *take_text(struct reading *reading)
{
	char *text = reading->at + 2, *from = text, *to = text;

	if (reading->at[0] != ' ' || reading->at[1] != '"') {
		reading->is_bad = true;
		return "";
	}
	for (; *from && *from != '"'; from++) {
		int byte = (unsigned char)*from;

		if (byte == '\\') {
			byte = from[1] == 'x' ? hexadecimal(from + 2) : -1;
			reading->is_bad |= byte < 0;
			if (reading->is_bad)
				return "";
			from += 3;
		}
		*to++ = (char)byte;
	}
	reading->is_bad |= *from != '"';
	reading->at = from + (*from == '"');
	*to = '\0';
	return reading->is_bad ? "" : text;
}

/* ---- lines ---- */

/* What a line returns: 0, -ENOMEM, or -EINVAL for one that is damaged. */

static int take_host(struct reading *reading)
{
	const char *name = take_text(reading);
	uint32_t index = 0;
	size_t count = reading->summary->host_count;
	int rc = reading->is_bad ? -EINVAL : summary_host(reading->summary, name, &index);

	return rc == 0 && index < count ? -EINVAL : rc;
}

static int take_group(struct reading *reading)
{
	struct summary *summary = reading->summary;
	uint64_t length = take_count(reading), level = take_count(reading);
	const char *key = take_text(reading);
	uint64_t alone_length = *reading->at ? take_count(reading) : 0;
	size_t count = summary->group_count;
	uint32_t index = 0;
	int rc;

	if (reading->is_bad || alone_length > length || level >= SUMMARY_LEVELS ||
	    length > SUMMARY_MOST_COLLECTIVES)
		return -EINVAL;
	rc = summary_group(summary, key, &index);
	if (rc < 0 || index < count)
		return rc < 0 ? rc : -EINVAL;
	summary->groups[index].length = length;
	summary->groups[index].alone_length = alone_length;
	summary->groups[index].level = (uint32_t)level;
	return 0;
}

static int take_rank(struct reading *reading)
{
	struct summary *summary = reading->summary;
	struct summary_rank rank = {.rank = take_integer(reading)};
	uint32_t index = 0;
	int rc;

	rank.host = take_index(reading, summary->host_count);
	rank.pid = take_count(reading);
	rank.start_ns = take_integer(reading);
	rank.first_ns = take_integer(reading);
	rank.last_ns = take_integer(reading);
	rank.operation_count = take_count(reading);
	rank.copied_bytes = take_count(reading);
	rank.lost_count = take_count(reading);
	rank.is_cut_off = take_index(reading, 2);
	rank.has_causes = take_index(reading, 2);
	rank.device = (char *)take_text(reading);
	rank.model = (char *)take_text(reading);
	if (reading->is_bad || rank.rank < -1 || rank.last_ns < rank.first_ns)
		return -EINVAL;
	rc = summary_rank(summary, &rank, &index);
	reading->rank = rc == 0 ? &summary->ranks[index] : NULL;
	return rc == -EEXIST ? -EINVAL : rc;
}

static int take_damage(struct reading *reading)
{
	const char *place = take_text(reading);

	if (reading->is_bad || !reading->rank)
		return -EINVAL;
	return sentences_add(&reading->rank->damage, "%s", place);
}

/* A time that we do not know, of a newer writer, is passed over. */
static int take_time(struct reading *reading)
{
	const char *name = take_word(reading);
	int64_t time_ns = take_ns(reading);

	if (reading->is_bad || !reading->rank)
		return -EINVAL;
#define TAKE_TIME(member, meaning)  \
	if (is_word(name, #member)) \
		reading->rank->times.member = time_ns;
#define NOT_THAT(member, meaning)
	JOB_TIMES(TAKE_TIME, NOT_THAT)
#undef NOT_THAT
#undef TAKE_TIME
	return 0;
}

/* One that we do not know is unknown. */
static enum gap_cause take_cause(struct reading *reading)
{
	const char *name = take_word(reading);

	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		if (is_word(name, gap_cause_key(i)))
			return i;
	return GAP_UNKNOWN;
}

static int take_idle(struct reading *reading)
{
	enum gap_cause cause = take_cause(reading);
	int64_t time_ns = take_ns(reading);

	if (reading->is_bad || !reading->rank)
		return -EINVAL;
	reading->rank->times.by_cause_ns[cause] = time_ns;
	return 0;
}

static int take_member(struct reading *reading)
{
	struct summary *summary = reading->summary;
	struct summary_level levels[SUMMARY_LEVELS];
	struct summary_member member = {.group = take_index(reading, summary->group_count),
					.count = take_count(reading),
					.levels = levels};

	if (reading->is_bad || !reading->rank ||
	    member.count > summary->groups[member.group].length)
		return -EINVAL;
	while (*reading->at && member.level_count < SUMMARY_LEVELS) {
		struct summary_level *level = &levels[member.level_count++];

		level->count = take_count(reading);
		level->start_sum_ns = take_count(reading);
		if (reading->is_bad)
			return -EINVAL;
	}
	return summary_join(summary, reading->rank, &member);
}

static int take_times(struct reading *reading, struct summary_times *times)
{
	times->count = take_count(reading);
	times->total_ns = take_ns(reading);
	times->min_ns = take_ns(reading);
	times->max_ns = take_ns(reading);
	reading->times = times;
	return reading->is_bad || !times->count || times->min_ns > times->max_ns ? -EINVAL : 0;
}

static int take_kernel(struct reading *reading)
{
	struct summary *summary = reading->summary;
	struct summary_times times;
	uint32_t index = 0;
	size_t count = summary->kernel_count;
	int rc = take_times(reading, &times);
	const char *name = take_text(reading);

	times.sketch = (struct sketch){0};
	if (rc < 0 || reading->is_bad)
		return -EINVAL;
	rc = summary_kernel(summary, name, &index);
	if (rc < 0 || index < count)
		return rc < 0 ? rc : -EINVAL;
	summary->kernels[index].times = times;
	reading->times = &summary->kernels[index].times;
	return 0;
}

static int take_others(struct reading *reading)
{
	struct summary_times *times = &reading->summary->other_kernels;

	return times->count ? -EINVAL : take_times(reading, times);
}

/* Causes that we do not know are added up. */
static int take_gap(struct reading *reading)
{
	struct summary_times *times = &reading->summary->gaps[take_cause(reading)];
	struct summary_times line = {0};
	int rc = take_times(reading, &line);

	reading->times = times;
	return rc < 0 ? rc : summary_times_merge(times, &line);
}

static int take_buckets(struct reading *reading)
{
	uint64_t bucket = 0;
	int rc = reading->times ? 0 : -EINVAL;

	while (*reading->at && rc == 0) {
		uint64_t step = take_count(reading), count = take_count(reading);

		if (reading->is_bad || step >= SKETCH_BUCKETS - bucket || !count)
			return -EINVAL;
		bucket += step;
		rc = sketch_add_bucket(&reading->times->sketch, (uint32_t)bucket, count);
	}
	reading->times = NULL;
	return rc;
}

static int take_part(struct reading *reading)
{
	struct summary *summary = reading->summary;
	uint32_t group = take_index(reading, summary->group_count);
	uint32_t host = take_index(reading, summary->host_count);
	size_t count = summary->part_count;
	int rc = reading->is_bad ? -EINVAL : summary_part(summary, group, host, &reading->part);

	if (rc < 0 || reading->part < count)
		return rc < 0 ? rc : -EINVAL;
	summary->parts[reading->part].level = summary->groups[group].level;
	reading->before_ns = reading->before_alone_ns = 0;
	return 0;
}

/* Whether a number is of the group, kept, and behind the one before; the first may be 0. */
static bool is_next(const struct summary *summary, const struct summary_part *part, uint64_t step,
		    uint64_t number)
{
	const struct summary_group *group = &summary->groups[part->group];

	return number >= step && number < group->length && (step || !part->count) &&
	       summary_is_kept(number, group->level);
}

static int take_at(struct reading *reading)
{
	struct summary *summary = reading->summary;
	struct summary_part *part =
		reading->part < summary->part_count ? &summary->parts[reading->part] : NULL;
	uint64_t step = take_count(reading), count = take_count(reading);
	uint64_t first_ns = (uint64_t)take_integer(reading) + reading->before_ns, number;
	int64_t end_ns = (int64_t)((uint64_t)take_integer(reading) + first_ns);
	uint32_t rank = take_index(reading, summary->rank_count);
	struct summary_arrivals *item;

	if (reading->is_bad || !part || !count)
		return -EINVAL;
	number = step + (part->count ? part->items[part->count - 1].number : 0);
	if (!is_next(summary, part, step, number))
		return -EINVAL;
	item = summary_arrive(part);
	if (!item)
		return -ENOMEM;
	*item = (struct summary_arrivals){.number = number,
					  .count = count,
					  .sum_ns = first_ns,
					  .first_ns = (int64_t)first_ns,
					  .last_ns = (int64_t)first_ns,
					  .before_last_ns = INT64_MIN,
					  .end_ns = end_ns,
					  .last_rank = rank};
	reading->before_ns = first_ns;
	if (count > 1) {
		item->last_ns = (int64_t)(first_ns + take_count(reading));
		item->before_last_ns = (int64_t)(first_ns + take_count(reading));
		item->sum_ns = count * first_ns + take_count(reading);
	}
	return reading->is_bad || item->last_ns < item->first_ns ||
			       item->before_last_ns > item->last_ns
		       ? -EINVAL
		       : 0;
}

/* By number, and those of one number by rank. */
static bool is_behind(const struct summary_part *part, const struct summary_alone *alone)
{
	const struct summary_alone *before =
		part->alone_count ? &part->alone[part->alone_count - 1] : NULL;

	return !before || alone->number > before->number ||
	       (alone->number == before->number && alone->rank > before->rank);
}

static int take_alone(struct reading *reading)
{
	struct summary *summary = reading->summary;
	struct summary_part *part =
		reading->part < summary->part_count ? &summary->parts[reading->part] : NULL;
	uint64_t step = take_count(reading);
	uint64_t start_ns = (uint64_t)take_integer(reading) + reading->before_alone_ns;
	int64_t stay_ns = take_ns(reading);
	struct summary_alone alone = {.start_ns = (int64_t)start_ns,
				      .end_ns = (int64_t)(start_ns + (uint64_t)stay_ns),
				      .rank = take_index(reading, summary->rank_count)};
	const struct summary_group *group = part ? &summary->groups[part->group] : NULL;

	if (reading->is_bad || !part)
		return -EINVAL;
	alone.number = step + (part->alone_count ? part->alone[part->alone_count - 1].number : 0);
	if (alone.number < step || alone.number >= group->length ||
	    !summary_is_kept(alone.number, group->level) || !is_behind(part, &alone))
		return -EINVAL;
	reading->before_alone_ns = start_ns;
	return summary_arrive_alone(part, &alone);
}

static int take_end(struct reading *reading)
{
	reading->has_ended = true;
	return 0;
}

/* ---- all lines ---- */

static const struct {
	const char *word;
	int (*take)(struct reading *reading);
} lines[] = {{"at", take_at},	      {"alone", take_alone},   {"buckets", take_buckets},
	     {"kernel", take_kernel}, {"others", take_others}, {"gap", take_gap},
	     {"time", take_time},     {"idle", take_idle},     {"member", take_member},
	     {"rank", take_rank},     {"damage", take_damage}, {"group", take_group},
	     {"host", take_host},     {"part", take_part},     {"end", take_end}};

/* What stands behind the parts that we know is of a newer writer, as are lines that we do not know. */
static int take_line(struct reading *reading, char *line)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (!is_word(line, lines[i].word))
			continue;
		reading->at = line + strlen(lines[i].word);
		reading->is_bad = false;
		return lines[i].take(reading);
	}
	return 0;
}

static int fail(struct reading *reading, int rc)
{
	if (rc == -ENOMEM)
		return err_set(reading->err, rc, "%s: out of memory", reading->path);
	return err_set(reading->err, rc,
		       "%s:%zu: damaged: the line cannot be as it is; summarize again",
		       reading->path, reading->line);
}

static int take_lines(struct reading *reading, char *text)
{
	char *next;

	for (; *text && !reading->has_ended; text = next) {
		size_t length = strcspn(text, "\n");
		int rc;

		next = text + length + (text[length] == '\n');
		text[length] = '\0';
		reading->line++;
		rc = take_line(reading, text);
		if (rc < 0)
			return fail(reading, rc);
	}
	if (!reading->has_ended)
		return err_set(reading->err, -EINVAL,
			       "%s: damaged: its end is missing; summarize again", reading->path);
	return 0;
}

static int check_format(const char *text, const char *path, struct err *err)
{
	unsigned long format = strtoul(text + strlen(SUMMARY_MAGIC), NULL, 10);

	if (format == SUMMARY_FORMAT)
		return 0;
	return err_set(
		err, -EINVAL,
		"%s: a summary of format %lu, and this rooflinectl knows %d: use the newer one",
		path, format, SUMMARY_FORMAT);
}

static int read_text(struct summary *summary, char *text, const char *path, struct err *err)
{
	struct reading reading = {
		.summary = summary, .path = path, .err = err, .part = UINT32_MAX, .line = 0};
	int rc = check_format(text, path, err);

	return rc < 0 ? rc : take_lines(&reading, text);
}

int summary_read(struct summary *summary, const char *path, struct err *err)
{
	struct summary one = {0};
	char *text = NULL;
	int rc = summary_text_read(&text, path, err);

	if (rc == 0)
		rc = read_text(&one, text, path, err);
	if (rc == 0)
		rc = summary_merge(summary, &one, path, err);
	free(text);
	summary_free(&one);
	return rc;
}
