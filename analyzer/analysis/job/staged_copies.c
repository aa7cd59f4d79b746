#include "analysis/job/staged_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/gaps.h"

/* ---- halves ---- */

/* A copy to the host at its end, or one from it at its start. */
struct half {
	uint64_t bytes;
	int64_t time_ns;
	uint32_t op, rank;
	uint32_t
		world; /* ranks exchange data within one: a process, or all that a launcher numbered */
	uint32_t party; /* parties[] of its run */
	bool is_in;	/* to a GPU */
};

#define LAUNCHED UINT32_MAX

static int compare_runs(const struct half *a, const struct half *b)
{
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return (a->world > b->world) - (a->world < b->world);
}

static int compare_halves(const void *left, const void *right)
{
	const struct half *a = left, *b = right;
	int order = compare_runs(a, b);

	if (order)
		return order;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->is_in != b->is_in)
		return a->is_in ? 1 : -1;
	return (a->op > b->op) - (a->op < b->op);
}

static bool is_half(const struct communication *all, const struct profile *profile, size_t op)
{
	const struct profile_copy *copy;

	if (all->works[op] != WORK_COPY)
		return false;
	copy = &profile->copies[profile->ops[op].detail];
	return copy->bytes > GAP_DECISION_BYTES &&
	       (copy->kind == COPY_TO_DEVICE || copy->kind == COPY_TO_HOST);
}

static int gather(struct half **out, size_t *count, const struct communication *all,
		  const struct profile *profile, const uint32_t *rank_of_stream)
{
	size_t room = 0;

	for (size_t i = 0; i < profile->op_count; i++)
		room += is_half(all, profile, i);
	*count = 0;
	*out = calloc(room + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		uint32_t process = profile_op_process(profile, op);
		bool is_in;

		if (!is_half(all, profile, i))
			continue;
		is_in = profile->copies[op->detail].kind == COPY_TO_DEVICE;
		(*out)[(*count)++] =
			(struct half){.bytes = profile->copies[op->detail].bytes,
				      .time_ns = is_in ? op->start_ns : op->end_ns,
				      .op = (uint32_t)i,
				      .rank = rank_of_stream[op->stream],
				      .world = profile->processes[process].rank >= 0 ? LAUNCHED
										     : process,
				      .is_in = is_in};
	}
	qsort(*out, *count, sizeof(**out), compare_halves);
	return 0;
}

/* ---- who could be whose partner ---- */

/* A rank in a run: what has the same bytes in the same world. */
struct party {
	uint32_t rank;
	int64_t first_out_ns, last_in_ns;
	size_t out_count, in_count;
	uint64_t senders, receivers; /* that are possible, a bit each */
	uint32_t sender;	     /* parties[]; NOBODY */
};

#define NOBODY UINT32_MAX
#define BIT(index) (UINT64_C(1) << (index))

struct pairing {
	struct communication *all;
	struct half *run;
	size_t run_count;
	struct party parties[STAGED_RANKS_MOST];
	uint32_t party_count;
	/* A bit for each party: what it sends, and what it receives. */
	uint64_t only_out, only_in;	  /* one other can be its partner */
	uint64_t unknown_out, unknown_in; /* several can */
	uint32_t *waiting;		  /* room for all halves: run[] */
};

/* Returns the number of a rank, NOBODY where there are too many. */
static uint32_t find_party(struct pairing *it, uint32_t rank)
{
	for (uint32_t i = 0; i < it->party_count; i++)
		if (it->parties[i].rank == rank)
			return i;
	if (it->party_count == STAGED_RANKS_MOST)
		return NOBODY;
	it->parties[it->party_count] = (struct party){.rank = rank, .sender = NOBODY};
	return it->party_count++;
}

static bool list_parties(struct pairing *it)
{
	it->party_count = 0;
	for (size_t i = 0; i < it->run_count; i++) {
		struct half *half = &it->run[i];
		struct party *party;

		half->party = find_party(it, half->rank);
		if (half->party == NOBODY)
			return false;
		party = &it->parties[half->party];
		if (half->is_in)
			party->last_in_ns = half->time_ns;
		else if (!party->out_count)
			party->first_out_ns = half->time_ns;
		party->in_count += half->is_in;
		party->out_count += !half->is_in;
	}
	return true;
}

