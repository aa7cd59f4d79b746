/* csv.c - one section as a table: the first line names the columns.  See OUTPUT_SCHEMA. */
#include "output/csv_values.h"

#include "analysis/counters/occupancy.h"
#include "output/check_command.h"

#include <csv.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

void csv_section_processes(struct sheet *sheet)
{
	const struct profile *profile = sheet->report->profile;

	put_heads(sheet, "folder,host,pid,rank,command,start_ns,first_ns,last_ns,is_cut_off,"
			 "is_filtered,is_graph_level");
	for (size_t i = 0; i < row_count(sheet, profile->process_count); i++) {
		const struct profile_process *process = &profile->processes[i];

		put_text(sheet, process->folder);
		put_text(sheet, process->host);
		put_count(sheet, process->pid);
		put_integer(sheet, process->rank);
		put_text(sheet, process->command);
		put_integer(sheet, process->start_ns);
		put_integer(sheet, process->first_ns);
		put_integer(sheet, process->last_ns);
		put_integer(sheet, !process->sealed_ns);
		put_integer(sheet, process->is_filtered);
		put_integer(sheet, process->is_graph_level);
		end_row(sheet);
	}
}

/* Empty where the recording does not tell. */
static void put_inside_kernels(struct sheet *sheet, size_t device)
{
	const struct sm_activity_device *sampled = &sheet->report->sm_activity->devices[device];
	const struct collective_device *collectives = &sheet->report->collectives->devices[device];

	if (sampled->kernel_launch_count)
		put_integer(sheet, sampled->kernel_tail_ns);
	else
		put_text(sheet, "");
	if (collectives->is_known)
		put_integer(sheet, collectives->wait_ns);
	else
		put_text(sheet, "");
}

void csv_section_devices(struct sheet *sheet)
{
	const struct report *report = sheet->report;

	fputs("device,name,uuid,first_ns,last_ns,wall_ns,busy_ns,idle_ns,kernel_ns,copy_ns,"
	      "memset_ns,copy_overlapped_ns,kernel_total_ns,kernel_shared_ns,gap_count,"
	      "tail_ns,collective_wait_ns",
	      sheet->out);
	put_cause_heads(sheet);
	for (size_t i = 0; i < row_count(sheet, report->profile->device_count); i++) {
		const struct timeline_device *times = &report->timeline->devices[i];

		put_count(sheet, i);
		put_text(sheet, report->profile->devices[i].name);
		put_text(sheet, report->profile->devices[i].uuid);
		put_integer(sheet, times->first_ns);
		put_integer(sheet, times->last_ns);
		put_integer(sheet, times->wall_ns);
		put_integer(sheet, times->busy_ns);
		put_integer(sheet, times->idle_ns);
		put_integer(sheet, times->kernel_ns);
		put_integer(sheet, times->copy_ns);
		put_integer(sheet, times->memset_ns);
		put_integer(sheet, times->copy_overlapped_ns);
		put_integer(sheet, times->kernel_total_ns);
		put_integer(sheet, times->kernel_shared_ns);
		put_count(sheet, report->gaps->devices[i].gap_count);
		put_inside_kernels(sheet, i);
		put_causes(sheet, report->gaps->devices[i].by_cause_ns);
		end_row(sheet);
	}
}

/* Empty where the recording does not tell. */
static void put_occupancy(struct sheet *sheet, const struct profile_device *device,
			  const struct profile_signature *launch)
{
	struct occupancy occupancy;
	bool is_known = occupancy_of(&occupancy, device, launch);

	if (is_known) {
		put_integer(sheet, occupancy.blocks_per_sm);
		put_real(sheet, occupancy.warps_ratio);
		put_real(sheet, occupancy.waves);
		put_text(sheet, occupancy_limit_name(occupancy.limit));
		return;
	}
	for (int i = 0; i < 4; i++)
		put_text(sheet, "");
}

void csv_section_kernels(struct sheet *sheet)
{
	const struct statistics *statistics = sheet->report->statistics;

	put_heads(sheet, "name," TIME_HEADS ",grid_x,grid_y,grid_z,block_x,block_y,block_z,"
			 "registers,static_shared_bytes,dynamic_shared_bytes,"
			 "local_bytes_per_thread,shape_count,device_count,blocks_per_sm,"
			 "theoretical_occupancy,waves,occupancy_limit");
	for (size_t i = 0; i < row_count(sheet, statistics->kernel_count); i++) {
		const struct kernel_statistics *kernel = &statistics->kernels[i];
		const struct profile_signature *shape =
			&sheet->report->profile->signatures[kernel->signature];

		put_text(sheet, kernel->name);
		put_time(sheet, &kernel->time);
		put_dimensions(sheet, shape->grid);
		put_dimensions(sheet, shape->block);
		put_integer(sheet, shape->registers_per_thread);
		put_integer(sheet, shape->static_shared_bytes);
		put_integer(sheet, shape->dynamic_shared_bytes);
		put_integer(sheet, shape->local_bytes_per_thread);
		put_integer(sheet, kernel->signature_count);
		put_integer(sheet, kernel->device_count);
		put_occupancy(sheet, &sheet->report->profile->devices[kernel->device], shape);
		end_row(sheet);
	}
}

