/* Summaries of ranks: the same bytes in any order of merging, what is left out, clocks, waits, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "summary/overview.h"
#include "summary/summary.h"
#include "summary/summary_text.h"

static uint64_t state;

static uint64_t next_random(uint64_t below)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return (state >> 24) % below;
}

/* ---- ranks ---- */

#define STEP_NS 1000000 /* from one collective to the next */
#define BASE_NS 1760000000000000000

/* Rank number on a host, at count collectives of a group: at each it comes late_ns after its time, and all leave when
 * last_ns after that have gone by.  The host's clock is ahead. */
struct rank {
	int number, host;
	const char *group;
	uint64_t count;
	int64_t late_ns, last_ns, ahead_ns;
	bool is_noisy;
};

static void take_part(struct summary *summary, uint32_t at, const struct rank *rank)
{
	struct summary_level levels[SUMMARY_LEVELS] = {{0}};
	struct summary_member member = {.count = rank->count,
					.levels = levels,
					.level_count = SUMMARY_LEVELS};
	uint32_t group, part;

	assert_int_equal(summary_group(summary, rank->group, &group), 0);
	assert_int_equal(summary_part(summary, group, summary->ranks[at].host, &part), 0);
	summary->groups[group].length = rank->count;
	member.group = group;
	for (uint64_t i = 0; i < rank->count; i++) {
		int64_t noise_ns = rank->is_noisy ? (int64_t)next_random(2000) : 0;
		int64_t time_ns = BASE_NS + (int64_t)i * STEP_NS + rank->ahead_ns;
		int64_t start_ns = time_ns + rank->late_ns + noise_ns;
		struct summary_arrivals *item = summary_arrive(&summary->parts[part]);

		assert_non_null(item);
		*item = (struct summary_arrivals){.number = i,
						  .count = 1,
						  .sum_ns = (uint64_t)start_ns,
						  .first_ns = start_ns,
						  .last_ns = start_ns,
						  .before_last_ns = INT64_MIN,
						  .end_ns = time_ns + rank->last_ns + noise_ns / 8,
						  .last_rank = at};
		summary_count(levels, i, start_ns);
	}
	assert_int_equal(summary_join(summary, &summary->ranks[at], &member), 0);
}

static void make_rank(struct summary *summary, const struct rank *rank)
{
	char host[32], kernel[32];
	struct summary_rank like = {.rank = rank->number,
				    .pid = (uint64_t)rank->number + 100,
				    .device = (char *)"GPU 0",
				    .model = (char *)"H200",
				    .last_ns = 10,
				    .has_causes = true,
				    .times.wall_ns = 10,
				    .times.by_cause_ns[GAP_HOST] = rank->number};
	uint32_t at, index;

	*summary = (struct summary){0};
	snprintf(host, sizeof(host), "host%d", rank->host);
	assert_int_equal(summary_host(summary, host, &like.host), 0);
	assert_int_equal(summary_rank(summary, &like, &at), 0);
	for (int i = 0; i < 3; i++) {
		snprintf(kernel, sizeof(kernel), "kernel<%d>", rank->number % 7 + i);
		assert_int_equal(summary_kernel(summary, kernel, &index), 0);
		assert_int_equal(summary_times_add(&summary->kernels[index].times,
						   1000 + rank->number * 17),
				 0);
	}
	assert_int_equal(summary_times_add(&summary->gaps[rank->number % GAP_CAUSE_COUNT], 5000),
			 0);
	if (rank->count)
		take_part(summary, at, rank);
}

/* ---- files ---- */

struct bytes {
	char *text;
	size_t count;
};

static char *make_name(char *name)
{
	int fd;

	strcpy(name, "/tmp/test_summary.XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
	return name;
}

/* The file of a summary. */
static struct bytes bytes_of(const struct summary *summary)
{
	struct bytes bytes;
	FILE *file = tmpfile();
	struct err err = {""};
	long size;

	assert_non_null(file);
	assert_int_equal(summary_write(summary, fileno(file), "file", &err), 0);
	size = lseek(fileno(file), 0, SEEK_END);
	bytes = (struct bytes){malloc((size_t)size + 1), (size_t)size};
	assert_int_equal(pread(fileno(file), bytes.text, bytes.count, 0), size);
	fclose(file);
	return bytes;
}

static void assert_same(const struct bytes *a, const struct bytes *b)
{
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->text, b->text, a->count);
}

