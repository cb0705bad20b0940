/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nccl-ras PID MS [ADDRESS [CANCEL_MS]]: asks the RAS of the process's job, and prints an object for the answer, each process
 * that RAS names, each communicator and each of its ranks; -1 and "" are what is unknown.
 * nccl-ras read json|text <FILE: reads that instead, without a helper process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "ncclhang/ras.h"
#include "ncclhang/ras_read.h"

static void print_count(const char *key, unsigned long long count)
{
	if (count == NO_VALUE)
		printf(",\"%s\":-1", key);
	else
		printf(",\"%s\":%llu", key, count);
}

static void print_rank(const struct ras_comm *comm, const struct ras_rank *rank)
{
	printf("{\"comm\":\"%llx\",\"rank\":%d,\"host\":\"%s\",\"pid\":%d,\"device\":%d,\"nvml\":%d,\"state\":\"%s\","
	       "\"init\":%d,\"async\":%d", comm->hash, rank->rank, rank->host, rank->pid, rank->device, rank->nvml_device,
	       ras_state_name(rank->state), rank->init_result, rank->async_error);
	for (int f = 0; f < RAS_FUNCTIONS; f++)
		print_count(ras_function_name(f), rank->counts[f]);
	print_count("total", rank->total);
	printf("}\n");
}

static void print(const struct ras *r, bool ok, unsigned long long ns)
{
	printf("{\"ok\":%s,\"problem\":\"%s\",\"errno\":%d,\"version\":\"%s\",\"text\":%s,\"garbled\":%s,", ok ? "true" : "false",
	       ok ? "" : ras_problem(r), r->err, r->version, r->text ? "true" : "false", r->garbled ? "true" : "false");
	printf("\"has_process\":%s,\"timeouts\":%d,\"comms\":%d,\"unnamed\":%d,\"ms\":%llu}\n",
	       r->has_process ? "true" : "false", r->timeouts, r->ncomms, r->unnamed, ns / 1000000);
	for (int i = 0; ok && i < r->nprocesses; i++)
		printf("{\"process\":%d,\"host\":\"%s\",\"dead\":%s}\n", r->processes[i].pid, r->processes[i].host,
		       r->processes[i].dead ? "true" : "false");
	for (int i = 0; ok && i < r->ncomms; i++) {
		printf("{\"hash\":\"%llx\",\"size\":%d,\"ranks\":%d,\"found\":%s}\n", r->comms[i].hash, r->comms[i].size,
		       r->comms[i].nranks, ras_find(r, r->comms[i].hash) ? "true" : "false");
		for (int k = 0; k < r->comms[i].nranks; k++)
			print_rank(&r->comms[i], &r->comms[i].ranks[k]);
	}
}

static int read_input(const char *form)
{
	struct ras r = { .result = RAS_OK };
	size_t size = 0, room = 1 << 16, n;
	char *text = xcalloc(room, 1);
	bool ok;

	while ((n = fread(text + size, 1, room - size - 1, stdin))) {
		size += n;
		room *= 2;
		text = xrealloc(text, room, 1);
	}
	text[size] = '\0';
	ok = (!strcmp(form, "json") ? ras_read_json : ras_read_text)(text, size, &r);
	r.result = ok ? RAS_OK : RAS_UNKNOWN_FORM;
	print(&r, ok, 0);
	free(text);
	ras_free(&r);
	return 0;
}

static bool go_on(void *end)
{
	return clock_ns() < *(unsigned long long *)end;
}

int main(int argc, char **argv)
{
	unsigned long long began = clock_ns(), end = argc > 4 ? began + 1000000ull * atoi(argv[4]) : NO_VALUE;
	struct ras r;
	bool ok;

	if (argc == 3 && !strcmp(argv[1], "read"))
		return read_input(argv[2]);
	if (argc < 3) {
		fprintf(stderr, "usage: nccl-ras PID MS [ADDRESS [CANCEL_MS]] | read json|text\n");
		return EXIT_USAGE;
	}
	ok = ras_ask(&r, atoi(argv[1]), argc > 3 ? argv[3] : NULL, strtoul(argv[2], NULL, 10), go_on, &end) == RAS_OK;
	print(&r, ok, clock_ns() - began);
	ras_free(&r);
	return 0;
}
