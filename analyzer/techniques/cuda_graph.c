/*
 * cuda_graph.c - each iteration of a repeating loop is one launch of a CUDA graph.
 *
 * The calls of an iteration that submit something, and all between them, become the launch of a graph; waits that it
 * does not need are gone.  Where the host computes for long between launches it does so still.  A call that no graph can
 * hold, such as a read of a result, cuts an iteration: what lies before and behind it become graphs of their own.
 */
#include "techniques/techniques.h"

#include <string.h>

#include "analysis/statistics/jit.h"
#include "replay/calls.h"
#include "replay/loop_steps.h"
#include "techniques/shared/waits.h"
#include "techniques/unroll_graph.h"
#include "techniques/shared/usual_changes.h"

/* A loop of which fewer iterations can be captured is not one graph launched again and again. */
#define LEAST_CAPTURED 0.9
/* Sizes and grids of a loop that are those of the usual iteration less often than that need updates of its graph. */
#define LEAST_ALIKE 0.9
/* A loop of one operation becomes graphs of as many iterations as spare most of launching, and of so many at least: one
 * each would save nothing, and of two the launch of a graph costs as much as theirs. */
#define UNROLLED_LEAST 8
/* An interpreter takes so many of its usual pauses for a step now and then: 25 to 65 in a training loop of PyTorch
 * (tests/gpu/torch_programs.py, training). */
#define LONG_PAUSES 80
#define PAUSES_STAY (-1) /* as work_ns of a loop: none of its pauses is shorter */

static const char reads_back[] = "the host reads a result before it launches what follows";
static const char calls_back[] =
	"a function of the host runs between the launches, also in a graph";
static const char loads_code[] = "code is loaded or compiled between the launches";
static const char unloads_code[] =
	"code is unloaded in each iteration, and a graph with its kernels with it";

/* Sizes differ: the host gives each node its parameters before each launch, and prepares them as it did before. */
static const struct call_change updated_launch = {.pause = PAUSE_KEPT,
						  .prepare = COST_NODE_UPDATES,
						  .host = COST_GRAPH_LAUNCH,
						  .submission = SUBMITS_GRAPH,
						  .gap = COST_GRAPH_NODE_GAP};
/* The host's time before it stays: it computes, or prepares what it gives the node. */
static const struct call_change node_after_work = {.pause = PAUSE_KEPT,
						   .host = COST_NONE,
						   .submission = SUBMITS_NODES,
						   .gap = COST_GRAPH_NODE_GAP};

/* ---- what can be captured ---- */

static bool is_host_function(const struct profile *profile, uint32_t call_name)
{
	const char *name = profile->call_names[call_name].text;

	return strstr(name, "LaunchHostFunc") || strstr(name, "StreamAddCallback");
}

static bool is_long_load(const struct model *model, size_t call)
{
	const struct profile_call *what = &model->profile->calls[call];

	return model_call_class(model, call) == CALL_MODULE &&
	       what->end_ns - what->start_ns > LONG_HOST_NS;
}

/* Return why the calls [first, end) cannot be captured, and at which of them, or NULL; submitting ones follow at both ends.
 * Calls that another technique has dropped do not count. */
static const char *why_not_captured(const struct change *change, const struct model *model,
				    size_t first, size_t end, size_t *at)
{
	const struct profile *profile = model->profile;
	uint32_t known_name = CALL_NAMES_MOST; /* of no function of the host */
	bool is_read = false;

	for (size_t i = first; i < end; i++) {
		enum profile_call_class class = model_call_class(model, i);
		uint32_t name = profile->calls[i].name;

		*at = i;
		if (change->calls[i] == CALL_DROPPED)
			continue;
		if (class == CALL_GRAPH_LAUNCH || class == CALL_GRAPH_MANAGE)
			return refused_has_graphs;
		if (class == CALL_MEMORY)
			return refused_allocates;
		if (name != known_name && is_host_function(profile, name))
			return calls_back;
		known_name = name;
		if (i > first && is_long_load(model, i))
			return loads_code;
		if (class == CALL_COPY && !call_is_capturable_copy(model, i))
			return refused_blocking_copy;
		is_read = is_read || call_copies_to_host(model, i);
		if (class == CALL_SYNC && is_read)
			return reads_back;
	}
	return NULL;
}

/* Return true if the call can stay and cut the iteration.  A function of the host, or a graph, leaves no piece worth capturing. */
static bool is_cut(const char *refusal)
{
	return refusal == reads_back || refusal == refused_blocking_copy ||
	       refusal == refused_allocates || refusal == loads_code;
}

