/* summary_write.c - the file of a summary: what is equal has equal bytes, so everything is sorted by what it is called. */
#define _GNU_SOURCE /* qsort_r */
#include "summary/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/memory_file.h"
#include "base/new_file.h"
#include "summary/summary_text.h"

#define LEVEL 6 /* of zstd */

/* Indices in the order of the file, and their places there. */
struct order {
	uint32_t *at, *place;
	size_t count;
};

struct orders {
	struct order hosts, ranks, kernels, groups, parts;
};

struct writer {
	const struct summary *summary;
	struct orders orders;
	FILE *out;
};

/* ---- order ---- */

typedef int (*compare_function)(const void *a, const void *b, void *writer);

static int compare_hosts(const void *a, const void *b, void *writer)
{
	char **hosts = ((struct writer *)writer)->summary->hosts;

	return strcmp(hosts[*(const uint32_t *)a], hosts[*(const uint32_t *)b]);
}

static int compare_ranks(const void *a, const void *b, void *writer)
{
	return summary_compare_ranks(((struct writer *)writer)->summary, *(const uint32_t *)a,
				     *(const uint32_t *)b);
}

static int compare_kernels(const void *a, const void *b, void *writer)
{
	const struct summary_kernel *kernels = ((struct writer *)writer)->summary->kernels;

	return strcmp(kernels[*(const uint32_t *)a].name, kernels[*(const uint32_t *)b].name);
}

static int compare_groups(const void *a, const void *b, void *writer)
{
	const struct summary_group *groups = ((struct writer *)writer)->summary->groups;

	return strcmp(groups[*(const uint32_t *)a].key, groups[*(const uint32_t *)b].key);
}

static int compare_parts(const void *a, const void *b, void *context)
{
	const struct writer *writer = context;
	const struct summary_part *left = &writer->summary->parts[*(const uint32_t *)a];
	const struct summary_part *right = &writer->summary->parts[*(const uint32_t *)b];
	const uint32_t *groups = writer->orders.groups.place, *hosts = writer->orders.hosts.place;

	if (left->group != right->group)
		return groups[left->group] < groups[right->group] ? -1 : 1;
	return (hosts[left->host] > hosts[right->host]) - (hosts[left->host] < hosts[right->host]);
}

static int sort(struct writer *writer, struct order *order, size_t count, compare_function compare)
{
	order->at = calloc(count + 1, sizeof(*order->at));
	order->place = calloc(count + 1, sizeof(*order->place));
	order->count = count;
	if (!order->at || !order->place)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order->at[i] = i;
	qsort_r(order->at, count, sizeof(*order->at), compare, writer);
	for (uint32_t i = 0; i < count; i++)
		order->place[order->at[i]] = i;
	return 0;
}

static int sort_all(struct writer *writer)
{
	const struct summary *summary = writer->summary;
	struct orders *orders = &writer->orders;
	int rc = sort(writer, &orders->hosts, summary->host_count, compare_hosts);

	if (rc == 0)
		rc = sort(writer, &orders->ranks, summary->rank_count, compare_ranks);
	if (rc == 0)
		rc = sort(writer, &orders->kernels, summary->kernel_count, compare_kernels);
	if (rc == 0)
		rc = sort(writer, &orders->groups, summary->group_count, compare_groups);
	if (rc == 0)
		rc = sort(writer, &orders->parts, summary->part_count, compare_parts);
	return rc;
}

static void free_order(struct order *order)
{
	free(order->at);
	free(order->place);
}

static void free_orders(struct orders *orders)
{
	free_order(&orders->hosts);
	free_order(&orders->ranks);
	free_order(&orders->kernels);
	free_order(&orders->groups);
	free_order(&orders->parts);
}

/* ---- lines ---- */