/* The summary as it is in its file. */
static char *text_of(const struct summary *summary)
{
	struct bytes bytes = bytes_of(summary);
	char name[64], *text = NULL;
	FILE *file = fopen(make_name(name), "w");
	struct err err = {""};

	assert_non_null(file);
	fwrite(bytes.text, 1, bytes.count, file);
	fclose(file);
	assert_int_equal(summary_text_read(&text, name, &err), 0);
	unlink(name);
	free(bytes.text);
	return text;
}

static int read_text(struct summary *summary, const char *text, size_t length, struct err *err)
{
	char name[64];
	FILE *file = fopen(make_name(name), "w");
	int rc;

	assert_non_null(file);
	fwrite(text, 1, length, file);
	fclose(file);
	*summary = (struct summary){0};
	rc = summary_read(summary, name, err);
	unlink(name);
	return rc;
}

/* ---- order ---- */

#define RANKS 48

static void shuffle(int *order)
{
	for (int i = 0; i < RANKS; i++)
		order[i] = i;
	for (int i = RANKS - 1; i > 0; i--) {
		int other = (int)next_random((uint64_t)i + 1), moved = order[i];

		order[i] = order[other];
		order[other] = moved;
	}
}

/* Ranks merged in a shuffled order: one after the other, or in a tree of random shape, over files or not. */
static struct bytes merged(void (*make)(struct summary *summary, int number), bool is_tree)
{
	struct summary parts[RANKS];
	struct err err = {""};
	struct bytes bytes;
	int order[RANKS];

	shuffle(order);
	for (int i = 0; i < RANKS; i++)
		make(&parts[i], order[i]);
	for (int left = RANKS; left > 1; left--) {
		int into = is_tree ? (int)next_random((uint64_t)left) : 0;
		int from = (into + 1) % left;

		assert_int_equal(summary_merge(&parts[into], &parts[from], "part", &err), 0);
		summary_free(&parts[from]);
		memmove(&parts[from], &parts[from + 1], (size_t)(left - from - 1) * sizeof(*parts));
	}
	bytes = bytes_of(&parts[0]);
	summary_free(&parts[0]);
	return bytes;
}

static void assert_order_is_no_matter(void (*make)(struct summary *summary, int number))
{
	struct bytes first;

	state = 1;
	first = merged(make, false);
	for (int i = 0; i < 6; i++) {
		struct bytes other;

		state = (uint64_t)i + 2;
		other = merged(make, i % 2);
		assert_same(&first, &other);
		free(other.text);
	}
	free(first.text);
}

static void make_plain(struct summary *summary, int number)
{
	make_rank(summary, &(struct rank){.number = number,
					  .host = number / 4,
					  .group = number % 3 ? "three" : "one",
					  .count = 50,
					  .late_ns = number * 10,
					  .last_ns = 20000});
}

static void test_any_order_and_tree_gives_the_same_bytes(void **unused)
{
	(void)unused;
	assert_order_is_no_matter(make_plain);
}

/* More than SUMMARY_ARRIVALS by what lengths allow, of groups that grow while merging. */
static void make_long(struct summary *summary, int number)
{
	make_plain(summary, number);
	summary->groups[0].length = UINT64_C(1) << (14 + number % 5);
	for (uint64_t i = 0; i < 5; i++)
		summary_arrive(&summary->parts[0])[0] =
			(struct summary_arrivals){.number = 1000 + i * 1024,
						  .count = 1,
						  .before_last_ns = INT64_MIN};
}

static void test_what_does_not_fit_is_the_same_in_any_order(void **unused)
{
	struct summary all = {0};
	struct err err = {""};

	(void)unused;
	assert_order_is_no_matter(make_long);
	for (int i = 0; i < RANKS; i++) {
		struct summary one;

		make_long(&one, i);
		assert_int_equal(summary_merge(&all, &one, "one", &err), 0);
		summary_free(&one);
	}
	assert_true(all.groups[0].level > 0); /* or this tested nothing */
	summary_free(&all);
}

/* Ranks that are at collectives alone, of which each is kept: more than fit. */
static void make_alone(struct summary *summary, int number)
{
	make_plain(summary, number);
	summary->groups[0].length = summary->groups[0].alone_length = UINT64_C(1) << 18;
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(summary_arrive_alone(&summary->parts[0],
						      &(struct summary_alone){1000 + i * 64,
									      BASE_NS + number * 7,
									      BASE_NS + 5000, 0}),
				 0);
}

