/*
 * mock_cupti.h - how a test program moves the stand-in for CUPTI (libcupti_mock.so, of the files beside this).
 *
 * The collector loads the stand-in because ROOFLINE_CUPTI names it; mock_app.c finds these functions
 * in the same copy by dlsym.  What has to be decided before the program can call anything comes
 * from the environment:
 *
 *   MOCK_VERSION          what cuptiGetVersion says (130001), and of which version its records are
 *   MOCK_VERSION_UNTOLD   when set, it says nothing until somebody has subscribed
 *   MOCK_SUBSCRIBE        result of cuptiSubscribe_v2 (0)
 *   MOCK_OTHER_SUBSCRIBER  name of another subscriber that was there before and agrees to others
 *   MOCK_SUBSCRIBE_MS     what cuptiSubscribe_v2 takes (0)
 *   MOCK_NVTX_MS          what cuptiNvtxInitialize and cuptiNvtxInitialize2 take (0)
 *   MOCK_SUBSCRIBE_LOADS  a library that it then loads, so that it waits for the dynamic linker's lock
 *   MOCK_NVTX_FILE        file that gets a line for each module that uses NVTX and is handed to CUPTI
 *   MOCK_NVTX_CALLS       file that gets a line for each mark, and each push and pop of a domain, that CUPTI sees
 *   MOCK_REGISTER         result of cuptiActivityRegisterCallbacks (0)
 *   MOCK_REFUSED_KINDS    list of CUpti_ActivityKind numbers that cuptiActivityEnable refuses
 *   MOCK_GROWN_BYTES      every record is so much longer than this CUPTI's, as a future one's would be
 *   MOCK_CALLS            file that gets the name of every cupti function called, in order
 *   MOCK_COUNTERS         list of FUNCTION=RESULT, FUNCTION=RESULT@CALL or FUNCTION=RESULT@CALL-CALL: what
 *                         a function that counters or samples take returns, from that call on (1), until
 *                         the other (for good)
 *   MOCK_NO_METRICS       list of words: counters whose name has one do not exist on this chip
 *   MOCK_TWO_PASSES       the same for counters that need two passes
 *   MOCK_NAN              when set, no counter ever becomes a number
 *   MOCK_UNSAMPLED        list of words: metrics whose name has one cannot be sampled (nvlrx__,nvltx__)
 *   MOCK_DECODE_NS        what each sample takes to decode (0), or NS@CALL: from that call on
 *   MOCK_EVALUATE_US      what each sample takes to evaluate (0)
 *   MOCK_ENABLE_MS        what opening a GPU for samples takes (0), or MS@CALL
 *   MOCK_TEARDOWN_MS      what CUPTI's own exit handlers take (0); sampling that goes on then aborts
 *   MOCK_IMAGE_SAMPLES    images for more samples are refused
 *   MOCK_SAMPLED_FILE     file that gets a line for each kernel that ran while its GPU was sampled:
 *                         device,start_ns,end_ns,blocks,name,recorded|unrecorded
 *   MOCK_CAPTURE          which call begins a capture, and which ends it: a number from 0 to 5 (0: of version 2; capture_calls)
 *   MOCK_RANGES_FILE      file that gets a line for each launch that ran inside a range:
 *                         correlation,pass,name,blocks,recorded|unrecorded,run|captured
 */
#ifndef ROOFLINE_TESTS_MOCK_CUPTI_H
#define ROOFLINE_TESTS_MOCK_CUPTI_H

#include <stdbool.h>

#include <cupti.h>

/* A launch as the program makes it.  blocks is the grid; a graph counts as that many. */
struct mock_launch {
	enum mock_call {
		MOCK_PLAIN,
		MOCK_PER_THREAD, /* the stream of each thread: _ptsz */
		MOCK_EXTENDED,
		MOCK_EXTENDED_PER_THREAD,
		MOCK_EXTENDED_COOPERATIVE,
		MOCK_COOPERATIVE,
		MOCK_COOPERATIVE_PER_THREAD,
		MOCK_GRAPH,
		MOCK_GRAPH_PER_THREAD,
	} call;
	const char *name;
	unsigned long function; /* equal for equal kernels */
	unsigned int blocks;
	CUcontext context;
	uint32_t context_id;
	void **parameters, **extra; /* of the kernel */
	void (*during)(
		const struct mock_launch *launch); /* what the driver does meanwhile, or NULL */
	unsigned int busy_ms, slow_us, status;	   /* for during() */
	uint64_t run_ns;			   /* how long the kernel runs */
};

