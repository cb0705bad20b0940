/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the records of a program that allocates, frees, maps and resets at will. */
#include "api/cuda_fn.h"
#include "fuzz.h"
#include "cudaleak/leak.h"
#include "model/memory.h"

/* Of tensors, or of the memory that they are parts of. */
static void check_groups(const struct mem_process *h, bool each, enum leak_by by, bool tensors)
{
	const struct mem_sum *sum = tensors ? &h->groups.kinds[CUDA_TENSOR] : &h->groups.held;
	struct leak_options o = { .each = each, .sample = 1, .now = ~0ull, .tensors = tensors };
	unsigned long long bytes = 0, count = 0;
	struct leak_group *groups;
	size_t n;

	o.by = by;
	groups = leak_groups(h, &o, &n);
	for (size_t i = 0; i < n; i++) {
		bytes += groups[i].bytes;
		count += groups[i].count;
		CHECK(memory_name(groups[i].memory) || by == LEAK_BY_PROCESS || by == LEAK_BY_DEVICE);
		CHECK(groups[i].id < CUDA_ID_MAX);
		CHECK(each || groups[i].growth == (long long)groups[i].bytes);
	}
	CHECK(bytes == sum->bytes && count == sum->count && n <= count);
	free(groups);
}

static void check(struct mem_process *h)
{
	unsigned long long bytes = 0, count = 0;
	const struct mem_sum *held = &h->groups.held, *tensors = &h->groups.kinds[CUDA_TENSOR];
	struct mem_sum handles = { 0 };
	const struct allocation *l;

	for (int kind = CUDA_CODE; kind < CUDA_MEMORY_MAX; kind++) {
		handles.bytes += h->groups.kinds[kind].bytes;
		handles.count += h->groups.kinds[kind].count;
	}
	for (l = h->allocations; l; l = l->hh.next, count++) {
		bytes += l->size;
		CHECK(l->refs);
	}
	CHECK(bytes == held->bytes + tensors->bytes + handles.bytes && count == held->count + tensors->count + handles.count);
	CHECK(held->bytes <= held->peak);
	CHECK(h->unsure <= count && strlen(h->comm) < sizeof(h->comm));
	for (int shown = 0; shown < 2; shown++) {
		for (int by = 0; by < LEAK_BY_MAX; by++)
			check_groups(h, false, by, shown);
		check_groups(h, true, LEAK_BY_STACK, shown);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct memory memory = MEMORY_INIT;
	struct mem_process *h, *next;

	for (unsigned long long now = 1; in.left; now++) {
		struct memory_event e = { .time = now, .start = now - (take(&in, 1) & 3) };
		int id = take(&in, 2) % (CUDA_ID_MAX + 2);
		struct memory_effect done;

		e.head.kind = id;
		e.head.pid = take(&in, 1) & 1;
		e.tid = take(&in, 1) & 1;
		e.ret = take(&in, 1) == 1;
		e.ptr = take(&in, 1) & 7;
		e.size = take(&in, 1) & 15;
		if (e.size == 15)
			e.size = take(&in, 8);
		e.arg2 = take(&in, 1) & 7;
		e.location = take(&in, 1) & 3;
		if (take(&in, 1) & 1)
			e.location |= PLACE_DEVICE;
		memset(e.comm, 'x', sizeof(e.comm));
		if (id >= CUDA_ID_MAX) {
			struct process_event gone = { .head = e.head, .time = now };

			gone.head.kind = id == CUDA_ID_MAX ? RECORD_EXIT : RECORD_EXEC;
			memcpy(gone.comm, e.comm, sizeof(e.comm));
			h = memory_process(&memory, &gone);
			if (h)
				check(h);
			continue;
		}
		done = memory_apply(&memory, &e, NULL);
		CHECK(done.process && done.memory < CUDA_MEMORY_MAX);
		check(done.process);
	}
	HASH_ITER(hh, memory.processes, h, next)
		memory_forget(h);
	CHECK(!memory.processes && !memory.quota.used);
	quota_free(&memory.quota);
	return 0;
}
