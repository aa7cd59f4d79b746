#define _GNU_SOURCE

#include "fixture.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Two kernels, a copy, a memset and a graph launch of one process, in
 * nanoseconds after 1000: what happened is readable from the numbers.
 */
static const char *const tables[TRACE_TABLE_COUNT] = {
	[TRACE_TABLE_process] = "key,value\n"
				"schema,1\n"
				"collector,0.1.0\n"
				"host,host\n"
				"pid,100\n"
				"command,\"app \"\"quoted\"\", with a comma\"\n"
				"start_ns,500\n"
				"graphs,node\n"
				"rank,3\n"
				"sealed_ns,9000\n",
	[TRACE_TABLE_names] = "id,text\n"
			      "1,_Z4axpyPf\n"
			      "2,plain_kernel\n"
			      "3,cudaLaunchKernel_v7000\n"
			      "4,cuLaunchKernel\n"
			      "5,cudaMemcpyAsync_v3020\n"
			      "6,cudaDeviceSynchronize_v3020\n"
			      "7,buffer flush\n"
			      "8,outer\n"
			      "9,\"inner, \"\"quoted\"\"\"\n"
			      "10,domain\n"
			      "11,loader thread\n"
			      "12,/cache/file\n"
			      "13,dram__bytes_read.sum\n"
			      "14,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum\n",
	[TRACE_TABLE_devices] =
		"device,name,uuid,compute_major,compute_minor,sm_count,sm_clock_khz,memory_bytes,"
		"memory_byte_per_s,l2_bytes,copy_engine_count,max_warps_per_sm,max_blocks_per_sm,"
		"max_registers_per_sm,max_shared_bytes_per_sm,is_mig\n"
		"0,NVIDIA Test GPU,GPU-aa,9,0,132,1980000,150000000000,4800000000000,62914560,3,64,"
		"32,65536,233472,0\n",
	[TRACE_TABLE_contexts] = "context,device,null_stream,is_green,parent_context,sm_count\n"
				 "1,0,7,0,0,0\n",
	[TRACE_TABLE_streams] = "context,stream,priority,flag\n"
				"1,7,0,3\n"
				"1,13,4294967295,2\n",
	[TRACE_TABLE_signatures] =
		"id,name,grid_x,grid_y,grid_z,block_x,block_y,block_z,cluster_x,cluster_y,cluster_z,"
		"registers_per_thread,static_shared_bytes,dynamic_shared_bytes,"
		"local_bytes_per_thread,launch_type\n"
		"1,1,10,2,3,128,4,5,6,7,8,40,1024,2048,16,1\n"
		"2,2,1,1,1,32,1,1,0,0,0,16,0,0,0,0\n",
	[TRACE_TABLE_machine_code] =
		"name,sm,instruction_count,half_constant_count,half_conversion_count,"
		"half_arithmetic_count,dependency_wait_count,dependent_launch_count,load_count,"
		"load_before_wait_count,code\n"
		"2,90,64,1,0,0,0,2,9,0,7\n"
		"1,90,128,3,2,0,1,0,12,5,5\n"
		"1,80,96,4,0,1,0,0,3,0,18446744073709551615\n"
		"2,90,48,0,2,5,0,1,4,0,5\n", /* another kernel of that name */
	[TRACE_TABLE_modules] = "time_ns,thread,code,bytes,sm,kernel_count\n"
				"1900,100,7,800,90,2\n"
				"1800,100,5,1600,90,1\n",
	[TRACE_TABLE_kernels] = "start_ns,end_ns,signature,device,context,stream,correlation,graph,"
				"graph_node\n"
				"2000,2500,1,0,1,7,101,0,0\n"
				"3000,3700,2,0,1,13,103,5,77\n",
	[TRACE_TABLE_copies] =
		"start_ns,end_ns,kind,src_memory,dst_memory,bytes,is_async,device,context,stream,"
		"correlation,graph,graph_node,src_device,dst_device,copy_count\n"
		"4000,4400,1,2,3,4096,1,0,1,7,105,0,0,0,0,1\n",
	[TRACE_TABLE_memsets] = "start_ns,end_ns,bytes,value,memory,is_async,device,context,stream,"
				"correlation,graph,graph_node\n"
				"4500,4600,64,0,3,1,0,1,7,0,0,0\n",
	[TRACE_TABLE_graphs] =
		"start_ns,end_ns,device,context,stream,correlation,graph,launch_mode,"
		"launcher_graph\n"
		"5000,5600,0,1,13,0,9,2,5\n",
	[TRACE_TABLE_api] = "start_ns,end_ns,name,thread,correlation,result\n"
			    "1000,1500,3,100,101,0\n"
			    "1600,2000,3,100,102,0\n"
			    "1700,1900,4,100,103,0\n" /* inside the call before: dropped */
			    "2100,2400,5,200,105,1\n"
			    "2500,6000,6,100,106,0\n",
	[TRACE_TABLE_event_calls] = "correlation,kind,context,stream,event\n"
				    "101,1,1,7,4096\n"
				    "103,3,1,13,4096\n"
				    "106,2,1,4294967295,4096\n",
	[TRACE_TABLE_launch_attributes] =
		"correlation,is_dependent,has_event,has_priority,priority,is_cooperative\n"
		"105,0,1,0,0,0\n"
		"101,1,0,1,4294967293,1\n",
	[TRACE_TABLE_loads] = "correlation,kind,is_embedded\n"
			      "106,2,0\n"
			      "105,3,1\n",
	[TRACE_TABLE_managed] = "start_ns,end_ns,kind,value,address,source,destination,cause\n"
				"3300,3400,2,65536,65536,0,4294967295,2\n"
				"2100,2200,1,131072,65536,4294967295,0,2\n"
				"2050,2300,4,7,65536,0,4294967295,2\n",
	[TRACE_TABLE_allocations] =
		"time_ns,operation,memory,address,bytes,is_async,pool,device,context,stream,"
		"correlation\n"
		"2300,2,3,65536,4096,0,0,0,1,0,105\n"
		"1200,1,3,65536,4096,0,0,0,1,0,101\n"
		"1300,1,3,131072,1024,1,48,0,1,7,103\n",
	[TRACE_TABLE_arguments] = "id,address_count,parameter,offset,address\n"
				  "1,2,1,8,131088\n"
				  "1,2,0,0,65536\n",
	[TRACE_TABLE_launch_arguments] = "correlation,node,arguments,others\n"
					 "101,0,0,7\n"
					 "0,76,1,9\n",
	[TRACE_TABLE_graph_nodes] = "node,graph,kind,original\n"
				    "76,4,0,0\n"
				    "77,5,0,76\n",
	[TRACE_TABLE_graph_edges] = "node,dependency\n"
				    "77,78\n",
	[TRACE_TABLE_syncs] = "start_ns,end_ns,kind,context,stream,event,correlation\n"
			      "2600,5900,4,1,4294967295,4294967295,106\n"
			      "2550,2590,3,1,13,4294967295,106\n",
	[TRACE_TABLE_overheads] = "start_ns,end_ns,name,is_profiler,thread,correlation\n"
				  "6100,6200,7,1,0,0\n",
	[TRACE_TABLE_jit] =
		"start_ns,end_ns,device,entry,operation,cache_bytes,path,thread,correlation\n"
		"800,900,0,1,3,12345,12,100,101\n",
	[TRACE_TABLE_markers] = "time_ns,id,phase,is_thread,thread,domain,name\n"
				"950,1,1,1,100,0,8\n"
				"1100,2,1,1,100,10,9\n"
				"1200,3,0,1,100,0,8\n"
				"1300,2,2,1,100,10,0\n"
				"7000,1,2,1,100,0,0\n"
				"7100,4,1,0,200,0,9\n", /* never ends */
	[TRACE_TABLE_collectives] = "time_ns,thread,operation,communicator,bytes,peer,reduction\n"
				    "1600,100,Broadcast,66,1048576,3,4294967295\n"
				    "990,100,AllReduce,66,4096,4294967295,2\n",
	[TRACE_TABLE_communicators] = "time_ns,thread,communicator,rank,rank_count,device\n"
				      "960,100,66,1,4,0\n"
				      "970,200,67,4294967295,8,4294967295\n",
	[TRACE_TABLE_threads] = "thread,name\n"
				"200,11\n",
	[TRACE_TABLE_metrics] = "id,name,role,device,is_patched\n"
				"1,13,dram_read_bytes,0,0\n"
				"2,14,fp32_fma,0,1\n"
				"3,0,tensor_fp8_ops,0,0\n", /* not on this chip */
	[TRACE_TABLE_counted] = "id,correlation,like,device,context,pass,is_graph\n"
				"1,101,101,0,1,0,0\n"
				"2,103,103,0,1,1,1\n",
	[TRACE_TABLE_counters] = "counted,metric,value\n"
				 "1,1,4096\n"
				 "2,2,12.5\n",
	[TRACE_TABLE_sampled_metrics] = "device,role,name\n"
					"0,dispatches,gr__dispatch_count.sum\n"
					"0,sm_cycles,sm__cycles_active.sum\n"
					"0,nvlink_rx_bytes,\n", /* not on this chip */
	[TRACE_TABLE_sampled_spans] = "device,start_ns,end_ns,interval_ns\n"
				      "0,2000,4000,1000\n",
	[TRACE_TABLE_samples] =
		"start_ns,length_ns,device,sample_count,dispatches,blocks,compute_cycles,"
		"front_cycles,sm_cycles,sm_cycles_min,sm_cycles_max,sm_elapsed_cycles,"
		"tensor_cycles,dram_read_bytes,dram_write_bytes,l2_sectors,atomic_sectors,"
		"pcie_read_bytes,pcie_write_bytes,nvlink_rx_bytes,nvlink_tx_bytes\n"
		"2000,1000,0,1,1,64,800,1600,65340,495,1980,1980,13068,100,200,10,5,7,5000,0,0\n"
		"3000,1000,0,1,0,0,0,1600,0,0,0,1980,0,0,0,0,0,0,5000,0,0\n",
	[TRACE_TABLE_power] =
		"time_ns,device,sm_clock_mhz,memory_clock_mhz,power_mw,temperature_c,reasons\n"
		"3000,0,1980,2619,700500,61,4\n"
		"2000,0,1200,2619,120500,0,1\n"
		"4000,0,1500,0,400000,63,36\n",
	[TRACE_TABLE_clocks] = "realtime_ns,monotonic_raw_ns,cupti_ns\n"
			       "600,10,600\n",
	[TRACE_TABLE_losses] = "time_ns,kind,count,detail\n"
			       "8000,dropped_records,5,first\n"
			       "8100,dropped_records,7,second\n",
};