static bool has_unload(const struct model *model, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (jit_is_unload(model->profile, &model->profile->calls[i]))
			return true;
	return false;
}

/* ---- what becomes of a loop ---- */

/* Capturing a loop. */
struct capturing {
	struct change *change;
	const struct model *model;
	uint8_t launch, node, node_after_work; /* as change->calls[] */
	int64_t work_ns;		       /* the host's pauses from here on stay */
	size_t usual_waits;    /* between what an iteration launches first and last */
	size_t usual_kernels;  /* likewise, calls that launch one */
	bool has_kinds;	       /* iterations differ by what they are given */
	size_t least_launches; /* of a piece that is worth a graph of its own */
	uint64_t most_nodes;   /* of a graph */
	uint64_t setup_nodes;  /* of all graphs of an iteration */
	struct cuts cuts;
	bool is_assuming; /* longer pauses of the host are gone, of which no recording tells that they are spared */
};

/* Of those that are not long. */
static int64_t usual_pause_ns(const struct model *model, const struct loop *loop)
{
	int64_t sum_ns = 0, count = 0;

	for (size_t i = loop->first_call + 1; i < loop->first_call + loop->call_count; i++) {
		int64_t ns = call_pause_ns(model, i);

		if (ns > LONG_HOST_NS)
			continue;
		sum_ns += ns;
		count++;
	}
	return count ? sum_ns / count : 0;
}

/* What seems to be the way to the next launch, as in an interpreter, is no work; at the low end it may be. */
static int64_t work_ns(const struct model *model, const struct loop *loop, bool is_least)
{
	int64_t pauses_ns = is_least ? 0 : LONG_PAUSES * usual_pause_ns(model, loop);

	return pauses_ns > LONG_HOST_NS ? pauses_ns : LONG_HOST_NS;
}

static uint8_t captured_as(struct capturing *capturing, size_t first, size_t call)
{
	int64_t ns;

	if (call == first)
		return capturing->launch;
	ns = call_pause_ns(capturing->model, call);
	if (ns > capturing->work_ns)
		return capturing->node_after_work;
	capturing->is_assuming |= ns > LONG_HOST_NS;
	return capturing->node;
}

static size_t count_kernels(const struct model *model, size_t first, size_t end)
{
	size_t count = 0;

	for (size_t i = first; i < end; i++)
		count += call_only_kernel(model, i) != NULL;
	return count;
}

/* Note what the second iteration has, or as many from it on as become one graph. */
static void note_usual(struct capturing *capturing, const struct loop *loop, size_t step)
{
	const struct model *model = capturing->model;
	size_t from = loop->iteration_count > step ? 1 : 0;
	size_t first = loop->iterations[from];
	size_t next = from + step < loop->iteration_count ? from + step : loop->iteration_count;
	size_t last = calls_last_submitting(model, first, loop->iterations[next]);

	capturing->usual_waits = waits_count(model, first, last);
	capturing->usual_kernels = count_kernels(model, first, last);
}

/* The submitting calls of [first, end) and all between them are one graph.  Returns its nodes. */
static uint64_t capture_piece(struct capturing *capturing, size_t first, size_t end)
{
	uint64_t nodes = 0;

	for (size_t i = first; i < end; i++) {
		capturing->change->calls[i] = captured_as(capturing, first, i);
		nodes += submissions_count(&capturing->model->submissions, i);
	}
	if (nodes > capturing->most_nodes)
		capturing->most_nodes = nodes;
	return nodes;
}

static void note_nodes(struct capturing *capturing, uint64_t nodes)
{
	if (nodes > capturing->setup_nodes)
		capturing->setup_nodes = nodes;
}

static size_t count_launches(const struct model *model, size_t first, size_t end)
{
	size_t count = 0;

	for (size_t i = first; i < end; i++)
		count += call_is_submitting(model, i);
	return count;
}

/* The calls between two that no graph can hold. */
struct piece {
	size_t first, end;   /* calls; none: the first is the end */
	size_t next;	     /* where the next piece may begin */
	const char *refusal; /* of the call that ends it, or NULL: the iteration does */
};

static struct piece next_piece(const struct capturing *capturing, size_t from, size_t last)
{
	const struct model *model = capturing->model;
	struct piece piece = {.first = from};

	while (piece.first < last && !call_is_submitting(model, piece.first))
		piece.first++;
	piece.next = last;
	piece.refusal = why_not_captured(capturing->change, model, piece.first, last, &piece.next);
	if (!piece.refusal)
		piece.next = last;
	piece.end = piece.next > piece.first ? calls_last_submitting(model, piece.first, piece.next)
					     : piece.first;
	piece.next++;
	return piece;
}

