#include "counters/metric_table.h"

#include <stdio.h>
#include <string.h>

/* ANSWER(role, counters): in the order of preference; '+' adds.  Names as the host API of CUPTI 13.0
 * knows them; tests/collector/metric_table.c asks it about every chip. */
#define ANSWERS(ANSWER)                                                                   \
	ANSWER(range_ns, "gpu__time_duration.sum")                                        \
	ANSWER(dram_read_bytes, "dram__bytes_read.sum")                                   \
	ANSWER(dram_write_bytes, "dram__bytes_write.sum")                                 \
	ANSWER(l2_bytes, "lts__t_bytes.sum")                                              \
	ANSWER(l1_bytes, "l1tex__t_bytes.sum")                                            \
	ANSWER(shared_bytes, "smsp__sass_data_bytes_mem_shared.sum")                      \
	ANSWER(fp64_add, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum")           \
	ANSWER(fp64_mul, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum")           \
	ANSWER(fp64_fma, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum")           \
	ANSWER(fp32_add, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum")           \
	ANSWER(fp32_mul, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum")           \
	ANSWER(fp32_fma, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum")           \
	ANSWER(fp16_add, "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum")           \
	ANSWER(fp16_mul, "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum")           \
	ANSWER(fp16_fma, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum")           \
	ANSWER(tensor_instructions, "sm__inst_executed_pipe_tensor.sum")                  \
	ANSWER(tensor_fp64_ops, "sm__ops_path_tensor_src_fp64.sum")                       \
	ANSWER(tensor_tf32_ops, "sm__ops_path_tensor_src_tf32_dst_fp32.sum")              \
	ANSWER(tensor_bf16_ops, "sm__ops_path_tensor_src_bf16_dst_fp32.sum")              \
	/* Hopper: of wgmma, and of mma.sync by accumulator */                            \
	ANSWER(tensor_fp16_ops, "sm__ops_path_tensor_op_hgmma_src_fp16.sum+"              \
				"sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum+"      \
				"sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum")      \
	ANSWER(tensor_fp16_ops, "sm__ops_path_tensor_src_fp16_dst_fp32.sum+"              \
				"sm__ops_path_tensor_src_fp16_dst_fp16.sum")              \
	ANSWER(tensor_fp16_ops, "sm__ops_path_tensor_src_fp16_dst_fp32.sum")              \
	ANSWER(tensor_fp8_ops, "sm__ops_path_tensor_src_fp8.sum")                         \
	ANSWER(tensor_int8_ops, "sm__ops_path_tensor_src_int8.sum")                       \
	ANSWER(tensor_int8_ops, "sm__ops_path_tensor_op_igmma_src_int8.sum+"              \
				"sm__ops_path_tensor_op_imma_src_int8_sparsity_off.sum+"  \
				"sm__ops_path_tensor_op_imma_src_int8_sparsity_on.sum")   \
	ANSWER(tensor_int8_ops, "sm__ops_path_tensor_op_igmma_src_int8.sum")              \
	ANSWER(global_atom_instructions, "smsp__sass_inst_executed_op_global_atom.sum")   \
	ANSWER(global_red_instructions, "smsp__sass_inst_executed_op_global_red.sum")     \
	ANSWER(shared_atom_instructions, "smsp__sass_inst_executed_op_shared_atom.sum")   \
	ANSWER(l2_atom_requests, "lts__t_requests_op_atom.sum")                           \
	ANSWER(l2_red_requests, "lts__t_requests_op_red.sum")                             \
	ANSWER(l2_cas_requests, "lts__t_requests_op_atom_dot_cas.sum")                    \
	ANSWER(l2_atom_sectors, "lts__t_sectors_op_atom.sum")                             \
	ANSWER(l2_red_sectors, "lts__t_sectors_op_red.sum")                               \
	ANSWER(atomic_unit_cycles, "lts__d_atomic_input_cycles_active.sum")               \
	ANSWER(atomic_unit_cycles_max, "lts__d_atomic_input_cycles_active.max")           \
	ANSWER(atomic_unit_cycles_mean, "lts__d_atomic_input_cycles_active.avg")          \
	ANSWER(l2_cycles, "lts__cycles_elapsed.max")                                      \
	ANSWER(shared_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")       \
	ANSWER(shared_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")    \
	ANSWER(global_load_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")     \
	ANSWER(global_store_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")    \
	ANSWER(global_load_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")   \
	ANSWER(global_store_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")  \
	ANSWER(global_load_bytes, "smsp__sass_data_bytes_mem_global_op_ld.sum")           \
	ANSWER(global_store_bytes, "smsp__sass_data_bytes_mem_global_op_st.sum")          \
	ANSWER(sm_active_cycles_min, "sm__cycles_active.min")                             \
	ANSWER(sm_active_cycles_mean, "sm__cycles_active.avg")                            \
	ANSWER(sm_active_cycles_max, "sm__cycles_active.max")                             \
	ANSWER(sm_elapsed_cycles, "sm__cycles_elapsed.max")                               \
	ANSWER(warps_active_percent, "sm__warps_active.avg.pct_of_peak_sustained_active") \
	STALL(ANSWER, barrier)                                                            \
	STALL(ANSWER, branch_resolving)                                                   \
	STALL(ANSWER, dispatch_stall)                                                     \
	STALL(ANSWER, drain)                                                              \
	STALL(ANSWER, gmma)                                                               \
	STALL(ANSWER, imc_miss)                                                           \
	STALL(ANSWER, lg_throttle)                                                        \
	STALL(ANSWER, long_scoreboard)                                                    \
	STALL(ANSWER, math_pipe_throttle)                                                 \
	STALL(ANSWER, membar)                                                             \
	STALL(ANSWER, mio_throttle)                                                       \
	STALL(ANSWER, no_instruction)                                                     \
	STALL(ANSWER, not_selected)                                                       \
	STALL(ANSWER, short_scoreboard)                                                   \
	STALL(ANSWER, sleeping)                                                           \
	STALL(ANSWER, wait)
#define STALL(ANSWER, why) \
	ANSWER(stall_##why, "smsp__average_warps_issue_stalled_" #why "_per_issue_active.ratio")

static const struct {
	enum metric_role role;
	const char *counters;
} answers[] = {
#define ANSWER_ROW(role, counters) {METRIC_##role, counters},
	ANSWERS(ANSWER_ROW)
#undef ANSWER_ROW
};

static const struct {
	const char *name;
	enum counter_set set;
} roles[] = {
#define ROLE_ROW(role, set, meaning) {#role, COUNTER_SET_##set},
	METRICS(ROLE_ROW)
#undef ROLE_ROW
};

static const char *const set_names[] = {
#define SET_NAME(name, meaning) #name,
	COUNTER_SETS(SET_NAME)
#undef SET_NAME
};

static int find_set(const char *word)
{
	for (int i = 0; i < COUNTER_SET_COUNT; i++)
		if (!strcmp(word, set_names[i]))
			return i;
	return -1;
}

enum metric_word metric_table_word(const char *word)
{
	if (find_set(word) >= 0)
		return WORD_SET;
	return strstr(word, "__") ? WORD_COUNTER : WORD_UNKNOWN;
}

static bool is_tensor_type(enum metric_role role)
{
	return role >= METRIC_tensor_fp64_ops && role <= METRIC_tensor_int8_ops;
}

static struct metric_choice *find_name(struct metric_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->choices[i].name, name))
			return &list->choices[i];
	return NULL;
}

