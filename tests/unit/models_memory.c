/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "base/die.h"
#include "cudaleak/leak.h"
#include "model/graphs.h"
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

/* A call from start to time. */
static void call_at(struct memory *memory, enum cuda_id id, unsigned long long start, unsigned long long time)
{
	struct memory_event event = {
		.head = { .pid = PID, .kind = id }, .tid = PID, .ptr = 4096, .size = 64, .comm = "models", .start = start, .time = time,
	};

	memory_apply(memory, &event, NULL);
}

/* Frees whose records come after that of the next allocation at the address, or after that of its free. */
static void late(void)
{
	struct memory memory = MEMORY_INIT;
	struct mem_process *process;
	int pid = PID;

	call_at(&memory, CUDA_ID_cudaMalloc, 1, 2);
	for (int i = 1; i <= 3; i++)	/* the frees that make room begin at 10 i, and end at 100 + i */
		call_at(&memory, CUDA_ID_cudaMalloc, 10 * i + 2, 10 * i + 3);
	call_at(&memory, CUDA_ID_cudaFree, 40, 41);	/* the last allocation's own */
	HASH_FIND_INT(memory.processes, &pid, process);
	printf("{\"model\":8,\"held\":%llu,\"replaced\":%llu}\n", process->groups.held.count, process->replaced);
	for (int i = 1; i <= 3; i++)
		call_at(&memory, CUDA_ID_cudaFree, 10 * i, 100 + i);
	printf("{\"model\":9,\"unknown\":%llu,\"replaced\":%llu}\n", process->unknown, process->replaced);
	call_at(&memory, CUDA_ID_cudaFree, 200, 201);	/* there is none that it could be late for */
	printf("{\"model\":10,\"unknown\":%llu,\"replaced\":%llu}\n", process->unknown, process->replaced);
	for (int i = 0; i < 2; i++)	/* a free that was never seen */
		call_at(&memory, CUDA_ID_cudaMalloc, 300 + 10 * i, 301 + 10 * i);
	call_at(&memory, CUDA_ID_cudaFree, 320, 321);
	call_at(&memory, CUDA_ID_cudaFree, 330, 331);
	printf("{\"model\":11,\"unknown\":%llu,\"replaced\":%llu}\n", process->unknown, process->replaced);
	memory_forget(process);
	printf("{\"model\":12,\"used\":%zu}\n", memory.quota.used);
	quota_free(&memory.quota);
}

/* A launch of a graph that frees the address, from start to time. */
static void graph_frees(struct memory *memory, unsigned long long start, unsigned long long time)
{
	struct graph_content *content = xcalloc(1, sizeof(*content) + sizeof(*content->all));
	struct memory_replay replay = {
		.pid = PID, .comm = (char [16]){ "models" }, .start = start, .time = time, .content = content,
	};

	content->n = 1;
	content->all[0] = (struct graph_work){ .kind = NODE_FREE, .func = 4096, .count = 1 };
	memory_replay(memory, &replay);
	free(content);
}

/* The same as late() by graphs: their records come after three more allocations at the address. */
static void late_graphs(void)
{
	struct memory memory = MEMORY_INIT;
	struct mem_process *process;
	int pid = PID;

	for (int i = 0; i <= 3; i++)
		call_at(&memory, CUDA_ID_cudaMallocAsync, 10 * i + 2, 10 * i + 3);
	for (int i = 1; i <= 3; i++)
		graph_frees(&memory, 10 * i, 100 + i);
	HASH_FIND_INT(memory.processes, &pid, process);
	printf("{\"model\":13,\"held\":%llu,\"unknown\":%llu,\"replaced\":%llu}\n", process->groups.held.count, process->unknown,
	       process->replaced);
	graph_frees(&memory, 40, 110);	/* the last allocation */
	printf("{\"model\":14,\"held\":%llu,\"unknown\":%llu}\n", process->groups.held.count, process->unknown);
	graph_frees(&memory, 200, 201);	/* there is none that it could be late for */
	printf("{\"model\":15,\"unknown\":%llu,\"replaced\":%llu}\n", process->unknown, process->replaced);
	memory_forget(process);
	quota_free(&memory.quota);
}

static void exports(struct memory *memory, int pid, unsigned long long ptr, unsigned long long handle)
{
	struct memory_event event = {
		.head = { .pid = pid, .kind = CUDA_ID_cudaIpcGetMemHandle }, .tid = pid, .ptr = ptr, .arg2 = handle, .comm = "models",
	};

	memory_apply(memory, &event, NULL);
}

/* A program that makes an IPC handle for each of its allocations, and frees them: nothing of it is kept. */
static void exported(void)
{
	struct memory memory = MEMORY_INIT;
	size_t used = 0;

	for (int i = 0; i < 7; i++) {
		call(&memory, PID, CUDA_ID_cudaMalloc, 4096, 64 + i);
		exports(&memory, PID, 4096, 1000 + i);
		exports(&memory, PID, 4096, 1000 + i);		/* again: the same one */
		printf("{\"model\":16,\"size\":%llu}\n", exported_of(&memory, 1000 + i)->size);
		call(&memory, PID, CUDA_ID_cudaFree, 4096, 0);
		used = used ?: memory.quota.used;
	}
	printf("{\"model\":17,\"more\":%zu,\"known\":%s}\n", memory.quota.used - used, exported_of(&memory, 1000) ? "true" : "false");
	call(&memory, PID, CUDA_ID_cudaMalloc, 4096, 64);
	call(&memory, OTHER_PID, CUDA_ID_cudaMalloc, 4096, 128);
	exports(&memory, PID, 4096, 2000);
	exports(&memory, OTHER_PID, 4096, 2000);		/* the last one counts */
	forget(&memory, PID);
	printf("{\"model\":18,\"size\":%llu}\n", exported_of(&memory, 2000)->size);
	forget(&memory, OTHER_PID);
	printf("{\"model\":18,\"used\":%zu}\n", memory.quota.used);
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
	late();
	late_graphs();
	exported();
}
