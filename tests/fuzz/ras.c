/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the readers of what RAS answers; the first byte selects the form. */
#include "fuzz.h"
#include "ncclhang/ras_read.h"

static void check_rank(const struct ras_comm *comm, const struct ras_rank *rank)
{
	CHECK(rank->rank >= 0 && rank->rank < comm->size);
	CHECK(rank->pid >= -1 && rank->device >= -1 && rank->nvml_device >= -1);
	CHECK((unsigned)rank->state < RAS_STATES);
	CHECK(rank->init_result >= -1 && rank->async_error >= -1);
	CHECK(memchr(rank->host, '\0', sizeof(rank->host)));
	CHECK(printable(rank->host, false) >= 0);
}

static void check_comm(const struct ras *r, const struct ras_comm *comm)
{
	char *seen;

	CHECK(ras_find(r, comm->hash));
	CHECK(comm->size > 0 && comm->nranks >= 0 && comm->nranks <= comm->size);
	seen = calloc(comm->size, 1);
	for (int i = 0; i < comm->nranks; i++) {
		check_rank(comm, &comm->ranks[i]);
		CHECK(!seen[comm->ranks[i].rank]++);
	}
	free(seen);
}

static void check(const struct ras *r)
{
	CHECK(*r->version && r->timeouts >= 0 && r->unnamed >= 0);
	for (int i = 0; i < r->ncomms; i++)
		check_comm(r, &r->comms[i]);
	for (int i = 0; i < r->nprocesses; i++)
		CHECK(r->processes[i].pid >= 0 && printable(r->processes[i].host, false) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ras r = { .result = RAS_OK };
	bool json = size && *data == 'j';
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if ((json ? ras_read_json : ras_read_text)(text, size - 1, &r))
		check(&r);
	CHECK(memchr(r.version, '\0', sizeof(r.version)) && printable(r.version, false) >= 0);
	free(text);
	ras_free(&r);
	return 0;
}
