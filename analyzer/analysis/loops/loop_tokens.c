#include "analysis/loops/loop_tokens.h"

#include "analysis/statistics/library_kernel.h"
#include "base/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Graphs take turns when so many launches are of the graph so many launches before, and clearly more
 * than are of the one launched last. */
#define TURNS_MOST 16
#define TURNS_SHARE 0.9
#define REPEATS_SHARE 0.8

/* Fewer are set faster than a thread begins. */
#define SLICE_TOKENS 65536

static bool is_submitting(const struct profile *profile, const struct profile_call *call)
{
	enum profile_call_class class = profile->call_names[call->name].call_class;

	return call->result == 0 &&
	       (class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH || class == CALL_COPY);
}

/* The first operation that the call submitted, or NULL where none was recorded. */
static const struct profile_op *first_op(const struct tokens *tokens, size_t call)
{
	if (submissions_count(tokens->submissions, call) == 0)
		return NULL;
	return &tokens->profile->ops[submissions_op(tokens->submissions,
						    submissions_first(tokens->submissions, call))];
}

const struct profile_op *tokens_op(const struct tokens *tokens, size_t token)
{
	return first_op(tokens, tokens->calls[token]);
}

/* The executable graph that the call launched; 0: none, or not recorded. */
static uint32_t launched_graph(const struct tokens *tokens, size_t call)
{
	const struct profile *profile = tokens->profile;
	const struct profile_op *op;

	if (profile->call_names[profile->calls[call].name].call_class != CALL_GRAPH_LAUNCH)
		return 0;
	op = first_op(tokens, call);
	return op ? profile_op_graph(profile, op) : 0;
}

static uint32_t mix_bytes(uint32_t hash, uint64_t bytes)
{
	return token_mix(token_mix(hash, (uint32_t)bytes), (uint32_t)(bytes >> 32));
}

/* Libraries that choose their kernels by sizes; cuBLAS and cuDNN have kernels of CUTLASS. */
static const struct {
	const char *library;
	uint32_t family;
} choosing[] = {
	{"cuBLAS", 1}, {"CUTLASS", 1},	{"cuDNN", 1},	 {"FlashAttention", 2},
	{"cuFFT", 3},  {"cuSPARSE", 4}, {"cuSOLVER", 5},
};
#define ELEMENTWISE_FAMILY 6 /* of PyTorch, by alignment and count */
#define NAME_FAMILIES 16     /* a kernel of no family is one of its own, from here on */

static uint32_t family_of(const char *name)
{
	const char *library = library_kernel_of(name);

	if (library && !strcmp(library, "PyTorch") && library_kernel_is_elementwise(name))
		return ELEMENTWISE_FAMILY;
	for (size_t i = 0; library && i < sizeof(choosing) / sizeof(choosing[0]); i++)
		if (!strcmp(library, choosing[i].library))
			return choosing[i].family;
	return 0;
}

uint32_t *tokens_families(const struct profile *profile)
{
	uint32_t *families = malloc((profile->kernel_name_count + 1) * sizeof(*families));

	for (size_t i = 0; families && i < profile->kernel_name_count; i++) {
		families[i] = family_of(profile->kernel_names[i]);
		if (!families[i])
			families[i] = NAME_FAMILIES + (uint32_t)i;
	}
	return families;
}

bool tokens_are_chosen(const uint32_t *families, const struct profile *profile,
		       const struct submissions *submissions, const struct profile_thread *thread)
{
	size_t first = submissions_first(submissions, thread->first_call);
	size_t end = submissions_first(submissions, thread->first_call + thread->call_count);
	size_t kernel_count = 0, chosen_count = 0;

	for (size_t i = first; i < end; i++) {
		const struct profile_op *op =
			&profile->ops[submissions_op(submissions, (uint32_t)i)];

		if (op->kind != OP_KERNEL)
			continue;
		kernel_count++;
		chosen_count += families[profile->signatures[op->detail].kernel] < NAME_FAMILIES;
	}
	return 2 * chosen_count > kernel_count;
}

static void add_kernel(const struct tokens *tokens, const struct profile_op *op, uint32_t *loose,
		       uint32_t *strict)
{
	uint32_t kernel = tokens->profile->signatures[op->detail].kernel;

	*loose = token_mix(*loose, tokens->families ? tokens->families[kernel] : kernel);
	*strict = op->detail;
}

static void add_copy(const struct profile *profile, const struct profile_op *op, uint32_t *loose,
		     uint32_t *strict)
{
	const struct profile_copy *copy = &profile->copies[op->detail];

	*loose =
		token_mix(token_mix(*loose, copy->kind), copy->src_memory * 256 + copy->dst_memory);
	*strict = mix_bytes(0, copy->bytes);
}

static void add_memset(const struct profile *profile, const struct profile_op *op, uint32_t *loose,
		       uint32_t *strict)
{
	*loose = token_mix(*loose, profile->memsets[op->detail].memory);
	*strict = mix_bytes(0, profile->memsets[op->detail].bytes);
}