/* cut: the first call that cuts calls [first, last), because of refusal.  Nothing is changed where another call than those
 * that cut is in between. */
static const char *capture_pieces(struct capturing *capturing, size_t first, size_t last,
				  size_t cut, const char *refusal)
{
	uint64_t nodes = 0, count = 0;
	size_t wait_count = 0;
	struct piece piece;

	for (size_t from = first; from < last; from = piece.next) {
		piece = next_piece(capturing, from, last);
		if (piece.refusal && !is_cut(piece.refusal))
			return piece.refusal;
		wait_count += waits_count(capturing->model, piece.first, piece.end);
	}
	if (wait_count > capturing->usual_waits)
		return refusal; /* a wait within a piece is not the loop's, and stays */
	for (size_t from = first; from < last; from = piece.next) {
		piece = next_piece(capturing, from, last);
		if (count_launches(capturing->model, piece.first, piece.end) <
		    capturing->least_launches)
			continue;
		nodes += capture_piece(capturing, piece.first, piece.end);
		count++;
	}
	note_nodes(capturing, nodes);
	if (count > capturing->cuts.graph_count)
		capturing->cuts = (struct cuts){count, (uint32_t)cut, refusal};
	return count ? NULL : refusal;
}

/* A wait after the last graph stays when the host reads what was copied to it. */
static void drop_waits(struct capturing *capturing, size_t first, size_t last, size_t end)
{
	const struct model *model = capturing->model;

	for (size_t i = first; i < last; i++)
		if (call_copies_to_host(model, i))
			return;
	for (size_t i = last; i < end; i++)
		if (model_call_class(model, i) == CALL_SYNC)
			capturing->change->calls[i] = CALL_DROPPED;
}

/* One iteration, or what is left of it between calls that no graph can hold. */
static const char *capture(struct capturing *capturing, size_t first, size_t end)
{
	const struct model *model = capturing->model;
	size_t last = calls_last_submitting(model, first, end), at;
	const char *refusal = why_not_captured(capturing->change, model, first, last, &at);

	bool unloads = has_unload(model, first, end);

	bool has_others_wait = waits_count(model, first, last) > capturing->usual_waits;
	bool decides = refusal == reads_back && !capturing->has_kinds &&
		       count_kernels(model, first, last) != capturing->usual_kernels;

	/* A read decides nothing where what is launched stays the same, as of a loss now and then. */
	if (refusal)
		return unloads || decides || !is_cut(refusal)
			       ? refusal
			       : capture_pieces(capturing, first, last, at, refusal);
	if (has_others_wait)
		return refused_irregular; /* the wait is not the loop's, and stays */
	if (unloads)
		return unloads_code;
	note_nodes(capturing, capture_piece(capturing, first, last));
	drop_waits(capturing, first, last, end);
	return NULL;
}

static size_t usual_iterations(const struct loop *loop, const struct recorded_run *run)
{
	size_t worth_count;

	if (loop->period > 1)
		return 1;
	worth_count = unroll_graph_of(run, loop).worth_count;
	return worth_count > UNROLLED_LEAST ? worth_count : UNROLLED_LEAST;
}

/* Grids or sizes differ from iteration to iteration: the graph is updated before each launch, but where it has all of them
 * in their order. */
static bool has_other_sizes(const struct loop *loop)
{
	return loop->exactness < LEAST_ALIKE * loop->regularity;
}

/* The iterations of one graph: a step of the program, or several where an iteration is a single call.  That pauses
 * part the steps is assumed: not so where is_least.  size_count: as many as have sizes of their own; 0: they have none, or
 * no order. */
static struct loop_step graph_step(const struct loop *loop, const struct recorded_run *run,
				   bool is_least, size_t size_count)
{
	size_t usual_count = usual_iterations(loop, run);
	struct loop_step step = {.iteration_count = 1};

	if (!is_least)
		step = loop_step_of(run->model, loop);
	if (step.iteration_count < usual_count)
		step = (struct loop_step){.iteration_count = usual_count};
	if (size_count && step.iteration_count % size_count)
		step = (struct loop_step){
			.iteration_count = (step.iteration_count / size_count + 1) * size_count};
	return step;
}

/* Of iterations [first, next) that would be one graph, those until the host waits more often than it usually does: what
 * comes after that wait is another graph. */
