/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The CUDA functions that the tools know.  The rows are in cuda_api.tbl, which describes their
 * format, and the roles of the arguments in cuda_roles.tbl; scripts/gen_api.awk turns each symbol
 * into CUDA_API(name, lib, class, initialisers of struct cuda_args). */
#ifndef API_CUDA_API_H
#define API_CUDA_API_H
#include "cuda_roles.def"

/* CUDA_USDT: a probe that a library above CUDA has, see abi/usdt.h; CUDA_LIB: a function of such a library.  These, NCCL and NVRTC
 * are of no layer. */
enum cuda_lib { CUDA_RT, CUDA_DRV, CUDA_LIB_MAX, CUDA_USDT, CUDA_NCCL, CUDA_NVRTC, CUDA_LIB, CUDA_LIBS };

enum cuda_class {
	CUDA_ALLOC,	/* makes memory, or a handle that holds memory */
	CUDA_FREE,
	CUDA_MAP,	/* cuMemMap: memory of a VMM handle at an address; with an ipc argument: makes a handle for other processes */
	CUDA_UNMAP,
	CUDA_RESET,	/* frees all memory of a context or device */
	CUDA_CTX,	/* changes the calling thread's device or context */
	CUDA_STREAM,	/* makes a stream */
	CUDA_POOLS,	/* makes, returns or destroys a memory pool */
	CUDA_COPY,
	CUDA_SET,	/* memset */
	CUDA_PREFETCH,	/* says where managed memory is to be, or discards it: it copies what is not there */
	CUDA_LAUNCH,
	CUDA_SYNC,
	CUDA_NAME,	/* identifies the kernel behind a handle or host stub */
	CUDA_WAIT,	/* of no other class, but may wait for the GPU */
	CUDA_GRAPH,	/* makes, changes or destroys a graph: see enum cuda_op */
	CUDA_EVENT,	/* may make a stream take part in a capture: the same */
	CUDA_QUERY,	/* asks whether work is complete: that of a stream, or before an event */
	CUDA_OPERATION,	/* of NCCL, by all ranks of a communicator or between two */
	CUDA_COMM,	/* makes a communicator of NCCL, or ends one: CUDA_DESTROY */
	CUDA_GROUP,	/* begins or ends a group of NCCL's operations: CUDA_BEGIN, CUDA_END */
	CUDA_ASK,	/* asks about a communicator */
	CUDA_LOAD,	/* loads, compiles or links code */
	CUDA_LIMIT,	/* sets a limit on the memory that the driver takes for kernels */
	CUDA_HANDLE,	/* of no other class, but makes or destroys a handle */
	CUDA_CLASS_MAX
};

/* The classes that show whose device is which: probed whatever is traced. */
#define CUDA_DEVICE_CLASSES (1u << CUDA_CTX | 1u << CUDA_STREAM | 1u << CUDA_POOLS | 1u << CUDA_RESET | 1u << CUDA_WAIT)

/* The classes that show what a graph runs. */
#define CUDA_GRAPH_CLASSES (1u << CUDA_GRAPH | 1u << CUDA_EVENT)

/* The kind of memory that an allocation makes and a free takes; or of handle, from CUDA_CODE on. */
enum cuda_memory {
	CUDA_MEM_NONE, CUDA_DEVICE, CUDA_MANAGED, CUDA_HOST, CUDA_ARRAY, CUDA_POOL, CUDA_VMM,
	CUDA_IPC,
	CUDA_TENSOR,	/* of a library's allocator: a part of memory of another kind */
	CUDA_CODE,	/* an image of code: the memory that it takes is not known */
	CUDA_STREAM_HANDLE, CUDA_EVENT_HANDLE, CUDA_GRAPH_HANDLE, CUDA_EXEC_HANDLE, CUDA_CONTEXT_HANDLE, CUDA_TEXTURE_HANDLE,
	CUDA_SURFACE_HANDLE, CUDA_MEMPOOL_HANDLE,
	/* of libraries above CUDA: */
	CUDA_CUBLAS_HANDLE, CUDA_CUDNN_HANDLE, CUDA_CUSOLVER_HANDLE, CUDA_CUSPARSE_HANDLE,
	CUDA_MEMORY_MAX
};

/* How to compute the bytes of a call from its arguments. */
enum cuda_shape {
	CUDA_BYTES,	/* size */
	CUDA_FIELD,	/* the 64-bit word at byte size_at of the struct that size points to */
	CUDA_PITCH,	/* *pitch after the call × height */
	CUDA_PITCHED,	/* ptr is a cudaPitchedPtr *: its pitch × extent's height × depth */
	CUDA_RT_ARRAY,	/* desc is a cudaChannelFormatDesc *, and width, height or extent, levels */
	CUDA_DRV_ARRAY,	/* desc is a CUDA_ARRAY_DESCRIPTOR * */
	CUDA_DRV_ARRAY3D, /* desc is a CUDA_ARRAY3D_DESCRIPTOR *, and levels */
	CUDA_RECT,	/* width × height: 2D copies and memsets, in bytes × elem */
	CUDA_EXTENT,	/* extent: width × height × depth */
	CUDA_PARAMS,	/* a struct that params points to: its 64-bit words width, height, depth at
			 * byte size_at.  With count: an array of count structs of elem bytes.
			 * The runtime's width is in elements if an array is involved. */
	CUDA_PARAMS2D,	/* the same with width and height only */
	CUDA_SIZES,	/* the sum of the count 64-bit words that size points to */
};