void csv_section_graphs(struct sheet *sheet)
{
	const struct statistics *statistics = sheet->report->statistics;

	put_heads(sheet, "process,graph," TIME_HEADS ",launch_count,operation_count,node_count,"
			 "node_ns,is_device_launched");
	for (size_t i = 0; i < row_count(sheet, statistics->graph_count); i++) {
		const struct graph_statistics *graph = &statistics->graphs[i];

		put_text(sheet, sheet->report->profile->processes[graph->process].folder);
		put_integer(sheet, graph->graph);
		put_time(sheet, &graph->time);
		put_count(sheet, graph->launch_count);
		put_count(sheet, graph->op_count);
		put_integer(sheet, graph->node_count);
		put_integer(sheet, graph->node_ns);
		put_integer(sheet, graph->is_device_launched);
		end_row(sheet);
	}
}

void csv_section_copies(struct sheet *sheet)
{
	const struct statistics *statistics = sheet->report->statistics;

	put_heads(sheet, "kind,src_memory,dst_memory,is_async," TIME_HEADS ",bytes,byte_per_s");
	for (size_t i = 0; i < row_count(sheet, statistics->copy_count); i++) {
		const struct copy_statistics *copy = &statistics->copies[i];

		put_text(sheet, profile_copy_kind_name(copy->kind));
		put_text(sheet, profile_memory_kind_name(copy->src_memory));
		put_text(sheet, profile_memory_kind_name(copy->dst_memory));
		put_integer(sheet, copy->is_async);
		put_time(sheet, &copy->time);
		put_count(sheet, copy->bytes);
		put_real(sheet, copy->byte_per_s);
		end_row(sheet);
	}
}

void csv_section_memsets(struct sheet *sheet)
{
	const struct statistics *statistics = sheet->report->statistics;

	put_heads(sheet, "memory," TIME_HEADS ",bytes");
	for (size_t i = 0; i < row_count(sheet, statistics->memset_count); i++) {
		put_text(sheet, profile_memory_kind_name(statistics->memsets[i].memory));
		put_time(sheet, &statistics->memsets[i].time);
		put_count(sheet, statistics->memsets[i].bytes);
		end_row(sheet);
	}
}

void csv_section_api(struct sheet *sheet)
{
	const struct statistics *statistics = sheet->report->statistics;

	put_heads(sheet, "name," TIME_HEADS ",failed_count");
	for (size_t i = 0; i < row_count(sheet, statistics->call_count); i++) {
		const struct call_statistics *call = &statistics->calls[i];

		put_text(sheet, sheet->report->profile->call_names[call->name].text);
		put_time(sheet, &call->time);
		put_count(sheet, call->failed_count);
		end_row(sheet);
	}
}

void csv_section_ranges(struct sheet *sheet)
{
	const struct statistics *statistics = sheet->report->statistics;

	put_heads(sheet, "domain,name," TIME_HEADS ",operation_count,gpu_ns,span_ns,open_count");
	for (size_t i = 0; i < row_count(sheet, statistics->range_count); i++) {
		const struct range_statistics *range = &statistics->ranges[i];

		put_text(sheet, range->domain);
		put_text(sheet, range->name);
		put_time(sheet, &range->time);
		put_count(sheet, range->op_count);
		put_integer(sheet, range->gpu_ns);
		put_integer(sheet, range->span_ns);
		put_count(sheet, range->open_count);
		end_row(sheet);
	}
}

/* Kernels by name, copies by direction, others by what they are. */
static const char *op_name(const struct profile *profile, const struct profile_op *op)
{
	switch (op->kind) {
	case OP_KERNEL:
		return profile->signatures[op->detail].name;
	case OP_COPY:
		return profile_copy_kind_name(profile->copies[op->detail].kind);
	case OP_MEMSET:
		return "memset";
	default:
		return "graph";
	}
}

void csv_section_gaps(struct sheet *sheet)
{
	const struct profile *profile = sheet->report->profile;
	const struct gap_analysis *gaps = sheet->report->gaps;

	fputs("device,start_ns,end_ns,duration_ns,cause,before,after", sheet->out);
	put_cause_heads(sheet);
	for (size_t i = 0; i < row_count(sheet, gaps->longest_count); i++) {
		const struct gap *gap = &gaps->longest[i];

		put_integer(sheet, profile->ops[gap->after].device);
		put_integer(sheet, gap->start_ns);
		put_integer(sheet, gap->end_ns);
		put_integer(sheet, gap->end_ns - gap->start_ns);
		put_text(sheet, gap_cause_key(gap->cause));
		put_text(sheet, op_name(profile, &profile->ops[gap->before]));
		put_text(sheet, op_name(profile, &profile->ops[gap->after]));
		put_causes(sheet, gap->by_cause_ns);
		end_row(sheet);
	}
}