static void test_arrivals_alone_are_the_same_in_any_order(void **unused)
{
	struct summary all = {0};
	struct err err = {""};

	(void)unused;
	assert_order_is_no_matter(make_alone);
	for (int i = 0; i < RANKS; i++) {
		struct summary one;

		make_alone(&one, i);
		assert_int_equal(summary_merge(&all, &one, "one", &err), 0);
		summary_free(&one);
	}
	assert_true(all.groups[0].level > 0 && all.parts[0].alone_count > 0);
	for (size_t i = 0; i < all.parts[0].alone_count; i++)
		assert_true(summary_is_kept(all.parts[0].alone[i].number, all.groups[0].level));
	summary_free(&all);
}

static void test_equal_arrivals_name_the_lowest_rank_as_the_last(void **unused)
{
	struct summary all = {0};
	struct err err = {""};

	(void)unused;
	for (int i = 0; i < 5; i++) {
		struct summary one;

		make_rank(&one, &(struct rank){.number = (i + 3) % 5, .group = "g", .count = 1});
		assert_int_equal(summary_merge(&all, &one, "one", &err), 0);
		summary_free(&one);
	}
	assert_int_equal(all.ranks[all.parts[0].items[0].last_rank].rank, 0);
	summary_free(&all);
}

static void test_a_rank_is_merged_once(void **unused)
{
	struct summary one, same;
	struct err err = {""};

	(void)unused;
	make_plain(&one, 3);
	make_plain(&same, 3);
	assert_int_equal(summary_merge(&one, &same, "b.summary", &err), -17 /* EEXIST */);
	assert_string_equal(err.text,
			    "b.summary: rank 3 is in another of the files as well; name each once");
	summary_free(&one);
	summary_free(&same);
}

/* ---- what fits ---- */

static void test_more_collectives_than_fit_are_left_out_by_number(void **unused)
{
	struct summary one;
	size_t by_bucket[8] = {0};

	(void)unused;
	make_rank(&one, &(struct rank){.group = "g", .count = 40000});
	summary_thin(&one, SUMMARY_RANK_ARRIVALS);
	assert_int_equal(one.groups[0].level, 2);
	assert_in_range(one.parts[0].count, 9500, 10500);
	for (size_t i = 0; i < one.parts[0].count; i++)
		by_bucket[one.parts[0].items[i].number % 8]++;
	for (int i = 0; i < 8; i++) /* what repeats every 8 is kept evenly */
		assert_in_range(by_bucket[i], 1100, 1400);
	summary_free(&one);
}

/* ---- clocks and waits ---- */

/* Two hosts of two ranks, the second's clock 7 ms ahead; rank 3 comes 300 us late. */
static void make_late(struct summary *all, uint64_t count)
{
	struct err err = {""};

	state = 5;
	*all = (struct summary){0};
	for (int i = 0; i < 4; i++) {
		struct summary one;

		make_rank(&one, &(struct rank){.number = i,
					       .host = i / 2,
					       .group = "g",
					       .count = count,
					       .late_ns = i == 3 ? 300000 : 0,
					       .last_ns = 350000,
					       .ahead_ns = i / 2 * 7000000,
					       .is_noisy = true});
		summary_thin(&one, SUMMARY_RANK_ARRIVALS);
		assert_int_equal(summary_merge(all, &one, "one", &err), 0);
		summary_free(&one);
	}
}

static void assert_near(int64_t got_ns, int64_t wanted_ns, int64_t error_ns)
{
	assert_true(got_ns >= wanted_ns - error_ns && got_ns <= wanted_ns + error_ns);
}

static void test_clocks_of_hosts_are_compared_by_the_ends_of_collectives(void **unused)
{
	struct summary all;
	struct overview overview;

	(void)unused;
	make_late(&all, 200);
	assert_int_equal(overview_build(&overview, &all), 0);
	assert_string_equal(overview.hosts[1].name, "host1");
	assert_string_equal(overview.hosts[1].compared_with, "host0");
	assert_null(overview.hosts[0].compared_with);
	assert_near(overview.hosts[1].clock.offset.ahead_ns, 7000000, 50);
	assert_near(overview.hosts[1].clock.offset.error_ns, 60, 60);
	assert_int_equal(overview.hosts[1].clock.common_count, 200);
	overview_free(&overview);
	summary_free(&all);
}

