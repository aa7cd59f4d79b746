/* csv_roofline.c - rooflines, atomics and counters as tables; a field that is not known is empty. */
#include "output/csv_values.h"
#include "output/points.h"

#include "analysis/counters/atomics.h"

static void put_known(struct sheet *sheet, double value, bool is_known)
{
	if (is_known)
		put_real(sheet, value);
	else
		put_text(sheet, NULL);
}

/* ---- points ---- */

#define POINT_HEADS "kind,name,process,graph,launch_count,timed_count,time_ns"

static void put_point_head(struct sheet *sheet, const struct roofline_point *point)
{
	enum point_kind kind = point_kind(sheet->report, point);

	put_text(sheet, point_kind_key(kind));
	put_text(sheet, point->name);
	if (kind == POINT_GRAPH) {
		const struct profile_counted_graph *graph = point_graph(sheet->report, point);

		put_text(sheet, sheet->report->profile->processes[graph->process].folder);
		put_integer(sheet, graph->graph);
	} else {
		put_text(sheet, NULL);
		put_text(sheet, NULL);
	}
	put_count(sheet, point->launch_count);
	put_count(sheet, point->timed_count);
	put_real(sheet, point->time_ns);
}

static void put_quantity_heads(struct sheet *sheet)
{
	for (int i = 0; i < ROOF_COUNT; i++) {
		const char *key = roofline_roof_key((enum roofline_roof)i);

		fprintf(sheet->out, ",%s_state,%s_per_launch,%s_per_s,%s_share", key, key, key,
			key);
	}
	for (int i = 0; i < ROOF_MEMORY_END; i++)
		fprintf(sheet->out, ",%s_intensity", roofline_roof_key((enum roofline_roof)i));
	fputc('\n', sheet->out);
}

static void put_quantities(struct sheet *sheet, const struct roofline_point *point)
{
	for (int i = 0; i < ROOF_COUNT; i++) {
		const struct roofline_quantity *quantity = &point->quantities[i];
		bool is_known = quantity->state == ROOFLINE_KNOWN;

		put_text(sheet, roofline_state_key(quantity->state));
		put_known(sheet, quantity->per_launch, is_known);
		put_known(sheet, quantity->per_s, is_known && point->time_ns > 0);
		put_known(sheet, quantity->share, quantity->share > 0);
	}
	for (int i = 0; i < ROOF_MEMORY_END; i++)
		put_known(sheet, point->intensity[i],
			  point->has_flops && point->quantities[i].total > 0);
}

static void put_roofline_point(struct sheet *sheet, const struct roofline_point *point)
{
	bool is_bound = point->binding != ROOF_NONE;

	put_point_head(sheet, point);
	put_count(sheet, point->least_sample_count);
	put_count(sheet, point->most_sample_count);
	put_known(sheet, point->covered_share, point->is_counted);
	put_known(sheet, point->flops, point->has_flops);
	put_known(sheet, point->flop_per_s, point->has_flops && point->time_ns > 0);
	put_text(sheet, is_bound ? roofline_roof_key(point->binding) : NULL);
	put_known(sheet, point->binding_share, is_bound);
	put_integer(sheet, point->is_wrong);
	put_text(sheet, roofline_regime_key(point->regime));
	put_quantities(sheet, point);
	end_row(sheet);
}

static void put_points(struct sheet *sheet,
		       void (*put)(struct sheet *sheet, const struct roofline_point *point))
{
	const struct roofline_point *point;

	for (size_t i = 0; (point = point_at(sheet->report, i)); i++)
		if (!sheet->top || i < sheet->top)
			put(sheet, point);
}

void csv_section_roofline(struct sheet *sheet)
{
	fputs(POINT_HEADS ",least_sample_count,most_sample_count,covered_share,flops,flop_per_s,"
			  "binding,binding_share,is_wrong,regime",
	      sheet->out);
	put_quantity_heads(sheet);
	put_points(sheet, put_roofline_point);
}

static void put_launch_point(struct sheet *sheet, const struct roofline_point *point)
{
	const struct roofline_launch *launch = &point->launch;
	bool is_known = launch->launch_count > 0, has_roof = launch->roof_period_ns > 0;

	put_point_head(sheet, point);
	put_count(sheet, launch->launch_count);
	put_known(sheet, launch->duration_ns, point->time_ns > 0);
	put_known(sheet, launch->idle_ns, is_known);
	put_known(sheet, launch->launch_idle_ns, is_known);
	put_known(sheet, launch->busy_share, is_known);
	put_known(sheet, launch->roof_period_ns, has_roof);
	put_known(sheet, launch->roof_share, has_roof);
	put_known(sheet, launch->achieved_share, launch->achieved_share > 0);
	put_known(sheet, launch->lost_ns, is_known);
	put_known(sheet, launch->launch_lost_ns, is_known);
	put_known(sheet, launch->flop_per_s, is_known && point->has_flops);
	put_known(sheet, launch->dram_byte_per_s,
		  is_known && point->quantities[ROOF_dram].state == ROOFLINE_KNOWN);
	put_text(sheet, roofline_regime_key(point->regime));
	end_row(sheet);
}