/* By what both copied at all, and when. */
static void find_possible(struct pairing *it)
{
	for (uint32_t to = 0; to < it->party_count; to++)
		for (uint32_t from = 0; from < it->party_count; from++) {
			struct party *receiver = &it->parties[to], *sender = &it->parties[from];

			if (to == from || !receiver->in_count || !sender->out_count ||
			    sender->first_out_ns > receiver->last_in_ns)
				continue;
			receiver->senders |= BIT(from);
			sender->receivers |= BIT(to);
		}
}

/* Those that can have no other partner; of the others it is decided once all halves are known. */
static void find_only(struct pairing *it)
{
	it->only_in = it->only_out = it->unknown_in = it->unknown_out = 0;
	for (uint32_t i = 0; i < it->party_count; i++) {
		it->unknown_in |= it->parties[i].senders ? BIT(i) : 0;
		it->unknown_out |= it->parties[i].receivers ? BIT(i) : 0;
	}
	for (uint32_t to = 0; to < it->party_count; to++) {
		uint64_t senders = it->parties[to].senders;
		uint32_t from = senders ? (uint32_t)__builtin_ctzll(senders) : 0;

		if (senders != BIT(from) || it->parties[from].receivers != BIT(to))
			continue;
		it->parties[to].sender = from;
		it->only_in |= BIT(to);
		it->only_out |= BIT(from);
		it->unknown_in &= ~BIT(to);
		it->unknown_out &= ~BIT(from);
	}
}

/* ---- the assignment that time leaves ---- */

/* What one party sends another one in order, each copy from the host takes the first that is there.  Returns how many there
 * are; adds them where they are wanted. */
static size_t pair_in_order(const struct pairing *it, uint32_t from, uint32_t to, bool is_wanted)
{
	struct communication *all = it->all;
	size_t begin = 0, end = 0;

	for (size_t i = 0; i < it->run_count; i++) {
		const struct half *half = &it->run[i];

		if (!half->is_in && half->party == from)
			it->waiting[end++] = (uint32_t)i;
		if (!half->is_in || half->party != to || begin == end)
			continue;
		if (is_wanted)
			all->staged[all->staged_count++] =
				(struct staged_copy){it->run[it->waiting[begin]].op, half->op};
		begin++;
	}
	return begin;
}

/* Leaves those possible whose copies follow each other to the last one. */
static void compare_times(struct pairing *it)
{
	for (uint32_t i = 0; i < it->party_count; i++)
		it->parties[i].receivers = 0;
	for (uint32_t to = 0; to < it->party_count; to++) {
		struct party *receiver = &it->parties[to];
		uint64_t senders = receiver->senders & it->unknown_out;

		receiver->senders = 0;
		for (; senders && it->unknown_in & BIT(to); senders &= senders - 1) {
			uint32_t from = (uint32_t)__builtin_ctzll(senders);
			struct party *sender = &it->parties[from];
			size_t all = sender->out_count < receiver->in_count ? sender->out_count
									    : receiver->in_count;

			if (pair_in_order(it, from, to, false) < all)
				continue;
			receiver->senders |= BIT(from);
			sender->receivers |= BIT(to);
		}
	}
}

struct assignment {
	uint64_t senders, receivers; /* without a partner */
	uint32_t sender_of[STAGED_RANKS_MOST];
};

static bool is_one(uint64_t bits)
{
	return bits && !(bits & (bits - 1));
}

static void assign(struct assignment *found, uint32_t from, uint32_t to)
{
	found->sender_of[to] = from;
	found->senders &= ~BIT(from);
	found->receivers &= ~BIT(to);
}

/* Who has one possible partner left has that one.  Where exactly one assignment is possible there always is such a party. */
static bool assign_next(struct assignment *found, const struct pairing *it)
{
	for (uint32_t i = 0; i < it->party_count; i++) {
		uint64_t senders = it->parties[i].senders & found->senders;
		uint64_t receivers = it->parties[i].receivers & found->receivers;

		if (found->receivers & BIT(i) && is_one(senders)) {
			assign(found, (uint32_t)__builtin_ctzll(senders), i);
			return true;
		}
		if (found->senders & BIT(i) && is_one(receivers)) {
			assign(found, i, (uint32_t)__builtin_ctzll(receivers));
			return true;
		}
	}
	return false;
}