static void die(const char *path)
{
	fprintf(stderr, "fixture: %s: %s\n", path, strerror(errno));
	abort();
}

const char *fixture_table(enum trace_table table)
{
	return tables[table];
}

void fixture_create(struct fixture *fixture)
{
	const char *folder = getenv("TMPDIR");

	*fixture = (struct fixture){""};
	snprintf(fixture->path, sizeof(fixture->path), "%s/rooflinectl-test-XXXXXX",
		 folder && strlen(folder) < 32 ? folder : "/tmp");
	if (!mkdtemp(fixture->path))
		die(fixture->path);
}

void fixture_write_bytes(const struct fixture *fixture, const char *process, const char *name,
			 const void *bytes, size_t length)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fixture->path, process);
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		die(path);
	snprintf(path, sizeof(path), "%s/%s/%s", fixture->path, process, name);
	unlink(path); /* ext4 writes a file that is truncated and written anew to the disk at once, a new one later */
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
		die(path);
}

void fixture_write(const struct fixture *fixture, const char *process, const char *name,
		   const char *text)
{
	fixture_write_bytes(fixture, process, name, text, strlen(text));
}

/* The number behind the dot: two with the same one would be copies of each other. */
static void set_pid(const struct fixture *fixture, const char *process)
{
	char facts[1024];

	snprintf(facts, sizeof(facts), "%spid,%s\n", tables[TRACE_TABLE_process],
		 strchr(process, '.') + 1);
	fixture_write(fixture, process, "process.csv", facts);
}

void fixture_add_process(const struct fixture *fixture, const char *process)
{
#define FILE_NAME(table, columns) #table ".csv",
	static const char *const file_names[] = {TRACE_TABLES(FILE_NAME)};
#undef FILE_NAME

	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		if (tables[table])
			fixture_write(fixture, process, file_names[table], tables[table]);
	if (strcmp(process, FIXTURE_PROCESS) != 0)
		set_pid(fixture, process);
}

void fixture_small(struct fixture *fixture)
{
	fixture_create(fixture);
	fixture_add_process(fixture, FIXTURE_PROCESS);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
	(void)status;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void fixture_remove(struct fixture *fixture)
{
	if (nftw(fixture->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) < 0)
		die(fixture->path);
}