void csv_section_launch_roofline(struct sheet *sheet)
{
	put_heads(sheet, POINT_HEADS
		  ",looked_at_count,duration_ns,idle_ns,launch_idle_ns,busy_share,roof_period_ns,"
		  "roof_share,achieved_share,lost_ns,launch_lost_ns,flop_per_s,dram_byte_per_s,"
		  "regime");
	put_points(sheet, put_launch_point);
}

/* ---- atomics ---- */

static void put_atomics_of(struct sheet *sheet, const struct atomics_kernel *kernel)
{
	const double numbers[] = {kernel->duration_ns,
				  kernel->global_instructions,
				  kernel->shared_instructions,
				  kernel->requests,
				  kernel->sectors,
				  kernel->sectors_per_request,
				  kernel->requests_per_instruction,
				  kernel->cas_share,
				  kernel->unit_share,
				  kernel->hottest_share,
				  kernel->slice_ratio,
				  kernel->busy_slices,
				  kernel->explained_ns,
				  kernel->ceiling_ns,
				  kernel->other_ns};

	put_text(sheet, kernel->name);
	put_count(sheet, kernel->launch_count);
	put_real(sheet, kernel->time_ns);
	put_count(sheet, kernel->least_sample_count);
	put_count(sheet, kernel->most_sample_count);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		put_known(sheet, numbers[i], numbers[i] >= 0);
	if (kernel->batch)
		put_count(sheet, kernel->batch);
	else
		put_text(sheet, NULL);
	put_integer(sheet, kernel->is_bottleneck);
	end_row(sheet);
}

void csv_section_atomics(struct sheet *sheet)
{
	const struct atomics *atomics = sheet->report->atomics;

	put_heads(sheet,
		  "name,launch_count,time_ns,least_sample_count,most_sample_count,duration_ns,"
		  "global_instructions,shared_instructions,requests,sectors,sectors_per_request,"
		  "requests_per_instruction,cas_share,unit_share,hottest_share,slice_ratio,"
		  "busy_slices,explained_ns,ceiling_ns,other_ns,batch,is_bottleneck");
	for (size_t i = 0; i < row_count(sheet, atomics->kernel_count); i++)
		put_atomics_of(sheet, &atomics->kernels[i]);
}

/* ---- counters ---- */

static void put_counted_graph(struct sheet *sheet, const struct profile_counted_graph *graph)
{
	put_text(sheet, NULL);
	put_text(sheet, sheet->report->profile->processes[graph->process].folder);
	put_integer(sheet, graph->graph);
	for (int i = 0; i < 6; i++)
		put_text(sheet, NULL);
}

static void put_counted_signature(struct sheet *sheet, const struct profile_signature *signature)
{
	put_text(sheet, signature->name);
	put_text(sheet, NULL);
	put_text(sheet, NULL);
	put_dimensions(sheet, signature->grid);
	put_dimensions(sheet, signature->block);
}

void csv_section_counters(struct sheet *sheet)
{
#define ROLE_KEY(role, set, meaning) #role,
	static const char *const roles[] = {METRICS(ROLE_KEY)};
#undef ROLE_KEY
	const struct profile *profile = sheet->report->profile;

	put_heads(sheet, "name,process,graph,grid_x,grid_y,grid_z,block_x,block_y,block_z,role,"
			 "metric,sample_count,mean,min,max");
	for (size_t i = 0; i < row_count(sheet, profile->counter_count); i++) {
		const struct profile_counter *counter = &profile->counters[i];
		const struct profile_metric *metric = &profile->metrics[counter->metric];

		if (counter->is_graph)
			put_counted_graph(sheet, &profile->counted_graphs[counter->subject]);
		else
			put_counted_signature(sheet, &profile->signatures[counter->subject]);
		put_text(sheet, metric->role < METRIC_ROLE_COUNT ? roles[metric->role] : NULL);
		put_text(sheet, metric->name);
		put_count(sheet, counter->sample_count);
		put_real(sheet, counter->mean);
		put_real(sheet, counter->min);
		put_real(sheet, counter->max);
		end_row(sheet);
	}
}
