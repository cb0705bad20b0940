/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Declarations of CUPTI, NVIDIA's library for profilers: functions, values, and the beginnings of its activity records.
 * From cupti_activity.h, cupti_callbacks.h, cupti_result.h and cupti_version.h of CUDA 11.8 to 13.5;
 * scripts/check-cupti compares them.  Without a driver cuptiGetVersion() and cuptiGetTimestamp() work up to 13.1; 13.2 crashes in its
 * first call, later ones return CUPTI_UNKNOWN. */
#ifndef AGENT_GPUTIME_CUPTI_H
#define AGENT_GPUTIME_CUPTI_H
#include <stddef.h>
#include <stdint.h>

/* Of cuptiGetVersion().  CUDA 12.0 and 12.1 have 11.8's number.  13.0 began with xxyyzz: CUDA xx.yy, update zz of CUPTI. */
enum cupti_version {
	CUPTI_11_8 = 18, CUPTI_12_5 = 23, CUPTI_12_8 = 26, CUPTI_12_9 = 28, CUPTI_13_0 = 130000, CUPTI_13_3 = 130300, CUPTI_13_5 = 130500,
	CUPTI_OLDEST = CUPTI_11_8,		/* of those compared, … */
	CUPTI_NEWEST = CUPTI_13_5 + 99,		/* … with any update of the last */
};

/* CUptiResult */
enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_BAD_PARAMETER = 1,
	CUPTI_BAD_OPERATION = 7,		/* such as a flush without callbacks */
	CUPTI_NO_MEMORY = 8,
	CUPTI_TOO_SMALL = 10,			/* PARAMETER_SIZE_NOT_SUFFICIENT */
	CUPTI_NO_MORE = 12,			/* MAX_LIMIT_REACHED: the buffer's records end */
	CUPTI_NOT_COMPATIBLE = 14,		/* an activity excludes another */
	CUPTI_NOT_INITIALIZED = 15,		/* before 13.0 also: there is no driver */
	CUPTI_BAD_KIND = 21,			/* of an activity; of a record: incomplete or invalid */
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_VIRTUALIZED = 33,			/* the GPU is, and cannot be profiled */
	CUPTI_NO_PRIVILEGES = 35,		/* NVreg_RestrictProfilingToAdminUsers */
	CUPTI_OTHER_SUBSCRIBER = 39,		/* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
	CUPTI_VIRTUALIZED_NO_PRIVILEGES = 40,
	CUPTI_CONFIDENTIAL = 41,		/* confidential computing: 41 to 45 are GPUs that cannot be profiled */
	CUPTI_WSL = 45,
	CUPTI_UNKNOWN = 999,			/* from 13.0 also: there is no driver */
};

/* CUpti_ActivityKind.  KERNEL serializes kernels, CONCURRENT_KERNEL does not; the records are the same. */
enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1, CUPTI_KIND_MEMSET = 2, CUPTI_KIND_KERNEL = 3, CUPTI_KIND_DRIVER = 4, CUPTI_KIND_RUNTIME = 5 /* calls */,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_OVERHEAD = 17, CUPTI_KIND_MEMCPY2 = 22 /* between devices */, CUPTI_KIND_GRAPH_TRACE = 51,
	CUPTI_KIND_DEVICE_GRAPH_TRACE = 53,
};

/* CUpti_ActivityMemcpyKind: host, device, array, peer */
enum cupti_copy_kind {
	CUPTI_COPY_UNKNOWN, CUPTI_COPY_HTOD, CUPTI_COPY_DTOH, CUPTI_COPY_HTOA, CUPTI_COPY_ATOH, CUPTI_COPY_ATOA,
	CUPTI_COPY_ATOD, CUPTI_COPY_DTOA, CUPTI_COPY_DTOD, CUPTI_COPY_HTOH, CUPTI_COPY_PTOP,
};

/* CUpti_ActivityMemoryKind */
enum cupti_memory { CUPTI_MEMORY_UNKNOWN, CUPTI_MEMORY_PAGEABLE, CUPTI_MEMORY_PINNED, CUPTI_MEMORY_DEVICE, CUPTI_MEMORY_ARRAY,
	CUPTI_MEMORY_MANAGED, CUPTI_MEMORY_DEVICE_STATIC, CUPTI_MEMORY_MANAGED_STATIC };