enum cuda_direction { CUDA_BY_KIND, CUDA_HTOD, CUDA_DTOH, CUDA_DTOD, CUDA_HTOH, CUDA_PTOP,
		      CUDA_DEFAULT };

/* Effect of a CUDA_CTX call on the context stack. */
enum cuda_stack {
	CUDA_REPLACE,	/* it becomes the current one; the null context pops */
	CUDA_PUSH,	/* it goes on the thread's stack of contexts */
	CUDA_POP,
	CUDA_KEEP,	/* the current one stays: it is a device's primary context, or a part of one */
	CUDA_GONE,	/* the same, and it is destroyed */
};

/* Effect of a call of CUDA_GRAPH, CUDA_EVENT, CUDA_COMM or CUDA_GROUP.  handle is an executable graph. */
enum cuda_op {
	CUDA_NO_OP,
	CUDA_BEGIN,		/* stream begins to capture, into graph if it has one … */
	CUDA_BEGIN_ANEW,	/* … or in place of what graph has */
	CUDA_END,		/* it ends; *graph is what was captured */
	CUDA_RECORD, CUDA_AWAIT, /* event, in stream; CUDA_AWAIT: stream waits for it */
	CUDA_INSTANTIATE,	/* handle runs graph from now on */
	CUDA_CLONE,		/* graph is a copy of child, or empty */
	CUDA_DESTROY,		/* graph, handle or node */
	CUDA_KERNEL_NODE,	/* node of graph or handle has the kernel in *params */
	CUDA_ANY_NODE,		/* *params says which kind of node it is */
	CUDA_CHILD_NODE,	/* node has the graph child */
	CUDA_COPY_NODE,		/* it copies: bytes and direction as of a copy */
	CUDA_SET_NODE,		/* it sets memory: *params says how much */
	CUDA_HOST_NODE,		/* it calls a function of the host */
	CUDA_ALLOC_NODE,	/* it allocates what *params says, and stores the address there */
	CUDA_FREE_NODE,		/* it frees ptr */
	CUDA_OTHER_NODE,	/* none of these */
	CUDA_ENABLE,		/* node of handle: flags says whether it runs */
	CUDA_HOST_CALL,		/* a function of the host is called in stream */
};

/* Where a call's arguments are, counted from 1; 0 = it has no such argument.  1 to CALL_REGISTERS
 * (machine/call.h) are the registers for integers, higher ones the stack: CALL_REGISTERS + 1 is the
 * first 8 bytes there.  An argument of several words has the position of its first
 * word: extent is 3 words; grid and block are a dim3 in 2 words in the runtime, but 3 arguments in
 * the driver.  Of a launch, params is a launch configuration (cudaLaunchConfig_t and
 * CUlaunchConfig alike): grid and block as 6 32-bit words, the stream at byte 32; with count
 * it is an array of cudaLaunchParams or CUDA_LAUNCH_PARAMS, elem bytes each, func first. */
struct cuda_args {
#define X(role) unsigned char role;
	CUDA_ROLES(X)
#undef X
	unsigned char out;	/* position of the argument that points to the result: 1 or 0 in
				 * every row.  It is the first of ptr, handle, ctx, func,
				 * name, module, library, stream, pool, event that the row has. */
	unsigned char size_at;	/* CUDA_FIELD, CUDA_PARAMS */
	unsigned char location_at; /* 1 + the byte of *location with the place; 0: passed by value */
	unsigned char kind_at;	/* byte of *params with the enum cudaMemcpyKind */
	unsigned char src_at, dst_at; /* bytes of *params with a CUmemorytype each */
	unsigned char elem;	/* bytes of one unit of size or width; 0 = 1 */
	unsigned char shape;	/* enum cuda_shape */
	unsigned char memory;	/* enum cuda_memory */
	unsigned char direction; /* enum cuda_direction, where the name fixes it */
	unsigned char async;	/* 1: returns before the work is done */
	unsigned char cooperative; /* CUDA_LAUNCH */
	unsigned char nowhere;	/* 1: what it makes is on no device */
	unsigned char anywhere;	/* 1: what it returns is on a device that the call does not name */
	unsigned char counted;	/* 1: may return what is held already, with another reference */
	unsigned char loads;	/* 1: also loads code, if that is loaded lazily */
	unsigned char waits;	/* 1: also waits for the GPU, as a side effect */
	unsigned char stack;	/* enum cuda_stack */
	unsigned char from_at, to_at; /* bytes of *params with the devices or contexts of a copy */
	unsigned char per_thread; /* 1: its default stream is the per-thread one */
	unsigned char op;	/* enum cuda_op */
};

/* Return non-zero for a capture to a graph that was made before: the end of the capture makes none. */
static inline int cuda_captures_to(const struct cuda_args *row)
{
	return row->graph && (row->op == CUDA_BEGIN || row->op == CUDA_BEGIN_ANEW);
}

/* Added to the position of a struct of which the address is passed there: CALL_REFERENCES. */
enum { CUDA_BY_REFERENCE = 128 };

/* The stream in a launch configuration. */
enum { CUDA_CONFIG_STREAM = 32 };

/* One id per symbol, which is also the cookie of its probes. */
enum cuda_id {
#define CUDA_API(name, lib, class, ...) CUDA_ID_##name,
#include "cuda_api.def"
#undef CUDA_API
	CUDA_ID_MAX
};

#endif