static void assign_all(struct pairing *it)
{
	struct assignment found = {it->unknown_out, it->unknown_in, {0}};

	while (assign_next(&found, it))
		;
	if (found.senders || found.receivers)
		return;
	for (uint64_t left = it->unknown_in; left; left &= left - 1) {
		uint32_t to = (uint32_t)__builtin_ctzll(left);

		(void)pair_in_order(it, found.sender_of[to], to, true);
	}
	it->unknown_in = it->unknown_out = 0;
}

/* ---- pairs ---- */

#define LOOKED_AT_MOST 64 /* of the latest; those before are results that stayed on the host */

static bool may_meet(const struct pairing *it, const struct half *out, const struct half *in)
{
	return out->rank != in->rank &&
	       (!(it->only_in & BIT(in->party)) || out->party == it->parties[in->party].sender);
}

/* Takes the latest that it may meet; returns false when there is none. */
static bool take(const struct pairing *it, size_t *waiting_count, const struct half *in,
		 uint32_t *out)
{
	for (size_t back = 1; back <= *waiting_count && back <= LOOKED_AT_MOST; back++) {
		uint32_t *item = &it->waiting[*waiting_count - back];

		if (!may_meet(it, &it->run[*item], in))
			continue;
		*out = it->run[*item].op;
		memmove(item, item + 1, (back - 1) * sizeof(*item));
		--*waiting_count;
		return true;
	}
	return false;
}

/* Each copy from the host of those receivers with the latest one to it of those senders. */
static void pair_latest(const struct pairing *it, uint64_t senders, uint64_t receivers,
			struct staged_copy *pairs, size_t *count)
{
	size_t waiting_count = 0;

	for (size_t i = 0; i < it->run_count; i++) {
		const struct half *half = &it->run[i];
		uint32_t out;

		if (!((half->is_in ? receivers : senders) & BIT(half->party)))
			continue;
		if (!half->is_in)
			it->waiting[waiting_count++] = (uint32_t)i;
		else if (take(it, &waiting_count, half, &out))
			pairs[(*count)++] = (struct staged_copy){out, half->op};
	}
}

/* All of a run at once where there are too many ranks to tell them apart. */
static void know_nobody(struct pairing *it)
{
	for (size_t i = 0; i < it->run_count; i++)
		it->run[i].party = 0;
	it->only_in = it->only_out = 0;
	it->unknown_in = it->unknown_out = BIT(0);
}

static void pair_run(struct pairing *it)
{
	struct communication *all = it->all;

	if (list_parties(it)) {
		find_possible(it);
		find_only(it);
		compare_times(it);
		assign_all(it);
	} else {
		know_nobody(it);
	}
	pair_latest(it, it->only_out, it->only_in, all->staged, &all->staged_count);
	pair_latest(it, it->unknown_out, it->unknown_in, all->unknown, &all->unknown_count);
}

static int compare_staged(const void *left, const void *right)
{
	const struct staged_copy *a = left, *b = right;

	return (a->in > b->in) - (a->in < b->in);
}

static void pair_runs(struct pairing *it, struct half *halves, size_t count)
{
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && !compare_runs(&halves[first], &halves[end]); end++)
			;
		it->run = halves + first;
		it->run_count = end - first;
		pair_run(it);
	}
}

static void mark(struct communication *all, const struct staged_copy *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		all->works[pairs[i].in] = all->works[pairs[i].out] = WORK_STAGED;
}

int staged_copies_find(struct communication *all, const struct profile *profile,
		       const uint32_t *rank_of_stream)
{
	struct pairing it = {.all = all};
	struct half *halves;
	size_t count;
	int rc = gather(&halves, &count, all, profile, rank_of_stream);

	if (rc == 0) {
		it.waiting = calloc(count + 1, sizeof(*it.waiting));
		all->staged = calloc(count / 2 + 1, sizeof(*all->staged));
		all->unknown = calloc(count / 2 + 1, sizeof(*all->unknown));
		rc = it.waiting && all->staged && all->unknown ? 0 : -ENOMEM;
	}
	if (rc == 0) {
		pair_runs(&it, halves, count);
		qsort(all->staged, all->staged_count, sizeof(*all->staged), compare_staged);
		mark(all, all->staged, all->staged_count);
		mark(all, all->unknown, all->unknown_count);
	}
	free(it.waiting);
	free(halves);
	return rc;
}