static void assert_late_rank(const struct overview *overview, int64_t count)
{
	assert_int_equal(overview->ranks[3].waits.last_count, count);
	assert_near(overview->ranks[3].waits.caused_wait_ns, 3 * count * 300000, 3 * count * 1000);
	assert_near(overview->ranks[3].waits.delay_ns, count * 300000, count * 1000);
	assert_near(overview->ranks[3].waits.wait_ns, 0, count * 10);
	assert_true(overview->ranks[0].waits.is_known);
	assert_near(overview->ranks[0].waits.wait_ns, count * 300000, count * 1000);
	assert_string_equal(overview->groups[0].latest, "rank 3");
	assert_near((int64_t)overview->groups[0].skew.p50_ns, 300000, 4000);
}

static void test_the_late_rank_of_another_host_is_found_and_what_it_cost(void **unused)
{
	struct summary all;
	struct overview overview;

	(void)unused;
	make_late(&all, 200);
	assert_int_equal(overview_build(&overview, &all), 0);
	assert_late_rank(&overview, 200);
	overview_free(&overview);
	summary_free(&all);
}

static void test_waits_are_those_of_the_collectives_that_were_kept(void **unused)
{
	struct summary all;
	struct overview overview;

	(void)unused;
	make_late(&all, 20000);
	assert_int_equal(overview_build(&overview, &all), 0);
	assert_int_equal(overview.groups[0].one_of, 2);
	assert_in_range(overview.groups[0].matched_count, 9700, 10300);
	assert_late_rank(&overview, (int64_t)overview.groups[0].matched_count);
	overview_free(&overview);
	summary_free(&all);
}

static void test_hosts_without_a_collective_in_common_are_not_compared(void **unused)
{
	struct summary one, other;
	struct overview overview;
	struct err err = {""};

	(void)unused;
	make_rank(&one, &(struct rank){.number = 0, .host = 0, .group = "a", .count = 5});
	make_rank(&other, &(struct rank){.number = 1, .host = 1, .group = "b", .count = 5});
	assert_int_equal(summary_merge(&one, &other, "other", &err), 0);
	assert_int_equal(overview_build(&overview, &one), 0);
	assert_null(overview.hosts[0].compared_with);
	assert_null(overview.hosts[1].compared_with);
	assert_false(overview.ranks[0].waits.is_known);
	overview_free(&overview);
	summary_free(&one);
	summary_free(&other);
}

/* At a broadcast the root leaves before the last has come; then each is at a barrier of its own. */
static void make_early_leavers(struct summary *all)
{
	static const int64_t starts_ns[][2] = {{0, 200}, {5, 300}, {50, 400}},
			     ends_ns[][2] = {{10, 210}, {100, 310}, {110, 410}};
	struct err err = {""};

	*all = (struct summary){0};
	for (int i = 0; i < 3; i++) {
		struct summary one;

		make_rank(&one, &(struct rank){.number = i, .group = "g"});
		take_part(&one, 0, &(struct rank){.number = i, .group = "g", .count = 2});
		one.groups[0].alone_length = 2;
		one.ranks[0].members[0].level_count = 0; /* none is added up */
		for (uint64_t k = 0; k < 2; k++)
			assert_int_equal(summary_arrive_alone(&one.parts[0],
							      &(struct summary_alone){
								      k, BASE_NS + starts_ns[i][k],
								      BASE_NS + ends_ns[i][k], 0}),
					 0);
		assert_int_equal(summary_merge(all, &one, "one", &err), 0);
		summary_free(&one);
	}
}

static void test_a_rank_waits_for_none_that_comes_after_it_left(void **unused)
{
	static const int64_t waits_ns[] = {5, 45, 0}, caused_ns[] = {0, 5, 45};
	struct summary all;
	struct overview overview;

	(void)unused;
	make_early_leavers(&all);
	assert_int_equal(overview_build(&overview, &all), 0);
	for (int i = 0; i < 3; i++) {
		assert_true(overview.ranks[i].waits.is_known);
		assert_int_equal(overview.ranks[i].waits.wait_ns, waits_ns[i]);
		assert_int_equal(overview.ranks[i].waits.caused_wait_ns, caused_ns[i]);
		assert_int_equal(overview.ranks[i].waits.last_count, i == 2);
	}
	assert_int_equal(overview.ranks[2].waits.delay_ns, 45);
	assert_int_equal(overview.groups[0].matched_count, 2);
	assert_int_equal(overview.groups[0].wait_ns, 50);
	overview_free(&overview);
	summary_free(&all);
}