/* In quotes; a byte that would end the line or the text as \xHH. */
static void put_text(FILE *out, const char *text)
{
	fputs(" \"", out);
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\' || *text == 127)
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put_times(FILE *out, const struct summary_times *times)
{
	fprintf(out, " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64, times->count, times->total_ns,
		times->min_ns, times->max_ns);
}

/* The buckets of what the line before counts: distance from the one before, and count. */
static void put_buckets(FILE *out, const struct sketch *sketch)
{
	uint32_t before = 0;

	fputs("buckets", out);
	for (uint32_t i = 0; i < sketch->length; i++) {
		uint32_t bucket = sketch->first + i;

		if (!sketch->counts[i])
			continue;
		fprintf(out, " %u %" PRIu64, bucket - before, sketch->counts[i]);
		before = bucket;
	}
	fputc('\n', out);
}

/* Waits are known of all ranks together alone. */
static void put_job_times(FILE *out, const struct summary_rank *rank)
{
#define PUT_TIME(member, meaning) \
	if (rank->times.member)   \
		fprintf(out, "time " #member " %" PRId64 "\n", rank->times.member);
#define NOT_THAT(member, meaning)
	JOB_TIMES(PUT_TIME, NOT_THAT)
#undef NOT_THAT
#undef PUT_TIME
	for (int i = 0; i < GAP_CAUSE_COUNT && rank->has_causes; i++)
		if (rank->times.by_cause_ns[i])
			fprintf(out, "idle %s %" PRId64 "\n", gap_cause_key(i),
				rank->times.by_cause_ns[i]);
}

static void put_member(const struct writer *writer, const struct summary_member *member)
{
	fprintf(writer->out, "member %u %" PRIu64, writer->orders.groups.place[member->group],
		member->count);
	for (uint32_t i = 0; i < member->level_count; i++)
		fprintf(writer->out, " %" PRIu64 " %" PRIu64, member->levels[i].count,
			member->levels[i].start_sum_ns);
	fputc('\n', writer->out);
}

static void put_rank(const struct writer *writer, const struct summary_rank *rank)
{
	fprintf(writer->out, "rank %" PRId64 " %u %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64,
		rank->rank, writer->orders.hosts.place[rank->host], rank->pid, rank->start_ns,
		rank->first_ns, rank->last_ns);
	fprintf(writer->out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d", rank->operation_count,
		rank->copied_bytes, rank->lost_count, rank->is_cut_off, rank->has_causes);
	put_text(writer->out, rank->device);
	put_text(writer->out, rank->model);
	fputc('\n', writer->out);
	for (size_t i = 0; i < rank->damage.count; i++) {
		fputs("damage", writer->out);
		put_text(writer->out, rank->damage.items[i]);
		fputc('\n', writer->out);
	}
	put_job_times(writer->out, rank);
	for (size_t i = 0; i < rank->member_count; i++)
		put_member(writer, &rank->members[i]);
}

static void put_all_times(const struct writer *writer)
{
	const struct summary *summary = writer->summary;
	FILE *out = writer->out;

	for (size_t i = 0; i < summary->kernel_count; i++) {
		const struct summary_kernel *kernel =
			&summary->kernels[writer->orders.kernels.at[i]];

		fputs("kernel", out);
		put_times(out, &kernel->times);
		put_text(out, kernel->name);
		fputc('\n', out);
		put_buckets(out, &kernel->times.sketch);
	}
	if (summary->other_kernels.count) {
		fputs("others", out);
		put_times(out, &summary->other_kernels);
		fputc('\n', out);
		put_buckets(out, &summary->other_kernels.sketch);
	}
	for (int i = 0; i < GAP_CAUSE_COUNT; i++) {
		if (!summary->gaps[i].count)
			continue;
		fprintf(out, "gap %s", gap_cause_key(i));
		put_times(out, &summary->gaps[i]);
		fputc('\n', out);
		put_buckets(out, &summary->gaps[i].sketch);
	}
}

/* Times are written as distances: most are short then.  Those of 64 bits wrap around. */
static void put_part(const struct writer *writer, const struct summary_part *part)
{
	uint64_t before_ns = 0, number = 0;

	fprintf(writer->out, "part %u %u\n", writer->orders.groups.place[part->group],
		writer->orders.hosts.place[part->host]);
	for (size_t i = 0; i < part->count; i++) {
		const struct summary_arrivals *at = &part->items[i];
		uint64_t first_ns = (uint64_t)at->first_ns;

		fprintf(writer->out, "at %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %u",
			at->number - number, at->count, (int64_t)(first_ns - before_ns),
			(int64_t)((uint64_t)at->end_ns - first_ns),
			writer->orders.ranks.place[at->last_rank]);
		if (at->count > 1)
			fprintf(writer->out, " %" PRIu64 " %" PRIu64 " %" PRIu64,
				(uint64_t)at->last_ns - first_ns,
				(uint64_t)at->before_last_ns - first_ns,
				at->sum_ns - at->count * first_ns);
		fputc('\n', writer->out);
		before_ns = first_ns;
		number = at->number;
	}
}

static int compare_alone(const void *a, const void *b, void *writer)
{
	const struct summary_alone *left = a, *right = b;
	const uint32_t *ranks = ((struct writer *)writer)->orders.ranks.place;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return (ranks[left->rank] > ranks[right->rank]) - (ranks[left->rank] < ranks[right->rank]);
}

/* Likewise, of one rank each.  Sorts them, which are in any order. */
static void put_alone(struct writer *writer, const struct summary_part *part)
{
	uint64_t before_ns = 0, number = 0;

	if (part->alone_count)
		qsort_r(part->alone, part->alone_count, sizeof(*part->alone), compare_alone,
			writer);
	for (size_t i = 0; i < part->alone_count; i++) {
		const struct summary_alone *alone = &part->alone[i];
		uint64_t start_ns = (uint64_t)alone->start_ns;

		fprintf(writer->out, "alone %" PRIu64 " %" PRId64 " %" PRIu64 " %u\n",
			alone->number - number, (int64_t)(start_ns - before_ns),
			(uint64_t)alone->end_ns - start_ns,
			writer->orders.ranks.place[alone->rank]);
		before_ns = start_ns;
		number = alone->number;
	}
}

static void put_all(struct writer *writer)
{
	const struct summary *summary = writer->summary;
	const struct orders *orders = &writer->orders;

	fprintf(writer->out, SUMMARY_MAGIC "%d\n", SUMMARY_FORMAT);
	for (size_t i = 0; i < summary->host_count; i++) {
		fputs("host", writer->out);
		put_text(writer->out, summary->hosts[orders->hosts.at[i]]);
		fputc('\n', writer->out);
	}
	for (size_t i = 0; i < summary->group_count; i++) {
		const struct summary_group *group = &summary->groups[orders->groups.at[i]];

		fprintf(writer->out, "group %" PRIu64 " %u", group->length, group->level);
		put_text(writer->out, group->key);
		if (group->alone_length)
			fprintf(writer->out, " %" PRIu64, group->alone_length);
		fputc('\n', writer->out);
	}
	for (size_t i = 0; i < summary->rank_count; i++)
		put_rank(writer, &summary->ranks[orders->ranks.at[i]]);
	put_all_times(writer);
	for (size_t i = 0; i < summary->part_count; i++) {
		put_part(writer, &summary->parts[orders->parts.at[i]]);
		put_alone(writer, &summary->parts[orders->parts.at[i]]);
	}
	fputs("end\n", writer->out);
}

/* ---- the file ---- */

static int compress(const char *text, size_t length, int fd)
{
	size_t size = ZSTD_compressBound(length);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	char *bytes = malloc(size);
	int rc = -ENOMEM;

	if (zstd && bytes) {
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
		size = ZSTD_compress2(zstd, bytes, size, text, length);
		rc = ZSTD_isError(size) ? -ENOMEM : write_all(fd, bytes, size);
	}
	free(bytes);
	ZSTD_freeCCtx(zstd);
	return rc;
}

static int write_text(struct writer *writer, int fd)
{
	struct memory_file file;
	char *text;
	int rc;

	writer->out = memory_file_open(&file);
	if (!writer->out)
		return -ENOMEM;
	put_all(writer);
	text = memory_file_close(&file);
	rc = text ? compress(text, file.length, fd) : -ENOMEM;
	free(text);
	return rc;
}

int summary_write(const struct summary *summary, int fd, const char *path, struct err *err)
{
	struct writer writer = {.summary = summary};
	int rc = sort_all(&writer);

	if (rc == 0)
		rc = write_text(&writer, fd);
	free_orders(&writer.orders);
	return rc < 0 ? err_set(err, rc, "%s: cannot be written: %s", path, strerror(-rc)) : 0;
}
