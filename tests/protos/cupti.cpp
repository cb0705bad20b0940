/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Compares agent/gputime/cupti.h with NVIDIA's headers when compiled: scripts/check-cupti.  CUDA is their version * 100;
 * KERNEL, COPY, PEER_COPY, SET, GRAPH and OVERHEAD are the records that their enum CUpti_ActivityKind names. */
#include <cstddef>
#include <type_traits>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>
#include "agent/gputime/cupti.h"

static_assert(CUPTI_API_VERSION >= CUPTI_OLDEST && CUPTI_API_VERSION <= CUPTI_NEWEST, "version outside OLDEST and NEWEST");

#define VALUE(ours, theirs) static_assert((unsigned)ours == (unsigned)theirs, #ours);
VALUE(CUPTI_OK, CUPTI_SUCCESS)
VALUE(CUPTI_BAD_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER)
VALUE(CUPTI_BAD_OPERATION, CUPTI_ERROR_INVALID_OPERATION)
VALUE(CUPTI_NO_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY)
VALUE(CUPTI_TOO_SMALL, CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT)
VALUE(CUPTI_NO_MORE, CUPTI_ERROR_MAX_LIMIT_REACHED)
VALUE(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE)
VALUE(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED)
VALUE(CUPTI_BAD_KIND, CUPTI_ERROR_INVALID_KIND)
VALUE(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED)
VALUE(CUPTI_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED)
VALUE(CUPTI_NO_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
VALUE(CUPTI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
VALUE(CUPTI_VIRTUALIZED_NO_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
VALUE(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN)

VALUE(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY)
VALUE(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET)
VALUE(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL)
VALUE(CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER)
VALUE(CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME)
VALUE(CUPTI_THREAD_DEFAULT, CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT)
VALUE(CUPTI_THREAD_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
VALUE(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
VALUE(CUPTI_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD)
VALUE(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2)
VALUE(CUPTI_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE)

VALUE(CUPTI_COPY_UNKNOWN, CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN)
VALUE(CUPTI_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
VALUE(CUPTI_COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
VALUE(CUPTI_COPY_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA)
VALUE(CUPTI_COPY_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH)
VALUE(CUPTI_COPY_ATOA, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA)
VALUE(CUPTI_COPY_ATOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD)
VALUE(CUPTI_COPY_DTOA, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA)
VALUE(CUPTI_COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
VALUE(CUPTI_COPY_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH)
VALUE(CUPTI_COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)

VALUE(CUPTI_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
VALUE(CUPTI_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED)
VALUE(CUPTI_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
VALUE(CUPTI_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY)
VALUE(CUPTI_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
VALUE(CUPTI_MEMORY_DEVICE_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC)
VALUE(CUPTI_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC)

VALUE(CUPTI_OVERHEAD_COMPILER, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER)
VALUE(CUPTI_OVERHEAD_FLUSH, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH)
VALUE(CUPTI_OVERHEAD_INSTRUMENTATION, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION)
VALUE(CUPTI_OVERHEAD_RESOURCE, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE)
#if CUDA >= 1203
VALUE(CUPTI_OVERHEAD_MODULE_LOADING, CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING)
VALUE(CUPTI_OVERHEAD_FUNCTION_LOADING, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING)
#endif
#if CUDA >= 1204
VALUE(CUPTI_OVERHEAD_COMMAND_BUFFER_FULL, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL)
#endif
#if CUDA >= 1206
VALUE(CUPTI_OVERHEAD_BUFFER_REQUEST, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST)
#endif
#if CUDA >= 1208
VALUE(CUPTI_KIND_DEVICE_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE)
#endif

VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
VALUE(2, CUPTI_ACTIVITY_OBJECT_THREAD)
VALUE(1, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)
VALUE(CUPTI_DEVICE_BUFFER_SIZE, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE)
VALUE(CUPTI_DEVICE_BUFFERS, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT)

/* Each field of ours; of an array, the first and the last. */
#define BEGINS(field, member) static_assert(offsetof(OURS, field) == offsetof(THEIRS, member), #field);
#define AT(field, member) \
	BEGINS(field, member) \
	static_assert(sizeof(((OURS *)0)->field) == sizeof(((THEIRS *)0)->member), #field);
#define WHOLE() static_assert(sizeof(OURS) <= sizeof(THEIRS), "larger");

#define OURS cupti_kernel
#define THEIRS KERNEL
WHOLE() AT(kind, kind) AT(cache_config, cacheConfig) AT(shared_config, sharedMemoryConfig) AT(registers, registersPerThread)
AT(global_cache_requested, partitionedGlobalCacheRequested) AT(global_cache_executed, partitionedGlobalCacheExecuted)
AT(start, start) AT(end, end) AT(completed, completed) AT(device, deviceId) AT(context, contextId) AT(stream, streamId)
AT(grid[0], gridX) AT(grid[2], gridZ) AT(block[0], blockX) AT(block[2], blockZ)
AT(static_shared, staticSharedMemory) AT(dynamic_shared, dynamicSharedMemory)
AT(local_per_thread, localMemoryPerThread) AT(local_total, localMemoryTotal) AT(correlation, correlationId)
AT(grid_id, gridId) AT(name, name) AT(reserved, reserved0) AT(queued, queued) AT(submitted, submitted)
AT(launch_type, launchType) AT(carveout_is_requested, isSharedMemoryCarveoutRequested)
AT(carveout_requested, sharedMemoryCarveoutRequested) AT(shared_executed, sharedMemoryExecuted)
AT(graph_node, graphNodeId) AT(shared_limit, shmemLimitConfig) AT(graph, graphId)
#undef OURS
#undef THEIRS

#define OURS cupti_copy
#define THEIRS COPY
WHOLE() AT(kind, kind) AT(copy_kind, copyKind) AT(from, srcKind) AT(to, dstKind) AT(flags, flags) AT(bytes, bytes) AT(start, start)
AT(end, end) AT(device, deviceId) AT(context, contextId) AT(stream, streamId) AT(correlation, correlationId)
AT(runtime_correlation, runtimeCorrelationId) AT(reserved, reserved0) AT(graph_node, graphNodeId) AT(graph, graphId) AT(channel, channelID)
#undef OURS
#undef THEIRS

#define OURS cupti_peer_copy
#define THEIRS PEER_COPY
WHOLE() AT(kind, kind) AT(copy_kind, copyKind) AT(from, srcKind) AT(to, dstKind) AT(flags, flags) AT(bytes, bytes) AT(start, start)
AT(end, end) AT(device, deviceId) AT(context, contextId) AT(stream, streamId) AT(from_device, srcDeviceId)
AT(from_context, srcContextId) AT(to_device, dstDeviceId) AT(to_context, dstContextId) AT(correlation, correlationId)
AT(reserved, reserved0) AT(graph_node, graphNodeId) AT(graph, graphId) AT(channel, channelID)
#undef OURS
#undef THEIRS

#define OURS cupti_set
#define THEIRS SET
WHOLE() AT(kind, kind) AT(value, value) AT(bytes, bytes) AT(start, start) AT(end, end) AT(device, deviceId) AT(context, contextId)
AT(stream, streamId) AT(correlation, correlationId) AT(flags, flags) AT(memory, memoryKind) AT(reserved, reserved0)
AT(graph_node, graphNodeId) AT(graph, graphId) AT(channel, channelID)
#undef OURS
#undef THEIRS

#define OURS cupti_graph_trace
#define THEIRS GRAPH
WHOLE() AT(kind, kind) AT(correlation, correlationId) AT(start, start) AT(end, end) AT(device, deviceId) AT(graph, graphId)
AT(context, contextId) AT(stream, streamId) AT(reserved, reserved)
#undef OURS
#undef THEIRS

#define OURS cupti_call
#define THEIRS CUpti_ActivityAPI
WHOLE() AT(kind, kind) AT(function, cbid) AT(start, start) AT(end, end) AT(process, processId) AT(thread, threadId)
AT(correlation, correlationId) AT(result, returnValue)
static_assert(sizeof(OURS) == sizeof(THEIRS), "size of call");
#undef OURS
#undef THEIRS

#define OURS cupti_overhead
#define THEIRS OVERHEAD
WHOLE() AT(kind, kind) AT(overhead, overheadKind) AT(object_kind, objectKind) AT(object, objectId) AT(start, start) AT(end, end)

struct row { int since; std::size_t kernel, copy, peer, set, graph, overhead; };
constexpr row rows[] = {
#define ROW(...) { __VA_ARGS__ },
	CUPTI_SIZES(ROW)
};
constexpr row of(int cuda)
{
	row r = rows[0];

	for (const row &each : rows)
		if (each.since <= cuda)
			r = each;
	return r;
}
constexpr row sizes = of(CUDA);
static_assert(sizes.kernel == sizeof(KERNEL), "size of kernel");
static_assert(sizes.copy == sizeof(COPY), "size of copy");
static_assert(sizes.peer == sizeof(PEER_COPY), "size of peer copy");
static_assert(sizes.set == sizeof(SET), "size of set");
static_assert(sizes.graph == sizeof(GRAPH), "size of graph trace");
static_assert(sizes.overhead == sizeof(OVERHEAD), "size of overhead");

/* Of the same size, and pointers where NVIDIA's are. */
template <class A, class B> constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class A, class B> constexpr bool same = false;
template <class R, class... A, class S, class... B> constexpr bool same<R(A...), S(B...)> = [] {
	if constexpr (sizeof...(A) == sizeof...(B))
		return alike<R, S> && (alike<A, B> && ...);
	return false;
}();
template <class... A, class... B> constexpr bool same<void(A...), void(B...)> = [] {
	if constexpr (sizeof...(A) == sizeof...(B))
		return (alike<A, B> && ...);
	return false;
}();
#define IF_THERE_1108(name) static_assert(same<name##_fn, decltype(name)>, #name);
#if CUDA >= 1208
#define IF_THERE_1208 IF_THERE_1108
#else
#define IF_THERE_1208(name)
#endif
#if CUDA >= 1205
#define IF_THERE_1205 IF_THERE_1108
#else
#define IF_THERE_1205(name)
#endif
#define FUNCTION(name, since, params) IF_THERE_##since(name)
CUPTI_FUNCTIONS(FUNCTION)
static_assert(same<cupti_buffer_requested, std::remove_pointer_t<CUpti_BuffersCallbackRequestFunc>>, "buffer requested");
static_assert(same<cupti_buffer_completed, std::remove_pointer_t<CUpti_BuffersCallbackCompleteFunc>>, "buffer completed");
static_assert(same<cupti_callback, std::remove_pointer_t<CUpti_CallbackFunc>>, "callback");
static_assert(same<cupti_clock, std::remove_pointer_t<CUpti_TimestampCallbackFunc>>, "clock");

/* Each function that launches, copies or sets is in our ranges: CALLED(which, kind, number) in calls.h, which is made of NVIDIA's
 * headers. */
enum { LAUNCHES, COPIES };
struct range { cupti_kind kind; int which; unsigned first, last; };
constexpr range ranges[] = {
#define RANGE(kind, which, first, last) { CUPTI_KIND_##kind, which, first, last },
	CUPTI_CALLS(RANGE)
};
constexpr int which(cupti_kind kind, unsigned number)
{
	for (const range &each : ranges)
		if (each.kind == kind && number >= each.first && number <= each.last)
			return each.which;
	return -1;
}
#define CALLED(is, kind, number) static_assert(which(CUPTI_KIND_##kind, number) == is, #kind " " #number);
#include "calls.h"
