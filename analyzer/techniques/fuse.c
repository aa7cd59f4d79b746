/*
 * fuse.c - neighbors of an iteration, which follow one another with the same grid and blocks, are one kernel.  So are
 * PyTorch's of elements, of whatever grid, and a reduction behind one: its compiler makes one of them; and so is a
 * product on tensor cores with what goes on with its sums, in its epilogue.
 *
 * It takes as long as all of them, without what it need not write and read again as far as counters tell
 * (shared/fusion.h), and arguments, where recorded, do not tell that the one is not given what the other wrote.  That no
 * block needs what another one wrote is assumed, but where counters tell against it.
 * Without counters as much may vanish as leaves the time of the longest of them, which reads and writes for all: that
 * is the high end.
 *
 * Without counters, names show which kernels of PyTorch and CuPy are of elements, and grids show of how many.  Where such
 * kernels follow one another over as many elements, in a row, their compiler makes one of them.  Of what they read and
 * write, this is assumed: each but the last writes one array, which a later one of the row reads, and no other kernel; and the
 * shortest does no more than read one array and write one.  So a row of k kernels takes as long as all of them, less k - 1 times
 * the shortest: where all are as long as one is left, and what another one reads or computes beyond that stays.  At the low
 * end nothing vanishes, as where they work on different arrays; only launches and gaps do.
 */
#include "techniques/fuse.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "replay/calls.h"
#include "techniques/shared/dependences.h"
#include "techniques/techniques.h"

static const char not_alike[] = "no kernels of the same grid follow one another in an iteration";
static const char grid_wide[] =
	"by its counters no kernel just goes on with what the one before it wrote";

#define RESULT_BYTES 4 /* of a block that reduces, at least */

static const struct call_change fused_launch = {.pause = PAUSE_GONE,
						.host = COST_NONE,
						.submission = SUBMITS_FUSED};

/* A compiler of a framework gives both the grid that it likes. */
static bool is_compilable(const struct profile_signature *left,
			  const struct profile_signature *right)
{
	return library_kernel_is_elementwise(left->name) &&
	       (library_kernel_is_elementwise(right->name) ||
		library_kernel_is_reduction(right->name));
}

#define BLOCK_THREADS(launch) \
	((uint64_t)(launch)->block[0] * (launch)->block[1] * (launch)->block[2])
#define GRID_BLOCKS(launch) ((uint64_t)(launch)->grid[0] * (launch)->grid[1] * (launch)->grid[2])

/* Return whether the last blocks of both may end at the same element.  Kernels of one template take as many in a thread. */
static bool may_have_as_many(const struct profile_signature *left,
			     const struct profile_signature *right)
{
	size_t length = strcspn(left->name, ",") + 1;
	bool is_one_template = !strncmp(left->name, right->name, length);
	uint32_t least, most, right_least, right_most;

	if (!library_kernel_elements(left->name, &least, &most) ||
	    !library_kernel_elements(right->name, &right_least, &right_most))
		return false;
	for (uint64_t i = least; i && i <= most; i *= 2)
		for (uint64_t j = right_least; j && j <= right_most; j *= 2) {
			uint64_t a = i * BLOCK_THREADS(left), b = j * BLOCK_THREADS(right);

			if ((i == j || !is_one_template) &&
			    (GRID_BLOCKS(left) - 1) * a < GRID_BLOCKS(right) * b &&
			    (GRID_BLOCKS(right) - 1) * b < GRID_BLOCKS(left) * a)
				return true;
		}
	return false;
}

/* Return whether the second may be of the row that the first is of, or is a reduction behind it. */
static bool is_row(const struct profile_signature *left, const struct profile_signature *right)
{
	return library_kernel_is_elementwise(left->name) &&
	       (library_kernel_is_reduction(right->name) || may_have_as_many(left, right));
}

/* Whether a call may stand between launches of kernels that are fused. */
static bool may_be_between(const struct change *change, const struct model *model, size_t call)
{
	enum profile_call_class class = model_call_class(model, call);

	return !submissions_count(&model->submissions, call) &&
	       (class == CALL_OTHER || class == CALL_EVENT || class == CALL_CREATE ||
		(change && change->calls[call] == CALL_DROPPED));
}

