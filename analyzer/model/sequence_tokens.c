#include "model/sequence_tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

/* A graph launched less often than this is no landmark: instantiated anew for some launches. */
#define GRAPH_LEAST_LAUNCHES 8

struct graph_launches {
	uint32_t graph;
	uint32_t count;
	UT_hash_handle hh;
};

static bool is_submitting(const struct profile *profile, const struct profile_call *call)
{
	enum profile_call_class class = profile->call_names[call->name].call_class;

	return call->result == 0 &&
	       (class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH || class == CALL_COPY);
}

/* The first operation that the call submitted, or NULL where none was recorded. */
static const struct profile_op *first_op(const struct tokens *tokens, size_t call)
{
	if (submitted_count(tokens->submitted, call) == 0)
		return NULL;
	return &tokens->profile->ops[tokens->submitted->ops[tokens->submitted->first[call]]];
}

/* The executable graph that the call launched; 0: none, or not recorded. */
static uint32_t launched_graph(const struct tokens *tokens, size_t call)
{
	const struct profile *profile = tokens->profile;
	const struct profile_op *op = first_op(tokens, call);

	if (profile->call_names[profile->calls[call].name].call_class != CALL_GRAPH_LAUNCH)
		return 0;
	return op ? op->graph : 0;
}

static uint32_t mix_bytes(uint32_t hash, uint64_t bytes)
{
	return token_mix(token_mix(hash, (uint32_t)bytes), (uint32_t)(bytes >> 32));
}

static void add_kernel(const struct profile *profile, const struct profile_op *op, uint32_t *loose,
		       uint32_t *strict)
{
	*loose = token_mix(*loose, profile->signatures[op->detail].kernel);
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

static void add_op(const struct profile *profile, const struct profile_op *op, uint32_t *loose,
		   uint32_t *strict)
{
	*loose = token_mix(token_mix(*loose, op->stream), op->kind);
	if (op->kind == OP_KERNEL)
		add_kernel(profile, op, loose, strict);
	else if (op->kind == OP_COPY)
		add_copy(profile, op, loose, strict);
	else if (op->kind == OP_MEMSET)
		add_memset(profile, op, loose, strict);
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
	else if (class == CALL_GRAPH_LAUNCH)
		loose = token_mix(token_mix(loose, op->stream), named_graph);
	else
		add_op(profile, op, &loose, &strict);
	if (op && class == CALL_GRAPH_LAUNCH)
		strict = op->graph;
	tokens->loose[i] = not_taken(loose);
	tokens->strict[i] = token_mix(loose, strict);
}

static int count_graph(struct graph_launches **graphs, uint32_t graph)
{
	struct graph_launches *found;

	HASH_FIND(hh, *graphs, &graph, sizeof(graph), found);
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (!found)
			return -ENOMEM;
		found->graph = graph;
		HASH_ADD(hh, *graphs, graph, sizeof(found->graph), found);
	}
	found->count++;
	return 0;
}

static int count_graphs(struct graph_launches **graphs, const struct tokens *tokens)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < tokens->count; i++)
		if (launched_graph(tokens, tokens->calls[i]))
			rc = count_graph(graphs, launched_graph(tokens, tokens->calls[i]));
	return rc;
}

static void free_graphs(struct graph_launches *graphs)
{
	struct graph_launches *graph, *next;

	HASH_ITER(hh, graphs, graph, next)
	{
		HASH_DEL(graphs, graph);
		free(graph);
	}
}

static uint32_t name_of_graph(struct graph_launches *graphs, uint32_t graph)
{
	struct graph_launches *found = NULL;

	if (graph)
		HASH_FIND(hh, graphs, &graph, sizeof(graph), found);
	return found && found->count >= GRAPH_LEAST_LAUNCHES ? graph : 0;
}

static int allocate(struct tokens *tokens, const struct profile_thread *thread)
{
	size_t room = 1;

	for (size_t i = 0; i < thread->call_count; i++)
		room += is_submitting(tokens->profile,
				      &tokens->profile->calls[thread->first_call + i]);
	tokens->loose = malloc(room * sizeof(*tokens->loose));
	tokens->strict = malloc(room * sizeof(*tokens->strict));
	tokens->calls = malloc(room * sizeof(*tokens->calls));
	return tokens->loose && tokens->strict && tokens->calls ? 0 : -ENOMEM;
}

int tokens_build(struct tokens *tokens, const struct profile *profile,
		 const struct submitted *submitted, const struct profile_thread *thread)
{
	struct graph_launches *graphs = NULL;
	int rc;

	*tokens = (struct tokens){.profile = profile, .submitted = submitted};
	rc = allocate(tokens, thread);
	for (size_t i = 0; rc == 0 && i < thread->call_count; i++)
		if (is_submitting(profile, &profile->calls[thread->first_call + i]))
			tokens->calls[tokens->count++] = (uint32_t)(thread->first_call + i);
	if (rc == 0)
		rc = count_graphs(&graphs, tokens);
	for (size_t i = 0; rc == 0 && i < tokens->count; i++)
		set_token(tokens, i,
			  name_of_graph(graphs, launched_graph(tokens, tokens->calls[i])));
	free_graphs(graphs);
	return rc;
}

bool tokens_forget_graphs(struct tokens *tokens)
{
	bool is_changed = false;

	for (size_t i = 0; i < tokens->count; i++) {
		uint32_t before = tokens->loose[i];

		if (before == TOKEN_TAKEN || !launched_graph(tokens, tokens->calls[i]))
			continue;
		set_token(tokens, i, 0);
		is_changed = is_changed || tokens->loose[i] != before;
	}
	return is_changed;
}

void tokens_free(struct tokens *tokens)
{
	free(tokens->loose);
	free(tokens->strict);
	free(tokens->calls);
	*tokens = (struct tokens){0};
}