/* ---- files ---- */

static void test_what_is_written_is_read_as_it_was(void **unused)
{
	struct summary all, again;
	struct bytes before, after;
	struct err err = {""};

	(void)unused;
	make_late(&all, 300);
	before = bytes_of(&all);
	assert_int_equal(read_text(&again, before.text, before.count, &err), 0);
	after = bytes_of(&again);
	assert_same(&before, &after);
	free(before.text);
	free(after.text);
	summary_free(&all);
	summary_free(&again);
}

static void test_arrivals_alone_are_read_as_they_were(void **unused)
{
	struct summary all, again;
	struct bytes before, after;
	struct err err = {""};

	(void)unused;
	make_early_leavers(&all);
	before = bytes_of(&all);
	assert_int_equal(read_text(&again, before.text, before.count, &err), 0);
	assert_int_equal(again.parts[0].alone_count, 6);
	assert_int_equal(again.groups[0].alone_length, 2);
	after = bytes_of(&again);
	assert_same(&before, &after);
	free(before.text);
	free(after.text);
	summary_free(&all);
	summary_free(&again);
}

static void test_hostile_names_come_back(void **unused)
{
	static const char name[] = "a\"b\\x\n\x01\x7f\xffz \\x41";
	struct summary one = {0}, again;
	struct err err = {""};
	uint32_t index;
	char *text;

	(void)unused;
	assert_int_equal(summary_kernel(&one, name, &index), 0);
	assert_int_equal(summary_times_add(&one.kernels[index].times, 5), 0);
	text = text_of(&one);
	assert_int_equal(read_text(&again, text, strlen(text), &err), 0);
	assert_string_equal(again.kernels[0].name, name);
	free(text);
	summary_free(&one);
	summary_free(&again);
}

static void assert_refused(const char *text, size_t length, const char *part)
{
	struct summary summary;
	struct err err = {""};

	assert_true(read_text(&summary, text, length, &err) < 0);
	assert_non_null(strstr(err.text, part));
	summary_free(&summary);
}

#define ONE_RANK                                              \
	"roofline-summary 1\nhost \"h\"\ngroup 5 0 \"g\" 5\n" \
	"rank 0 0 1 0 0 0 0 0 0 0 0 \"d\" \"m\"\npart 0 0\n"
#define REFUSE(text, part) assert_refused(text, strlen(text), part)

static void test_damage_is_told_with_the_line(void **unused)
{
	(void)unused;
	REFUSE("", "the file is empty");
	REFUSE("# Title\n", "no summary");
	REFUSE("roofline-summary 2\nend\n", "format 2");
	REFUSE("roofline-summary 1\n", "its end is missing");
	REFUSE("roofline-summary 1\ngroup 5 40 \"g\"\nend\n", ":2: damaged");
	REFUSE("roofline-summary 1\nhost \"a\"\nhost \"a\"\nend\n", ":3: damaged");
	REFUSE("roofline-summary 1\nat 0 1 5 5 0\nend\n", ":2: damaged");
	REFUSE("roofline-summary 1\nalone 0 5 5 0\nend\n", ":2: damaged");
	REFUSE("roofline-summary 1\ngroup 5 0 \"g\" 6\nend\n", ":2: damaged");
	REFUSE(ONE_RANK "alone 5 1 1 0\nend\n", ":6: damaged"); /* the group has fewer */
	REFUSE(ONE_RANK "alone 1 1 1 1\nend\n", ":6: damaged"); /* there is no such rank */
	REFUSE(ONE_RANK "alone 1 1 -1 0\nend\n", ":6: damaged");
	REFUSE(ONE_RANK "alone 1 1 1 0\nalone 0 1 1 0\nend\n", ":7: damaged"); /* it is there */
	REFUSE("roofline-summary 1\nkernel 1 5 5 5 \"k\"\nbuckets 2400 1\nend\n", ":3: damaged");
	REFUSE("roofline-summary 1\nkernel 1 5 5 5 \"k\nend\n", ":2: damaged");
	REFUSE("roofline-summary 1\nkernel 99999999999999999999 5 5 5 \"k\"\nend\n", ":2: damaged");
	REFUSE("roofline-summary 1\nrank 0 3 1 0 0 0 0 0 0 0 0 \"d\" \"m\"\nend\n", ":2: damaged");
}