/* CUpti_ActivityOverheadKind */
enum cupti_overhead_kind {
	CUPTI_OVERHEAD_UNKNOWN = 0,
	CUPTI_OVERHEAD_COMPILER = 1,
	CUPTI_OVERHEAD_FLUSH = 1 << 16,
	CUPTI_OVERHEAD_INSTRUMENTATION = 2 << 16,
	CUPTI_OVERHEAD_RESOURCE = 3 << 16,
	/* from 12.3, 12.4 and 12.6 on: */
	CUPTI_OVERHEAD_MODULE_LOADING = 4 << 16,
	CUPTI_OVERHEAD_FUNCTION_LOADING = 5 << 16,
	CUPTI_OVERHEAD_COMMAND_BUFFER_FULL = 6 << 16,
	CUPTI_OVERHEAD_BUFFER_REQUEST = 7 << 16,
};

enum { CUPTI_FLUSH_FORCED = 1 };		/* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */

/* CUpti_ActivityAttribute: a size_t each.  Memory for a context's records: a buffer's size, and how many it may have, of 250. */
enum cupti_attribute { CUPTI_DEVICE_BUFFER_SIZE = 0, CUPTI_DEVICE_BUFFERS = 2 };

/* The beginnings of records that all these versions have in common; CUPTI's go on.  cuptiActivityGetNextRecord() knows
 * their sizes.  Times: ns, by default of CLOCK_REALTIME; start and end are both 0 if they could not be measured.
 * graph_node, graph: 0 outside graphs. */
struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t global_cache_requested, global_cache_executed;
	uint64_t start, end;
	uint64_t completed;			/* with child kernels, or 0: unknown */
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;			/* mangled; CUPTI's, which stays until it is unloaded */
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_is_requested, carveout_requested, padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
};

struct cupti_copy {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;	/* enum cupti_copy_kind, enum cupti_memory; flags 1: asynchronous */
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel;
};

struct cupti_peer_copy {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t from_device, from_context, to_device, to_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel;
};

struct cupti_set {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel;
};

/* A launch of a graph; device, context and stream where it began. */
struct cupti_graph_trace {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
};

/* A call of the runtime or the driver. */
struct cupti_call {
	uint32_t kind;
	uint32_t function;			/* CUpti_runtime_api_trace_cbid, CUpti_driver_api_trace_cbid */
	uint64_t start, end;
	uint32_t process, thread;		/* see enum cupti_thread */
	uint32_t correlation;			/* also of the records of what it began */
	uint32_t result;
};

/* CUpti_ActivityThreadIdType: pthread_self(), or gettid() */
enum cupti_thread { CUPTI_THREAD_DEFAULT = 0, CUPTI_THREAD_SYSTEM = 1 };

/* The functions that launch kernels and graphs, and those that copy and set, with some others between them:
 * EACH(kind, LAUNCHES or COPIES, first, last). */
#define CUPTI_CALLS(EACH) \
	EACH(RUNTIME, LAUNCHES, 13, 13) EACH(RUNTIME, LAUNCHES, 211, 214) EACH(RUNTIME, LAUNCHES, 269, 272) \
	EACH(RUNTIME, LAUNCHES, 311, 312) EACH(RUNTIME, LAUNCHES, 430, 431) EACH(RUNTIME, LAUNCHES, 505, 506) \
	EACH(DRIVER, LAUNCHES, 115, 117) EACH(DRIVER, LAUNCHES, 307, 307) EACH(DRIVER, LAUNCHES, 442, 442) \
	EACH(DRIVER, LAUNCHES, 477, 480) EACH(DRIVER, LAUNCHES, 514, 515) EACH(DRIVER, LAUNCHES, 652, 653) EACH(DRIVER, LAUNCHES, 819, 819) \
	EACH(RUNTIME, COPIES, 31, 52) EACH(RUNTIME, COPIES, 142, 145) EACH(RUNTIME, COPIES, 160, 163) \
	EACH(RUNTIME, COPIES, 215, 246) EACH(RUNTIME, COPIES, 249, 250) EACH(RUNTIME, COPIES, 482, 485) \
	EACH(RUNTIME, COPIES, 509, 512) EACH(RUNTIME, COPIES, 554, 557) \
	EACH(DRIVER, COPIES, 43, 81) EACH(DRIVER, COPIES, 216, 226) EACH(DRIVER, COPIES, 248, 254) EACH(DRIVER, COPIES, 276, 293) \
	EACH(DRIVER, COPIES, 305, 306) EACH(DRIVER, COPIES, 318, 321) EACH(DRIVER, COPIES, 397, 433) EACH(DRIVER, COPIES, 776, 779) \
	EACH(DRIVER, COPIES, 796, 799) EACH(DRIVER, COPIES, 837, 840)

struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead;			/* enum cupti_overhead_kind */
	uint32_t object_kind;			/* CUpti_ActivityObjectKind: 2: object holds a process and a thread */
	uint32_t object[3];
	uint64_t start, end;
};

/* Sizes of the whole records: ROW(CUDA from which on they are so, * 100; kernel, copy, peer copy, set, graph, overhead). */
#define CUPTI_SIZES(ROW) \
	ROW(1108, 200, 88, 96, 88, 48, 40) \
	ROW(1200, 208, 88, 96, 88, 48, 40) \
	ROW(1203, 208, 88, 96, 88, 56, 48) \
	ROW(1204, 208, 88, 96, 88, 56, 56) \
	ROW(1208, 208, 96, 96, 88, 56, 56) \
	ROW(1300, 216, 96, 96, 88, 56, 56) \
	ROW(1301, 224, 96, 96, 88, 56, 56) \
	ROW(1303, 232, 96, 96, 88, 56, 56) \
	ROW(1304, 248, 112, 96, 104, 56, 56)

/* May leave *buffer NULL: then records are dropped, and counted.  *max: records in the buffer, 0: as many as fit. */
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max);
/* The buffer is the callee's again.  No function that flushes may be called in here. */
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
typedef void cupti_callback(void *arg, uint32_t domain, uint32_t function, const void *data);
typedef uint64_t cupti_clock(void);

/* EACH(name, CUDA since which it exists * 100, parameters); all return an enum cupti_result.
 *
 * cuptiActivityFlushAll(0) delivers buffers all of whose records are complete, with CUPTI_FLUSH_FORCED all buffers.
 * cuptiActivityFlushPeriod(), in ms, makes a thread of CUPTI deliver buffers that are full and complete; 0: when CUPTI likes.
 * cuptiActivityGetNumDroppedRecords() counts since its last call (context NULL, stream 0).
 * cuptiActivityGetNextRecord(): *record is NULL at first, then the last one. */
#define CUPTI_FUNCTIONS(EACH) \
	EACH(cuptiGetVersion, 1108, (uint32_t *version)) \
	EACH(cuptiGetTimestamp, 1108, (uint64_t *ns)) \
	EACH(cuptiGetResultString, 1108, (enum cupti_result result, const char **text)) \
	EACH(cuptiSubscribe, 1108, (void **subscriber, cupti_callback *callback, void *arg)) \
	EACH(cuptiUnsubscribe, 1108, (void *subscriber)) \
	EACH(cuptiFinalize, 1108, (void)) \
	EACH(cuptiActivityRegisterCallbacks, 1108, (cupti_buffer_requested *requested, cupti_buffer_completed *completed)) \
	EACH(cuptiActivityRegisterTimestampCallback, 1108, (cupti_clock *clock)) \
	EACH(cuptiActivitySetAttribute, 1108, (enum cupti_attribute attribute, size_t *size, void *value)) \
	EACH(cuptiActivityEnable, 1108, (enum cupti_kind kind)) \
	EACH(cuptiActivityDisable, 1108, (enum cupti_kind kind)) \
	EACH(cuptiActivityFlushAll, 1108, (uint32_t flags)) \
	EACH(cuptiActivityFlushPeriod, 1108, (uint32_t ms)) \
	EACH(cuptiActivityGetNextRecord, 1108, (uint8_t *buffer, size_t valid, struct cupti_record **record)) \
	EACH(cuptiActivityGetNumDroppedRecords, 1108, (void *context, uint32_t stream, size_t *dropped)) \
	EACH(cuptiSetThreadIdType, 1108, (enum cupti_thread type)) \
	EACH(cuptiActivityEnableRuntimeApi, 1205, (uint32_t function, uint8_t enable)) /* instead of the kind */ \
	EACH(cuptiActivityEnableDriverApi, 1205, (uint32_t function, uint8_t enable)) \
	EACH(cuptiActivityEnableHWTrace, 1208, (uint8_t enable))	/* Blackwell and later; cannot be disabled */

/* cuptiGetVersion_fn is the type of cuptiGetVersion(), and so on. */
#define CUPTI_TYPE(name, since, params) typedef enum cupti_result name##_fn params;
CUPTI_FUNCTIONS(CUPTI_TYPE)
#undef CUPTI_TYPE

#endif