static size_t until_wait(const struct model *model, const struct loop *loop, size_t first,
			 size_t next)
{
	size_t usual_count = waits_count(model, loop->iterations[1], loop->iterations[2]);

	for (size_t i = first; i + 1 < next; i++)
		if (waits_count(model, loop->iterations[i], loop->iterations[i + 1]) > usual_count)
			return i + 1;
	return next;
}

/* Likewise those before the first one that cannot be captured, as it copies now and then; that one is alone. */
static size_t until_refused(const struct capturing *capturing, const struct loop *loop,
			    size_t first, size_t next)
{
	size_t at;

	for (size_t i = first; i < next; i++)
		if (why_not_captured(capturing->change, capturing->model, loop->iterations[i],
				     loop->iterations[i + 1], &at))
			return i > first ? i : i + 1;
	return next;
}

static const char *capture_loop(struct capturing *capturing, const struct loop *loop,
				const struct loop_step *step)
{
	size_t captured_count = 0, next;
	const char *refusal = refused_nothing, *found;

	for (size_t i = 0; i < loop->iteration_count; i = next) {
		next = loop_step_next(step, loop, i);
		if (loop->period == 1)
			next = until_refused(capturing, loop, i,
					     until_wait(capturing->model, loop, i, next));
		found = capture(capturing, loop->iterations[i], loop->iterations[next]);
		captured_count += found ? 0 : next - i;
		if (found)
			refusal = found;
	}
	if ((double)captured_count < LEAST_CAPTURED * (double)loop->iteration_count)
		return refusal;
	waits_keep_others(capturing->change, capturing->model, loop);
	return NULL;
}

/* Return the launches that a piece needs: the fewest that cost the host more than the launch of a graph, and one more, as no
 * pair of recordings has measured graphs between cuts that are shorter. */
static size_t least_launches(const struct costs *costs)
{
	return costs && costs->launch_call_ns > 0
		       ? (size_t)(costs->graph_launch_ns / costs->launch_call_ns) + 2
		       : UNROLLED_LEAST;
}

static const char *change_loop(struct application *application, const struct loop *loop)
{
	const struct model *model = application->run->model;
	struct change *change = &application->change;
	struct effect *effect = application->effect;
	bool is_least = application->end == ASSUMED_LEAST;
	size_t size_count = has_other_sizes(loop) ? loop_sizes_repeat(model, loop) : 0;
	bool is_updated = has_other_sizes(loop) && !size_count;
	const struct loop_step step = graph_step(loop, application->run, is_least, size_count);
	struct capturing capturing = {
		.change = change,
		.model = model,
		.has_kinds = loop->kind_count > 1,
		.launch = change_number(change, is_updated ? &updated_launch : &graph_launch),
		.node = change_number(change, &graph_node),
		.node_after_work = change_number(change, &node_after_work),
		.work_ns = is_updated ? PAUSES_STAY : work_ns(model, loop, is_least),
		.least_launches = least_launches(application->run->costs),
	};
	const char *refusal;

	note_usual(&capturing, loop,
		   loop->period > 1 ? step.iteration_count
				    : usual_iterations(loop, application->run));
	refusal = capture_loop(&capturing, loop, &step);
	if (refusal)
		return refusal;
	effect->is_assuming |= capturing.is_assuming;
	if (capturing.most_nodes > effect->most_nodes)
		effect->most_nodes = capturing.most_nodes;
	if (capturing.cuts.graph_count > effect->cuts.graph_count)
		effect->cuts = capturing.cuts;
	if (application->is_first_like)
		application->setup_ns +=
			(double)loop->kind_count *
			costs_instantiate_ns(application->run->ceilings, capturing.setup_nodes);
	return NULL;
}

const struct technique technique_cuda_graph = {
	.id = "cuda_graph",
	.option = "graph",
	.tried_by = "graph",
	.argument = ARGUMENT_RANGE,
	.help = "each iteration of a repeating loop is one launch of a CUDA graph",
	.effect =
		"Each iteration of a repeating loop becomes one launch of a graph; synchronization "
		"that the graph does not need is gone. Where sizes differ the graph is updated "
		"before each launch.",
	.assumes = "pauses of the host of more than 100 us between launches are overhead, as an "
		   "interpreter's, and disappear with the launches; at the low end they stay",
	.refusal = refused_irregular,
	.is_blind_to_device_work = true,
	.contains = {&technique_remove_syncs, &technique_preallocate},
	.moves_waits = true,
	.is_of_calls = true,
	.bound = BOUND_BUSY,
	.spread = SPREAD_LAUNCH,
	.change_loop = change_loop,
};