static void test_lines_of_a_newer_writer_are_passed_over(void **unused)
{
	static const char text[] = "roofline-summary 1\nhost \"h\" 5\nnovelty 1 2 3\n"
				   "rank 0 0 1 0 0 9 0 0 0 0 1 \"d\" \"m\" 7\ntime novel_ns 5\n"
				   "time wall_ns 9\nidle novel 4\nend\n";
	struct summary summary;
	struct err err = {""};

	(void)unused;
	assert_int_equal(read_text(&summary, text, strlen(text), &err), 0);
	assert_int_equal(summary.ranks[0].times.wall_ns, 9);
	assert_int_equal(summary.ranks[0].times.by_cause_ns[GAP_UNKNOWN], 4);
	summary_free(&summary);
}

/* Any byte may be another, any part missing: it is refused, or read as something that can be told. */
static void test_damaged_files_do_no_harm(void **unused)
{
	struct summary all;
	char *text;
	size_t length;

	(void)unused;
	make_late(&all, 10);
	for (size_t i = 0; i < all.part_count; i++)
		for (uint64_t k = 0; k < 10; k++)
			assert_int_equal(summary_arrive_alone(
						 &all.parts[i],
						 &(struct summary_alone){k, BASE_NS, BASE_NS + 9,
									 (uint32_t)i * 2}),
					 0);
	text = text_of(&all);
	length = strlen(text);
	state = 11;
	for (int i = 0; i < 400; i++) {
		char *damaged = strdup(text);
		struct summary summary;
		struct overview overview;
		struct err err = {""};
		size_t end = i % 8 ? length : next_random(length);

		for (uint64_t k = next_random(4); k < 4; k++)
			damaged[19 + next_random(length - 19)] = "0179 -\"\n\\xz"[next_random(11)];
		if (read_text(&summary, damaged, end, &err) == 0) {
			assert_int_equal(overview_build(&overview, &summary), 0);
			overview_free(&overview);
		} else {
			assert_string_not_equal(err.text, "");
		}
		summary_free(&summary);
		free(damaged);
	}
	free(text);
	summary_free(&all);
}

static void test_damaged_compression_is_told(void **unused)
{
	struct summary all;
	struct bytes bytes;

	(void)unused;
	make_late(&all, 300);
	bytes = bytes_of(&all);
	assert_refused(bytes.text, bytes.count - 5, "cut off");
	assert_refused(bytes.text, 3, "damaged");
	bytes.text[bytes.count / 2] ^= 4;
	assert_refused(bytes.text, bytes.count, "damaged");
	free(bytes.text);
	summary_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order_and_tree_gives_the_same_bytes),
		cmocka_unit_test(test_what_does_not_fit_is_the_same_in_any_order),
		cmocka_unit_test(test_arrivals_alone_are_the_same_in_any_order),
		cmocka_unit_test(test_equal_arrivals_name_the_lowest_rank_as_the_last),
		cmocka_unit_test(test_a_rank_is_merged_once),
		cmocka_unit_test(test_more_collectives_than_fit_are_left_out_by_number),
		cmocka_unit_test(test_clocks_of_hosts_are_compared_by_the_ends_of_collectives),
		cmocka_unit_test(test_the_late_rank_of_another_host_is_found_and_what_it_cost),
		cmocka_unit_test(test_waits_are_those_of_the_collectives_that_were_kept),
		cmocka_unit_test(test_hosts_without_a_collective_in_common_are_not_compared),
		cmocka_unit_test(test_a_rank_waits_for_none_that_comes_after_it_left),
		cmocka_unit_test(test_what_is_written_is_read_as_it_was),
		cmocka_unit_test(test_arrivals_alone_are_read_as_they_were),
		cmocka_unit_test(test_hostile_names_come_back),
		cmocka_unit_test(test_damage_is_told_with_the_line),
		cmocka_unit_test(test_lines_of_a_newer_writer_are_passed_over),
		cmocka_unit_test(test_damaged_files_do_no_harm),
		cmocka_unit_test(test_damaged_compression_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
