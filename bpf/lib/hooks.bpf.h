/* SPDX-License-Identifier: GPL-2.0 */
/* The hooks that a BPF program may define, before it includes the header that uses them.  Here are the defaults of those
 * of lib/cuda.bpf.h.
 *
 *  THREAD_DATA          a type: the tool's data of a thread (lib/cuda.bpf.h; some headers say which members it needs)
 *  CALL_DATA            a type: its data of a call between entry and return (lib/call.bpf.h)
 *  CUDA_NESTED          handles a call inside the one in flight: true if it has changed the latter
 *  CUDA_TIMED           does the start of calls of this function matter?  Reading the clock is a quarter of a probe's work.
 *  CUDA_STREAM_ENDS     handles the entry of a function that destroys a stream
 *  CUDA_USDT_ENTER      if the thread is at a USDT probe, handles it: true
 *  CUDA_BESIDE_ENDS     of a tool that follows other calls than the one in flight: is the thread at the return of such a
 *  CUDA_BESIDE_LEAVE    call?  And handles that.  lib/kernel_calls.bpf.h has other defaults.
 *  CUDA_ENTERS          sees each entry first: true if the return is wanted, whatever the function is probed for
 *  CUDA_HIT             of a tool that measures its overhead: the beginning of each program …
 *  CUDA_HIT_ENDS        … and its end
 *  INFLIGHT_TAKE        of a tool that keeps calls elsewhere, selects some, or has their devices: fills in id, start,
 *                       stack.from, device, peer and memory; false if the thread is in no call (lib/inflight.bpf.h)
 *  AGGREGATE_DROPPED    of a tool that follows other calls than the one in flight: drops these, too (lib/aggregate.bpf.h)
 *  FRAMES               how many calls inside each other are followed (lib/frames.bpf.h)
 *  RECORDS_BYTES        the size of the ring buffer, a power of two (lib/records.bpf.h)
 *  GRAPH_STACKS         are stacks wanted where graphs are captured? (lib/graph_calls.bpf.h) */
#ifndef LIB_HOOKS_BPF_H
#define LIB_HOOKS_BPF_H

#ifndef CUDA_NESTED
#define CUDA_NESTED(ctx, t, id) false
#endif

#ifndef CUDA_TIMED
#define CUDA_TIMED(id) true
#endif

#ifndef CUDA_STREAM_ENDS
#define CUDA_STREAM_ENDS(ctx, t) ((void)0)
#endif

#ifndef CUDA_USDT_ENTER
#define CUDA_USDT_ENTER(ctx, t) false
#endif

#ifndef CUDA_BESIDE_ENDS
#define CUDA_BESIDE_ENDS(ctx, t) false
#define CUDA_BESIDE_LEAVE(ctx, t) ((void)0)
#endif

#ifndef CUDA_ENTERS
#define CUDA_ENTERS(ctx, t) false
#endif

#ifndef CUDA_HIT
#define CUDA_HIT(t) ((void)(t))
#define CUDA_HIT_ENDS(t) ((void)(t))
#endif

#endif