/* Kernels of an iteration as they are gone through. */
struct neighbors {
	struct change *change; /* NULL: only to look */
	const struct model *model;
	const struct fusion *fusion;
	const struct accesses *accesses; /* NULL: nothing was recorded */
	struct fused_kernels *fused;
	bool is_grid_wide;		      /* some are not fused for that */
	const struct profile_op *predecessor; /* NULL: none that this one could go into */
	double predecessor_ns;		      /* that it took, before it was fused */
	double predecessor_taken_bytes;	      /* that vanish of its reading */
	uint32_t chain[FUSED_KERNELS_MOST];   /* signatures[] of what became one kernel until now */
	size_t chain_count;
	double chain_bytes; /* handed on in it */
	bool is_most;	    /* at the high end of what is assumed */
	double longest_ns; /* there, of the kernel that the predecessor goes into, and what went into it */
	bool has_rows; /* no counters, and a framework's kernels of elements: only these are fused */
	struct fused_row row; /* that the predecessor is of */
};

/* In one stream. */
static bool is_alike(const struct neighbors *it, const struct profile_op *left,
		     const struct profile_op *right)
{
	const struct profile *profile = it->model->profile;
	const struct profile_signature *a = &profile->signatures[left->detail];
	const struct profile_signature *b = &profile->signatures[right->detail];

	if (it->has_rows)
		return is_row(a, b);
	return (!memcmp(a->grid, b->grid, sizeof(a->grid)) &&
		!memcmp(a->block, b->block, sizeof(a->block))) ||
	       is_compilable(a, b) ||
	       fusion_is_epilogue(it->fusion, profile, left->detail, right->detail);
}

static double length_ns(const struct neighbors *it, const struct profile_op *op)
{
	const struct change *change = it->change;
	size_t index = (size_t)(op - it->model->profile->ops);

	int64_t changed_ns = change ? change_op_ns(change->op_ns, index) : -1;

	return (double)(changed_ns >= 0 ? changed_ns : op->end_ns - op->start_ns);
}

/* Returns what is saved by that. */
static double shorten(const struct neighbors *it, const struct profile_op *op, double from_ns,
		      double to_ns)
{
	int64_t length = (int64_t)to_ns;

	if (it->change && it->change->op_ns && to_ns < from_ns)
		it->change->op_ns[op - it->model->profile->ops] = length > 1 ? length : 1;
	return from_ns - to_ns;
}

/* ---- what arguments tell ---- */

/* Of the kernel before, or of the next one; NULL: it was not recorded. */
static const struct access_list *list_of(const struct neighbors *it, const struct profile_op *op)
{
	uint32_t list;

	if (!it->accesses)
		return NULL;
	list = it->accesses->of_op[op - it->model->profile->ops];
	return list == PROFILE_NONE ? NULL : &it->accesses->lists[list];
}

/* What a kernel was given from the same address on; NULL: nothing. */
static const struct kernel_access *same_access(const struct neighbors *it,
					       const struct access_list *list,
					       const struct kernel_access *access)
{
	for (uint32_t i = list->first; i < list->first + list->count; i++) {
		const struct kernel_access *other = &it->accesses->items[i];

		if (other->allocation == access->allocation && other->offset == access->offset)
			return other;
	}
	return NULL;
}

/* Bytes from there to the end of the allocation. */
static double bytes_from(const struct neighbors *it, const struct kernel_access *access)
{
	uint64_t bytes = it->model->profile->allocations[access->allocation].bytes;

	return bytes > access->offset ? (double)(bytes - access->offset) : 0;
}

/* Arrays that the kernel before reads as well: one kernel reads them once. */
static double shared_bytes(const struct neighbors *it, const struct profile_op *op)
{
	const struct access_list *first = list_of(it, it->predecessor), *second = list_of(it, op);
	double bytes = 0;

	if (!first || !second || !it->fusion->kernels)
		return 0;
	for (uint32_t i = second->first; i < second->first + second->count; i++) {
		const struct kernel_access *access = &it->accesses->items[i],
					   *before = same_access(it, first, access);

		if (before && access->kind == ACCESS_READ && before->kind == ACCESS_READ)
			bytes += bytes_from(it, access);
	}
	return fmin(bytes, fmin(it->fusion->kernels[it->predecessor->detail].read_bytes,
				it->fusion->kernels[op->detail].read_bytes));
}

/* Whether a kernel that stores little, as one that reduces, has room for a result of each block in what the next one, of the
 * same grid, reads of it: then no block needs another one's. */
