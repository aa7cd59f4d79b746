/* csv_sampled.c - what samples of the whole GPU show. */
#include "output/csv_values.h"

static void put_sampling(struct sheet *sheet, size_t number)
{
	const struct sm_activity_device *row = &sheet->report->sm_activity->devices[number];

	put_integer(sheet, (int64_t)number);
	put_text(sheet, sheet->report->profile->devices[number].name);
	put_count(sheet, row->interval_ns);
	put_count(sheet, row->sample_count);
	put_count(sheet, row->window_count);
	put_integer(sheet, row->sampled_ns);
	put_integer(sheet, row->has_sms);
	put_integer(sheet, row->traced_ns);
	put_integer(sheet, row->active_ns);
	put_integer(sheet, row->both_ns);
	put_integer(sheet, row->neither_ns);
	for (int i = 0; i < SM_DIFFERENCE_COUNT; i++)
		put_integer(sheet, row->difference_ns[i]);
	put_real(sheet, row->mean_sms);
	put_real(sheet, row->mean_active_sms);
	put_real(sheet, row->dram_bytes);
	put_real(sheet, row->l2_bytes);
	put_real(sheet, row->atomic_bytes);
	put_real(sheet, row->pcie_read_bytes);
	put_real(sheet, row->pcie_write_bytes);
	put_real(sheet, row->nvlink_rx_bytes);
	put_real(sheet, row->nvlink_tx_bytes);
	put_real(sheet, row->pcie_own_bytes);
	end_row(sheet);
}

void csv_section_sampling(struct sheet *sheet)
{
	const struct sm_activity *activity = sheet->report->sm_activity;

	fputs("device,name,interval_ns,sample_count,window_count,sampled_ns,has_sms,traced_ns,"
	      "active_ns,both_ns,neither_ns",
	      sheet->out);
	for (int i = 0; i < SM_DIFFERENCE_COUNT; i++)
		fprintf(sheet->out, ",%s_ns", sm_difference_key(i));
	put_heads(
		sheet,
		",mean_sms,mean_active_sms,dram_bytes,l2_bytes,atomic_bytes,"
		"pcie_read_bytes,pcie_write_bytes,nvlink_rx_bytes,nvlink_tx_bytes,pcie_own_bytes");
	for (size_t i = 0; i < row_count(sheet, activity->device_count); i++)
		if (activity->devices[i].sampled_ns)
			put_sampling(sheet, i);
}

void csv_section_sm_activity(struct sheet *sheet)
{
	const struct sm_activity *activity = sheet->report->sm_activity;

	put_heads(sheet, "name,launch_count,span_ns,sms,least_sm,busiest_sm,tail_ns,tensor,"
			 "dram_byte_per_s");
	for (size_t i = 0; i < row_count(sheet, activity->kernel_count); i++) {
		const struct sm_activity_kernel *row = &activity->kernels[i];

		put_text(sheet, sheet->report->profile->kernel_names[row->kernel]);
		put_count(sheet, row->launch_count);
		put_integer(sheet, row->span_ns);
		put_real(sheet, row->sms);
		put_real(sheet, row->least_sm);
		put_real(sheet, row->busiest_sm);
		put_integer(sheet, row->tail_ns);
		put_real(sheet, row->tensor);
		put_real(sheet, row->dram_byte_per_s);
		end_row(sheet);
	}
}

void csv_section_device_work(struct sheet *sheet)
{
	const struct device_work *work = sheet->report->device_work;

	put_heads(sheet, "kernel,process,graph,is_inside,launch_count,dispatch_count,block_count,"
			 "dram_bytes,span_ns,own_ns,quiet_ns," TIME_HEADS);
	for (size_t i = 0; i < row_count(sheet, work->launcher_count); i++) {
		const struct launcher *row = &work->launchers[i];

		put_text(sheet, row->kernel == PROFILE_NONE
					? NULL
					: sheet->report->profile->kernel_names[row->kernel]);
		put_text(sheet, row->is_graph
					? sheet->report->profile->processes[row->process].folder
					: NULL);
		put_integer(sheet, row->graph);
		put_integer(sheet, row->is_inside);
		put_count(sheet, row->launch_count);
		put_count(sheet, row->dispatch_count);
		put_count(sheet, row->block_count);
		put_real(sheet, row->dram_bytes);
		put_integer(sheet, row->span_ns);
		put_integer(sheet, row->own_ns);
		put_integer(sheet, row->quiet_ns);
		put_time(sheet, &row->time);
		end_row(sheet);
	}
}

/* In order of time: programs can sort. */
void csv_section_bursts(struct sheet *sheet)
{
	const struct device_work *work = sheet->report->device_work;

	put_heads(sheet, "device,start_ns,end_ns,dispatch_count,block_count,dram_bytes,"
			 "is_inside,is_beside,op_start_ns,op_end_ns");
	for (size_t i = 0; i < row_count(sheet, work->burst_count); i++) {
		const struct burst *row = &work->bursts[i];
		const struct profile_op *op =
			row->op == PROFILE_NONE ? NULL : &sheet->report->profile->ops[row->op];

		put_integer(sheet, row->device);
		put_integer(sheet, row->start_ns);
		put_integer(sheet, row->end_ns);
		put_count(sheet, row->dispatch_count);
		put_count(sheet, row->block_count);
		put_real(sheet, row->dram_bytes);
		put_integer(sheet, row->is_inside);
		put_integer(sheet, row->is_beside);
		put_integer(sheet, op ? op->start_ns : 0);
		put_integer(sheet, op ? op->end_ns : 0);
		end_row(sheet);
	}
}
