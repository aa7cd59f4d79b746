/*
 * fake.h - what the parts of the stand-in for the driver share.
 */
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../fake_driver.h"

enum { PARAMETERS_MAX = 64, NODES_MAX = 4096, AFTER_MAX = 80 };
/* What numbered kernels belong to (their programs' streams) has places of its own among streams. */
enum { LEGACY_STREAM = 1, THREAD_STREAM, NUMBERED = 4, FIRST_STREAM = 16, STREAMS_MOST = 1024 };

enum magic { IS_FUNCTION = 0x46554e43, IS_KERNEL = 0x4b45524e };

struct kind {
	const char *name;
	unsigned count;
	size_t bytes[PARAMETERS_MAX];
};

struct handle {
	enum magic magic;
	const struct kind *kind;
	int shared_max;
};

struct work {
	const struct kind *kind;
	unsigned grid[3], block[3], shared;
	unsigned char parameters[4096 + 64];
	unsigned long memory[2]; /* of a memset or a copy: which of those that had its addresses */
};

/* A kernel, a memset or a copy; or an event that is recorded or waited for. */
struct CUgraphNode_st {
	struct work work;
	CUevent event;
	unsigned long event_number; /* which of those that had the same handle */
	bool is_record;
	struct CUgraph_st *graph;
	unsigned index, after_count;
	unsigned short after[AFTER_MAX]; /* indices of nodes */
};

struct CUgraph_st {
	struct CUgraphNode_st *nodes[NODES_MAX];
	unsigned count;
	bool is_captured;
};

struct CUgraphExec_st {
	bool is_captured;
	struct work *work;
	struct CUgraphNode_st *nodes; /* as they were made, but for their work */
	unsigned count;
};

struct CUctx_st {
	int id;
	CUresult error;
	unsigned long unfinished;
};

struct CUstream_st {
	int id, priority;
	CUcontext context;
	CUgraph captured; /* NULL: it captures nothing */
};

extern struct CUstream_st fake_legacy;
extern pthread_mutex_t fake_lock;

#define SHAPE(grid_x, grid_y, grid_z) ((const unsigned[3]){grid_x, grid_y, grid_z})

void fake_mix(const void *bytes, size_t count);
void fake_log_op(const char *name, long a, long b);
bool fake_refuses(const char *what, bool is_captured);

/* The thread's context. */
CUcontext fake_current(void);
struct CUstream_st *fake_stream_of(CUstream stream);

/* Something that copies or records: an operation in the hash. */
CUresult fake_observe(const char *what, long which);

/* Something that waits or asks: none. */
CUresult fake_answer(void);

/* Waits for all that the context was given: what is captured must not be disturbed. */
CUresult fake_wait(void);
extern int fake_captures;

/* Of what must not be done while a stream is captured: it is in the hash then.  FAKE_DRIVER_DISTURBED=1: that is said on stderr, too, and
 * waiting for an event takes a while. */
void fake_disturb(void);
bool fake_tells_disturbed(void);

/* What is done before what (order.c), all under fake_lock.  An operation is given to a stream: what comes before it is known
 * then. */
bool fake_has_order(void);
bool fake_is_live(CUstream stream);
int fake_new_stream(bool is_blocking);
void fake_end_stream(int stream);
void fake_order(int stream);

/* A kernel that has a number in what it belongs to: in whatever order such kernels come, what is known to be done before each
 * is in the hash. */
void fake_order_numbered(int stream, unsigned lane, unsigned long number, uint64_t hash);
uint64_t fake_numbered(void);
bool fake_takes_turns(void); /* and packed launches take a while, as does a launch of a graph */

/* A graph is launched: each node is done behind those that it depends on, and the stream goes on behind all. */
void fake_begin_graph(int stream);
void fake_begin_node(int stream, const struct CUgraphNode_st *node);
void fake_end_node(int stream, const struct CUgraphNode_st *node);
void fake_end_graph(int stream, unsigned count);

/* An event that was destroyed must not be used.  Which of those that had its handle it is. */
void fake_use_event(CUevent event);
unsigned long fake_event_number(CUevent event);

/* It stands for nothing yet. */
void fake_new_event(CUevent event);
bool fake_is_silent(CUevent event);
void fake_record(CUevent event, int stream);
void fake_stream_waits(int stream, CUevent event);

/* The operation that was given last writes a number into memory of the host, or prints it. */
void fake_tell(int stream, int *target, int value);

/* The same for what it calls. */
void fake_call(int stream, CUhostFn function, void *data);

/* The host waits, or asks. */
void fake_wait_for_stream(int stream);
void fake_wait_for_event(CUevent event);
void fake_wait_for_all(void);
bool fake_is_done(int stream);
bool fake_event_is_done(CUevent event);

/* Pieces of copies by way of memory that the tested library registered are done as late as can be (copies.c), under fake_lock:
 * before anything else is, or when it asks for the event behind them. */
void fake_settle_pieces(void);
void fake_note_pieces(CUevent event);
void fake_settle_pieces_behind(CUevent event);
bool fake_settle_pieces_before(CUevent event); /* false: it is told that they are not done */
void fake_end_operation(void);		       /* pieces that follow belong to another copy */
bool fake_is_registered(CUdeviceptr address);
CUresult fake_registered_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address);

/* A copy between the GPU and memory of the host that is page-locked, in a graph. */
bool fake_is_pinned(CUdeviceptr address, size_t bytes);
CUresult fake_run_host_copy(const struct work *work, CUstream stream);

/* Its memory is gone. */
void fake_free_all(CUcontext context);

/* The same in each run for memory that has a name: that and what lies before it; else the address. */
uint64_t fake_address(uint64_t address);

const struct handle *fake_handle_of(const void *handle);
CUresult fake_fill_work(struct work *work, const struct handle *handle, const unsigned grid[3],
			const unsigned block[3], unsigned shared, void **parameters, void **extra);
CUresult fake_run(const struct work *work, CUstream stream);

/* Runs it, or adds it to what the stream captures. */
CUresult fake_give(const struct work *work, CUstream stream);

/* Work of memory; they fail where it is not all in memory that was allocated. */
CUresult fake_fill_set(struct work *work, CUdeviceptr address, unsigned value, unsigned element,
		       size_t count);
CUresult fake_fill_copy(struct work *work, CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult fake_fill_host_copy(struct work *work, CUdeviceptr to, CUdeviceptr from, size_t bytes,
			     bool is_to_host);
bool fake_is_allocated(CUdeviceptr address, size_t bytes);

/* Which of the allocations that had this address it is; 0: none has it now. */
unsigned long fake_memory_number(uint64_t address);

CUgraphNode fake_add_node(CUgraph graph, const struct work *work);

/* All kernels get their handles. */
void fake_make_kernels(void);

#endif