static bool reduces_in_blocks(const struct neighbors *it, const struct profile_op *op)
{
	const struct profile_signature *launch =
		&it->model->profile->signatures[it->predecessor->detail];
	const struct access_list *first = list_of(it, it->predecessor), *second = list_of(it, op);
	double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
	size_t found_count = 0;

	if (!first || !second || !first->is_whole || !second->is_whole)
		return false;
	for (uint32_t i = first->first; i < first->first + first->count; i++) {
		const struct kernel_access *access = &it->accesses->items[i];

		if (access->kind == ACCESS_READ || !same_access(it, second, access))
			continue;
		if (bytes_from(it, access) < RESULT_BYTES * blocks)
			return false;
		found_count++;
	}
	return found_count > 0;
}

/* ---- one after the other ---- */

/* Of what a kernel reads beside what is handed to it. */
static double shared_most(const struct fusion_kernel *kernel, double handed_bytes,
			  double read_bytes)
{
	return fmin(read_bytes, fmax(kernel->read_bytes - handed_bytes, 0));
}

/* What the kernel before wrote is not read from memory any more, nor what it has read.  Returns how many bytes that is. */
static double hand_on(struct neighbors *it, const struct profile_op *op, double read_bytes)
{
	const struct fusion *fusion = it->fusion;
	const struct fusion_kernel *first = &fusion->kernels[it->predecessor->detail];
	const struct fusion_kernel *second = &fusion->kernels[op->detail];
	double bytes = fusion_handed_bytes(first, second), taken = it->predecessor_taken_bytes;
	double first_ns = fusion_time_ns(fusion, first, it->predecessor_ns, taken, 0);
	double second_ns = length_ns(it, op);
	struct fused_kernels *fused = it->fused;

	fused->saved_ns += shorten(it, it->predecessor, first_ns,
				   fusion_time_ns(fusion, first, it->predecessor_ns, taken, bytes));
	fused->saved_ns +=
		shorten(it, op, second_ns,
			fusion_time_ns(fusion, second, second_ns,
				       bytes + shared_most(second, bytes, read_bytes), 0));
	fused->vanished_bytes += fusion->is_least ? bytes : 2 * bytes;
	fused->handed_count++;
	it->chain_bytes += bytes;
	if (bytes > fused->most_handed_bytes) {
		fused->most_handed_bytes = bytes;
		fused->first = it->predecessor->detail;
		fused->second = op->detail;
	}
	return bytes + shared_most(second, bytes, read_bytes);
}

/* Nothing is handed on, but what both read is read once. */
static double read_once(struct neighbors *it, const struct profile_op *op, double read_bytes)
{
	const struct fusion *fusion = it->fusion;
	double op_ns = length_ns(it, op);

	if (read_bytes <= 0)
		return 0;
	it->fused->saved_ns +=
		shorten(it, op, op_ns,
			fusion_time_ns(fusion, &fusion->kernels[op->detail], op_ns, read_bytes, 0));
	it->fused->vanished_bytes += read_bytes;
	return read_bytes;
}

/* Of the kernel before. */
static bool is_independent(const struct neighbors *it, const struct profile_op *op)
{
	const struct profile_op *ops = it->model->profile->ops;

	return dependences_are_none(it->accesses, (size_t)(it->predecessor - ops),
				    (size_t)(op - ops));
}

/* At most nothing is left of it but what it took longer than those before it. */
static void hide(struct neighbors *it, const struct profile_op *op)
{
	double own_ns = length_ns(it, op);

	if (!it->is_most || it->fusion->kernels || is_independent(it, op))
		return;
	(void)shorten(it, op, own_ns, fmax(own_ns - it->longest_ns, 0));
	it->longest_ns = fmax(it->longest_ns, own_ns);
}

static void begin_chain(struct neighbors *it, const struct profile_op *op)
{
	it->chain_bytes = 0;
	it->chain_count = op != NULL;
	if (op)
		it->chain[0] = op->detail;
}

/* Registers for the values of a thread of one kernel, where each needs values that other threads of the one before made;
 * 1: one has a single value, or is PyTorch's of elements, which never does. */
static double values_of(const struct neighbors *it, const uint32_t *signatures, size_t count)
{
	const struct profile *profile = it->model->profile;
	double values = 1;

	if (!it->fusion->kernels)
		return 1;
	for (size_t i = 0; i < count; i++) {
		const struct profile_signature *launch = &profile->signatures[signatures[i]];
		double own = fused_values_of(launch, it->fusion->kernels[signatures[i]].read_bytes);

		if (own <= 1 || library_kernel_is_elementwise(launch->name))
			return 1;
		values *= own;
	}
	return values;
}