/* What ran on a GPU, for its samples. */
struct mock_kernel {
	uint32_t device;
	const char *name;
	unsigned int blocks;
	bool is_recorded; /* a record says so too */
	uint64_t start_ns, end_ns;
};

enum mock_place { MOCK_NOWHERE, MOCK_REQUEST, MOCK_COMPLETION, MOCK_CALLBACK };

/* MOCK(result, name, parameters) */
#define MOCK_FUNCTIONS(MOCK)                                                                                    \
	/* A finished record; its length follows from its kind.  Kinds that nobody enabled count too. */        \
	MOCK(void, mock_emit, (const void *record))                                                             \
	/* A record that is not finished: its buffer is withheld until mock_finish_all. */                      \
	MOCK(void, mock_begin, (const void *record))                                                            \
	MOCK(void, mock_finish_all, (void))                                                                     \
	/* True when the collector enabled the kind. */                                                         \
	MOCK(bool, mock_is_enabled, (CUpti_ActivityKind kind))                                                  \
	/* Calls the subscriber, if it asked for this callback, on entry and on exit. */                        \
	MOCK(void, mock_call, (CUpti_CallbackDomain domain, CUpti_CallbackId id))                               \
	/* A copy to the device as the driver hears of it: callbacks on entry and on exit, no record. */        \
	MOCK(void, mock_copy, (CUcontext context))                                                              \
	/* True when the collector asked for this callback. */                                                  \
	MOCK(bool, mock_calls_back, (CUpti_CallbackDomain domain, CUpti_CallbackId id))                         \
	/* A call of NVTX, with its parameters as generated_nvtx_meta.h has them. */                            \
	MOCK(void, mock_nvtx, (CUpti_CallbackId id, const void *parameters, const void *returned))              \
	/* The next time that CUPTI calls the collector there, it forks first; the child exits. */              \
	MOCK(void, mock_fork_at, (enum mock_place place))                                                       \
	/* The program registers for records itself: fresh buffers are its own, of malloc, and it frees those \
	 * that it gets.  mock_give_back undoes that; what it has then is handed to the collector. */ \
	MOCK(void, mock_take_records, (void))                                                                   \
	MOCK(void, mock_give_back, (void))                                                                      \
	/* How many kinds of activity are enabled. */                                                           \
	MOCK(int, mock_enabled_count, (void))                                                                   \
	/* Hands out every buffer, finished or not, as CUPTI may still do late in an exit. */                   \
	MOCK(void, mock_deliver_all, (void))                                                                    \
	/* Launches: driver callbacks, the record of the kernel, its counts in the range that is open. */       \
	MOCK(void, mock_launch, (const struct mock_launch *launch))                                             \
	/* This thread's stream begins or ends a capture; with a status other than 0 the call fails. */         \
	MOCK(void, mock_capture, (bool is_begin, int status))                                                   \
	MOCK(void, mock_begin_context, (CUcontext context))                                                     \
	MOCK(void, mock_end_context, (CUcontext context))                                                       \
	MOCK(void, mock_unload_module, (CUcontext context))                                                     \
	/* The driver has loaded a module; cubin is gone when it returns. */                                    \
	MOCK(void, mock_load_module, (const void *cubin, size_t size))                                          \
	/* Another call of either API: its callbacks, and what happens between them (NULL: nothing). */         \
	MOCK(void, mock_program_call,                                                                           \
	     (CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *parameters,                         \
	      int status, void (*during)(void)))                                                                \
	/* A record of this thread's call of the driver, where the collector has enabled just this call. */     \
	MOCK(void, mock_record_call, (CUpti_CallbackId id))                                                     \
	/* A callback about a resource, such as a node of a graph. */                                           \
	MOCK(void, mock_resource, (CUpti_CallbackId id, const void *descriptor))                                \
	/* A kernel that the device launches now: no record, no callback, only samples show it. */              \
	MOCK(void, mock_device_launch,                                                                          \
	     (uint32_t device, const char *name, unsigned int blocks, uint64_t busy_ns))

#define MOCK_PROTOTYPE(result, name, parameters) result name parameters;
MOCK_FUNCTIONS(MOCK_PROTOTYPE)
#undef MOCK_PROTOTYPE

#endif