static void add_op(const struct tokens *tokens, const struct profile_op *op, uint32_t *loose,
		   uint32_t *strict)
{
	*loose = token_mix(token_mix(*loose, op->stream), op->kind);
	if (op->kind == OP_KERNEL)
		add_kernel(tokens, op, loose, strict);
	else if (op->kind == OP_COPY)
		add_copy(tokens->profile, op, loose, strict);
	else if (op->kind == OP_MEMSET)
		add_memset(tokens->profile, op, loose, strict);
}

static uint32_t not_taken(uint32_t hash)
{
	return hash == TOKEN_TAKEN ? 1 : hash;
}

/* named_graph: the graph that the loose number tells apart, 0 for any. */
static void set_token(struct tokens *tokens, size_t i, uint32_t named_graph)
{
	const struct profile *profile = tokens->profile;
	size_t call = tokens->calls[i];
	const struct profile_op *op = first_op(tokens, call);
	uint32_t name = profile->calls[call].name;
	enum profile_call_class class = profile->call_names[name].call_class;
	uint32_t loose = token_mix(0, class), strict = 0;

	if (!op)
		loose = token_mix(token_mix(loose, UINT32_MAX), name);
	else if (class == CALL_GRAPH_LAUNCH) /* its nodes' streams are not that of the launch */
		loose = token_mix(token_mix(loose, op->kind == OP_GRAPH ? op->stream : 0),
				  named_graph);
	else
		add_op(tokens, op, &loose, &strict);
	if (op && class == CALL_GRAPH_LAUNCH)
		strict = profile_op_graph(profile, op);
	tokens->loose[i] = not_taken(loose);
	tokens->strict[i] = token_mix(loose, strict);
}

static double share_of_turn(const uint32_t *graphs, size_t count, size_t turn)
{
	size_t equal = 0;

	for (size_t i = turn; i < count; i++)
		equal += graphs[i] == graphs[i - turn];
	return count > turn ? (double)equal / (double)(count - turn) : 0;
}

/* graphs: those launched by the thread, in order. */
static bool do_alternate(const uint32_t *graphs, size_t count)
{
	if (share_of_turn(graphs, count, 1) > REPEATS_SHARE)
		return false;
	for (size_t turn = 2; turn <= TURNS_MOST && 2 * turn <= count; turn++)
		if (share_of_turn(graphs, count, turn) >= TURNS_SHARE)
			return true;
	return false;
}

/* Uses loose[], which is not yet set, for the graphs. */
static bool find_turns(struct tokens *tokens)
{
	size_t count = 0;

	for (size_t i = 0; i < tokens->count; i++) {
		uint32_t graph = launched_graph(tokens, tokens->calls[i]);

		if (graph)
			tokens->loose[count++] = graph;
	}
	return do_alternate(tokens->loose, count);
}

static int allocate(struct tokens *tokens, const struct profile_thread *thread)
{
	size_t room = 1;

	for (size_t i = 0; i < thread->call_count; i++)
		room += is_submitting(tokens->profile,
				      &tokens->profile->calls[thread->first_call + i]);
	tokens->loose = calloc(room, sizeof(*tokens->loose));
	tokens->strict = malloc(room * sizeof(*tokens->strict));
	tokens->calls = calloc(room, sizeof(*tokens->calls));
	return tokens->loose && tokens->strict && tokens->calls ? 0 : -ENOMEM;
}

struct setting {
	struct tokens *tokens;
	bool has_turns;
};

static int set_tokens(void *context, size_t first, size_t end)
{
	const struct setting *setting = context;
	struct tokens *tokens = setting->tokens;

	for (size_t i = first; i < end; i++)
		set_token(tokens, i,
			  setting->has_turns ? launched_graph(tokens, tokens->calls[i]) : 0);
	return 0;
}

int tokens_build(struct tokens *tokens, const struct profile *profile,
		 const struct submissions *submissions, const struct profile_thread *thread,
		 const uint32_t *families)
{
	struct setting setting = {.tokens = tokens};
	int rc;

	*tokens = (struct tokens){.profile = profile,
				  .submissions = submissions,
				  .families = families};
	rc = allocate(tokens, thread);
	if (rc)
		return rc;
	for (size_t i = 0; i < thread->call_count; i++)
		if (is_submitting(profile, &profile->calls[thread->first_call + i]))
			tokens->calls[tokens->count++] = (uint32_t)(thread->first_call + i);
	setting.has_turns = find_turns(tokens);
	return worker_slices(tokens->count, SLICE_TOKENS, set_tokens, &setting);
}

void tokens_free(struct tokens *tokens)
{
	free(tokens->loose);
	free(tokens->strict);
	free(tokens->calls);
	*tokens = (struct tokens){0};
}