static void add_to_chain(struct neighbors *it, const struct profile_op *op)
{
	struct fused_kernels *fused = it->fused;

	if (it->chain_count < FUSED_KERNELS_MOST)
		it->chain[it->chain_count++] = op->detail;
	if (it->chain_bytes < fused->chain_bytes ||
	    (it->chain_bytes <= fused->chain_bytes && it->chain_count <= fused->chain_count))
		return;
	memcpy(fused->chain, it->chain, sizeof(fused->chain));
	fused->chain_count = it->chain_count;
	fused->chain_bytes = it->chain_bytes;
	fused->chain_values = values_of(it, it->chain, it->chain_count);
}

/* Whether it spills if so: only at the high end nobody needs another thread's. */
static bool is_too_much(struct neighbors *it, const struct profile_op *op)
{
	uint32_t row[FUSED_KERNELS_MOST + 1];
	double values;

	memcpy(row, it->chain, it->chain_count * sizeof(row[0]));
	row[it->chain_count] = op->detail;
	values = values_of(it, row, it->chain_count + 1);
	if (it->is_most || values <= FUSED_REGISTERS_MOST)
		return false;
	it->fused->apart = op->detail;
	it->fused->apart_values = values;
	return true;
}

/* The kernel goes into the row.  Where it is shorter than those before it, less vanishes of these as well. */
static void extend_row(struct neighbors *it, const struct profile_op *op)
{
	struct fused_row *row = &it->row;
	const char *name = it->model->profile->signatures[op->detail].name;
	double own_ns = length_ns(it, op), shortest_ns = fmin(row->shortest_ns, own_ns);
	double left_ns =
		own_ns - shortest_ns + (double)(row->count - 1) * (row->shortest_ns - shortest_ns);
	size_t index = (size_t)(op - it->model->profile->ops);

	if (!library_kernel_is_elementwise(name) || is_independent(it, op))
		return;
	if (it->change && it->change->op_ns && !it->is_most && !it->fusion->is_least)
		it->change->op_ns[index] = (int64_t)fmax(left_ns, 1);
	row->count++;
	row->all_ns += own_ns;
	row->longest_ns = fmax(row->longest_ns, own_ns);
	row->shortest_ns = shortest_ns;
	row->saved_ns += own_ns - left_ns;
	it->fused->saved_ns += own_ns - left_ns;
	it->fused->handed_count++;
	if (row->saved_ns > it->fused->row.saved_ns)
		it->fused->row = *row;
}

static void begin_row(struct neighbors *it, const struct profile_op *op, double op_ns)
{
	it->row = (struct fused_row){.count = 1,
				     .all_ns = op_ns,
				     .longest_ns = op_ns,
				     .shortest_ns = op_ns};
	if (op)
		it->row.first = op->detail;
}

/* Returns how many bytes of its reading vanish. */
static double fuse(struct neighbors *it, size_t call, const struct profile_op *op)
{
	enum fusion_verdict verdict =
		fusion_judge(it->fusion, it->model->profile, it->predecessor->detail, op->detail);
	double bytes, read_bytes;

	if (verdict == FUSION_GRID_WIDE && reduces_in_blocks(it, op))
		verdict = FUSION_UNTOLD;
	it->is_grid_wide |= verdict == FUSION_GRID_WIDE;
	if (verdict == FUSION_GRID_WIDE || is_too_much(it, op)) {
		begin_chain(it, op);
		return 0;
	}
	if (it->change)
		it->change->calls[call] = change_number(it->change, &fused_launch);
	it->fused->kernel_count++;
	if (it->has_rows)
		extend_row(it, op);
	hide(it, op);
	read_bytes = shared_bytes(it, op);
	bytes = verdict == FUSION_HANDS_ON && !is_independent(it, op)
			? hand_on(it, op, read_bytes)
			: read_once(it, op, read_bytes);
	add_to_chain(it, op);
	return bytes;
}

