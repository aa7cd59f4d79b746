/*
 * workloads.h - every bundled workload, once.
 *
 * To add one: write workloads/foo.cu (which ends in RUN_WORKLOAD), its page
 * docs/workloads/foo.md, and add its row here.  The programs take id and summary
 * from the row; `rooflinectl workloads` lists the rows.  No CUDA in this header.
 */
#ifndef ROOFLINE_WORKLOADS_H
#define ROOFLINE_WORKLOADS_H

/* WORKLOAD(name, id, technique, control, summary), those of one technique together, by id.
 * control is 1 where the right advice is to leave the naive variant as it is. */
#define WORKLOADS(WORKLOAD)                                                         \
	WORKLOAD(work_queue, "A4", "work queues and atomics", 0,                    \
		 "equal shares of unequal items: a few blocks hold the heavy ones") \
	WORKLOAD(work_queue_mild, "A5", "work queues and atomics", 1,               \
		 "unequal items, but every block holds the same mix")               \
	WORKLOAD(graph_chain, "B1", "CUDA graphs", 0,                               \
		 "three short kernels in a row, over and over")                     \
	WORKLOAD(dynamic_parallelism, "C6", "decisions on the device", 0,           \
		 "a parent kernel and the two kernels that follow from it")

#endif
