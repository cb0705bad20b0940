/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "cudaleak/leak.h"
#include "model/memory.h"
#include "models.h"

enum { PID = 1009, OTHER_PID = 1013, TURNS = 31 };

/* Input of one model: the number of calls of each kind, at the same addresses as in the other. */
struct feed {
	int device, managed, frees, unknown, other;	/* other: allocations of another process */
	unsigned long long size;
};

static void call(struct memory *memory, int pid, enum cuda_id id, unsigned long long ptr,
		 unsigned long long size)
{
	static unsigned long long now;	/* one clock for both models */
	struct memory_event event = {
		.head = { .pid = pid, .kind = id }, .tid = pid, .ptr = ptr, .size = size, .comm = "models",
	};

	event.start = ++now;
	event.time = ++now;
	memory_apply(memory, &event, NULL);
}

/* Feeds the calls of one turn: one of each kind, until each has had its number. */
static void feed(struct memory *memory, const struct feed *feed, int turn)
{
	unsigned long long at = 4096 * (turn + 1);

	if (turn < feed->device)
		call(memory, PID, CUDA_ID_cudaMalloc, at, feed->size);
	if (turn < feed->managed)
		call(memory, PID, CUDA_ID_cudaMallocManaged, at + (1 << 30), 2 * feed->size);
	if (turn < feed->frees)
		call(memory, PID, CUDA_ID_cudaFree, at, 0);
	if (turn < feed->unknown)
		call(memory, PID, CUDA_ID_cudaFree, at + (2ull << 30), 0);
	if (turn < feed->other)
		call(memory, OTHER_PID, CUDA_ID_cudaMalloc, at, feed->size);
}

static void print(const struct memory *memory, int number)
{
	const struct leak_options options = { .sample = 1, .now = ~0ull };
	const struct mem_process *process;
	unsigned long long kept = 0;

	for (process = memory->processes; process; process = process->hh.next) {
		struct leak_group *groups;
		size_t n;

		groups = leak_groups(process, &options, &n);
		for (size_t i = 0; i < n; i++)
			printf("{\"model\":%d,\"pid\":%d,\"memory\":\"%s\",\"count\":%llu,\"bytes\":%llu}\n",
			       number, process->pid, memory_name(groups[i].memory), groups[i].count,
			       groups[i].bytes);
		printf("{\"model\":%d,\"pid\":%d,\"held\":%llu,\"unknown\":%llu}\n", number, process->pid,
		       process->groups.held.count, process->unknown);
		kept += process->groups.held.count;
		free(groups);
	}
	printf("{\"model\":%d,\"kept\":%llu}\n", number, kept);
}

static void forget(struct memory *memory, int pid)
{
	struct mem_process *process;

	HASH_FIND_INT(memory->processes, &pid, process);
	if (process)
		memory_forget(process);
}

/* What a reset may have freed is marked once, however often there is one, until it is freed. */
static void unsure(void)
{
	struct memory memory = MEMORY_INIT;
	struct mem_process *process;
	int pid = PID;

	for (int i = 0; i < 5; i++)
		call(&memory, PID, CUDA_ID_cuMemAlloc_v2, 4096 * (i + 1), 64);	/* in a context that is not known */
	HASH_FIND_INT(memory.processes, &pid, process);
	process->preexisting = true;	/* its first calls were not seen */
	for (int i = 0; i < 3; i++)
		call(&memory, PID, CUDA_ID_cudaDeviceReset, 0, 0);
	printf("{\"model\":5,\"held\":%llu,\"unsure\":%llu}\n", process->groups.held.count, process->unsure);
	for (int i = 0; i < 2; i++)
		call(&memory, PID, CUDA_ID_cuMemFree_v2, 4096 * (i + 1), 0);
	printf("{\"model\":6,\"held\":%llu,\"unsure\":%llu}\n", process->groups.held.count, process->unsure);
	memory_forget(process);
	printf("{\"model\":7,\"used\":%zu}\n", memory.quota.used);	/* nothing is left of it */
	quota_free(&memory.quota);
}

void models_memory(void)
{
	static const struct feed feeds[] = {
		{ .device = 23, .managed = 5, .frees = 4, .unknown = 7, .other = 2, .size = 512 },
		{ .device = 31, .managed = 17, .frees = 18, .unknown = 3, .other = 11, .size = 64 },
	};
	struct memory first = MEMORY_INIT, second = MEMORY_INIT;

	for (int turn = 0; turn < TURNS; turn++) {
		feed(&first, &feeds[0], turn);
		feed(&second, &feeds[1], turn);
	}
	forget(&first, OTHER_PID);	/* the second still has it */
	print(&first, 1);
	print(&second, 2);
	forget(&first, PID);
	print(&second, 3);
	forget(&second, PID);
	forget(&second, OTHER_PID);
	quota_free(&first.quota);
	quota_free(&second.quota);
	unsure();
}