static void fuse_iteration(struct neighbors *it, size_t first, size_t end)
{
	const struct model *model = it->model;

	it->predecessor = NULL;
	for (size_t i = first; i < end; i++) {
		const struct profile_op *op = call_only_kernel(model, i);
		double op_ns = op ? length_ns(it, op) : 0, taken_bytes = 0;

		if (may_be_between(it->change, model, i))
			continue;
		if (op && it->predecessor && it->predecessor->stream == op->stream &&
		    is_alike(it, it->predecessor, op)) {
			taken_bytes = fuse(it, i, op);
		} else {
			it->longest_ns = op_ns;
			begin_chain(it, op);
			begin_row(it, op, op_ns);
		}
		it->predecessor = op;
		it->predecessor_ns = op_ns;
		it->predecessor_taken_bytes = taken_bytes;
	}
}

/* Return whether kernels of elements that a framework launches are in an iteration in the middle. */
static bool has_elementwise(const struct model *model, const struct loop *loop)
{
	const uint32_t *at = &loop->iterations[loop->iteration_count / 2];

	for (size_t i = at[0]; loop->iteration_count && i < at[1]; i++) {
		const struct profile_op *op = call_only_kernel(model, i);

		if (op &&
		    library_kernel_is_elementwise(model->profile->signatures[op->detail].name))
			return true;
	}
	return false;
}

static const char *fuse_loop(struct neighbors *neighbors, const struct loop *loop)
{
	uint64_t kernel_count = neighbors->fused->kernel_count;

	neighbors->has_rows =
		!neighbors->fusion->kernels && has_elementwise(neighbors->model, loop);

	for (size_t i = 0; i < loop->iteration_count; i++)
		fuse_iteration(neighbors, loop->iterations[i], loop->iterations[i + 1]);
	if (neighbors->fused->kernel_count > kernel_count)
		return NULL;
	return neighbors->is_grid_wide ? grid_wide : not_alike;
}

struct fused_kernels fuse_find(const struct recorded_run *run, const struct loops *loops)
{
	struct fused_kernels found = {0};

	for (size_t i = 0; i < loops->count; i++)
		(void)fuse_loop(&(struct neighbors){.model = run->model,
						    .fusion = &run->fusion,
						    .accesses = dependences_recorded(run->report),
						    .fused = &found},
				&loops->items[i]);
	return found;
}

/* What counters cannot tell is whose bytes a kernel reads: where they vanish, that is assumed.  Of the loops
 * that are refused, one that has neighbors says why. */
static const char *change_loop(struct application *application, const struct loop *loop)
{
	struct effect *effect = application->effect;
	struct fusion fusion = application->run->fusion;
	struct fused_kernels found = {0};
	struct neighbors neighbors;
	const char *refusal;

	fusion.is_least = application->end == ASSUMED_LEAST;
	neighbors = (struct neighbors){.change = &application->change,
				       .model = application->run->model,
				       .fusion = &fusion,
				       .accesses = dependences_recorded(application->run->report),
				       .fused = &found,
				       .is_most = application->end == ASSUMED_MOST};
	refusal = fuse_loop(&neighbors, loop);
	if (refusal)
		return effect->refusal == grid_wide ? grid_wide : refusal;
	effect->keeps_results =
		neighbors.has_rows && (effect->keeps_results || !effect->changed_count);
	effect->changed_count += found.kernel_count;
	effect->vanished_bytes += found.vanished_bytes;
	effect->is_assuming |= found.handed_count > 0;
	return NULL;
}

const struct technique technique_fuse = {
	.id = "fuse",
	.option = "fuse",
	.argument = ARGUMENT_RANGE,
	.help = "neighbors of an iteration with the same grid are one kernel",
	.effect =
		"Kernels of an iteration that follow one another with the same grid and blocks become one "
		"kernel, and those that PyTorch makes of operations on each element with whatever grid, which takes as long as all of them; where a recording of one GPU has counters, without the bytes "
		"that they hand each other, and where it has none, those of PyTorch and CuPy on as many elements without the time of the shortest for each that goes into another. No block may need what another one wrote.",
	.changed = "kernels go into the one before them",
	.assumes =
		"what a kernel reads is what the one before it wrote, and nobody else reads it; at the low "
		"end it is still written; without counters, at the high end, they take no longer than the longest "
		"of them",
	.refusal = not_alike,
	.is_up_to = true,
	.has_most = true,
	.has_ops = true,
	.bound = BOUND_BUSY | BOUND_KERNELS,
	.spread = SPREAD_KERNELS,
	.change_loop = change_loop,
};