void csv_section_concurrency(struct sheet *sheet)
{
	const struct timeline *timeline = sheet->report->timeline;

	put_heads(sheet, "device,operation_count,time_ns");
	for (size_t i = 0; i < timeline->device_count; i++) {
		for (int j = 0; j <= TIMELINE_MAX_CONCURRENCY; j++) {
			put_count(sheet, i);
			put_integer(sheet, j);
			put_integer(sheet, timeline->devices[i].concurrency_ns[j]);
			end_row(sheet);
		}
	}
}

void csv_section_streams(struct sheet *sheet)
{
	const struct profile *profile = sheet->report->profile;
	const struct statistics *statistics = sheet->report->statistics;

	put_heads(sheet, "process,device,context,stream,priority,is_null,operation_count,busy_ns");
	for (size_t i = 0; i < row_count(sheet, statistics->stream_count); i++) {
		const struct stream_statistics *stream = &statistics->streams[i];
		const struct profile_stream *who = &profile->streams[stream->stream];

		put_text(sheet, profile->processes[who->process].folder);
		put_integer(sheet, who->device);
		put_integer(sheet, who->context);
		put_integer(sheet, who->stream);
		put_integer(sheet, (int32_t)who->priority);
		put_integer(sheet, who->is_null);
		put_count(sheet, stream->op_count);
		put_integer(sheet, stream->busy_ns);
		end_row(sheet);
	}
}

/* Three fields, empty where nothing is predicted. */
static void put_predicted(struct sheet *sheet, const struct predicted_speedup *predicted)
{
	const double figures[] = {predicted->speedup, predicted->low, predicted->high};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (predicted->speedup > 0)
			put_real(sheet, figures[i]);
		else
			put_text(sheet, NULL);
}

static void put_check_command(struct sheet *sheet, const struct recommendation *item)
{
	char *command = check_command(sheet->report, item, sheet->options->range);

	put_text(sheet, command);
	free(command);
}

void csv_section_advice(struct sheet *sheet)
{
	bool has_commands = sheet->options->is_advice_only;
	const struct advice *advice = sheet->report->advice;

	fputs("id,strategy,title,target,at_stake_ns,at_stake_ratio,workload,speedup,low,high,"
	      "place_speedup,place_low,place_high",
	      sheet->out);
	put_heads(sheet, has_commands ? ",verify" : "");
	for (size_t i = 0; advice && i < row_count(sheet, advice->count); i++) {
		const struct recommendation *item = &advice->items[i];

		put_text(sheet, item->id);
		put_text(sheet, item->strategy);
		put_text(sheet, item->title);
		put_text(sheet, item->target);
		put_integer(sheet, item->at_stake_ns);
		put_real(sheet, item->at_stake_ratio);
		put_text(sheet, item->workload);
		put_predicted(sheet, &item->program);
		put_predicted(sheet, &item->place);
		if (has_commands)
			put_check_command(sheet, item);
		end_row(sheet);
	}
}

void csv_section_rejected(struct sheet *sheet)
{
	const struct advice *advice = sheet->report->advice;

	put_heads(sheet, "id,strategy,title,target,reason");
	for (size_t i = 0; advice && i < row_count(sheet, advice->rejection_count); i++) {
		const struct rejection *item = &advice->rejections[i];

		put_text(sheet, item->id);
		put_text(sheet, item->strategy);
		put_text(sheet, item->title);
		put_text(sheet, item->target);
		put_text(sheet, item->reason);
		end_row(sheet);
	}
}

static void put_losses(struct sheet *sheet, const struct profile *profile)
{
	for (size_t i = 0; i < row_count(sheet, profile->loss_count); i++) {
		const struct profile_loss *loss = &profile->losses[i];
		bool known = loss->process < profile->process_count;

		put_text(sheet, known ? profile->processes[loss->process].folder : NULL);
		put_text(sheet, loss->kind);
		put_count(sheet, loss->count);
		put_text(sheet, loss->detail);
		end_row(sheet);
	}
}

void csv_section_losses(struct sheet *sheet)
{
	const struct profile *profile = sheet->report->profile;

	put_heads(sheet, "process,kind,count,detail");
	put_losses(sheet, profile);
	if (profile->graph_run)
		put_losses(sheet, profile->graph_run);
}

void csv_section_not_visible(struct sheet *sheet)
{
	put_heads(sheet, "what");
	for (size_t i = 0; i < row_count(sheet, sheet->report->not_visible_count); i++) {
		put_text(sheet, sheet->report->not_visible[i]);
		end_row(sheet);
	}
}

#define SECTION_FUNCTION(name, title) csv_section_##name,
static void (*const sections[])(struct sheet *sheet) = {SECTIONS(SECTION_FUNCTION)};
#undef SECTION_FUNCTION

int output_csv(const struct report *report, FILE *out, const struct output_options *options,
	       struct err *err)
{
	struct sheet sheet = {.out = out,
			      .report = report,
			      .options = options,
			      .top = options->top};

	sections[options->section < 0 ? SECTION_kernels : options->section](&sheet);
	if (fflush(out) || ferror(out))
		return err_set(err, -EIO, "the report could not be written: %s", strerror(errno));
	return 0;
}