static void add(struct metric_list *list, const char *name, size_t length, enum metric_role role)
{
	struct metric_choice *choice = *name ? find_name(list, name) : NULL;

	if (choice && choice->role == METRIC_NONE) { /* asked for by name before its set */
		choice->role = role;
		return;
	}
	choice = &list->choices[list->count];
	if (list->count == METRIC_LIMIT || length >= sizeof(choice->name))
		return;
	*choice = (struct metric_choice){.role = role};
	memcpy(choice->name, name, length);
	choice->is_patched = strstr(choice->name, "__sass_") != NULL;
	list->count++;
}

/* One counter of an answer, and what follows it. */
struct part {
	char name[METRIC_NAME_BYTES];
	const char *rest;
};

static bool next_part(struct part *part)
{
	size_t length = strcspn(part->rest, "+");

	if (!length || length >= sizeof(part->name))
		return false;
	memcpy(part->name, part->rest, length);
	part->name[length] = '\0';
	part->rest += length + (part->rest[length] == '+');
	return true;
}

static bool is_usable(const char *counters, metric_passes passes, void *context)
{
	struct part part = {.rest = counters};

	while (next_part(&part))
		if (passes(context, part.name) != 1)
			return false;
	return true;
}

static void add_role(struct metric_list *list, enum metric_role role, metric_passes passes,
		     void *context)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct part part = {.rest = answers[i].counters};

		if (answers[i].role != role || !is_usable(part.rest, passes, context))
			continue;
		while (next_part(&part))
			add(list, part.name, strlen(part.name), role);
		return;
	}
	add(list, "", 0, role);
}

static bool has_role(const struct metric_list *list, enum metric_role role)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->choices[i].role == role)
			return true;
	return false;
}

static void add_set(struct metric_list *list, int set, enum metric_scope scope,
		    metric_passes passes, void *context)
{
	for (int role = 0; role < METRIC_ROLE_COUNT; role++)
		if ((int)roles[role].set == set && !has_role(list, role) &&
		    (scope == SCOPE_ALL || !is_tensor_type(role)))
			add_role(list, role, passes, context);
}

/* Returns NULL or why the counter cannot be had. */
static const char *add_counter(struct metric_list *list, const char *name, unsigned int pass_limit,
			       metric_passes passes, void *context)
{
	unsigned int needed;

	if (find_name(list, name))
		return NULL;
	if (list->count == METRIC_LIMIT)
		return "is one counter too many";
	needed = passes(context, name);
	if (!needed)
		return "is no counter of this chip";
	if (needed > pass_limit)
		return "needs more than one pass: ask for it with --replay";
	add(list, name, strlen(name), METRIC_NONE);
	return NULL;
}

void metric_table_resolve(struct metric_list *list, const char *request, enum metric_scope scope,
			  unsigned int pass_limit, metric_passes passes, void *context,
			  char *refused, size_t size)
{
	char word[METRIC_NAME_BYTES];

	list->count = 0;
	*refused = '\0';
	add_role(list, METRIC_range_ns, passes, context);
	while (*request) {
		size_t length = strcspn(request, ",");
		const char *problem = NULL;

		snprintf(word, sizeof(word), "%.*s", (int)length, request);
		if (find_set(word) >= 0)
			add_set(list, find_set(word), scope, passes, context);
		else if (length >= sizeof(word))
			problem = "is no counter of this chip";
		else if (*word)
			problem = add_counter(list, word, pass_limit, passes, context);
		if (problem && !*refused)
			snprintf(refused, size, "%s %s", word, problem);
		request += length + (request[length] == ',');
	}
}
