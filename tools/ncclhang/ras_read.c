/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "base/util.h"
#include "ncclhang/ras_read.h"

/* inet_ntop() writes no others; an interface may follow a '%'. */
#define HOST_CHARS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.:%_-"
#define VERSION_CHARS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.+-"

/* Returns a larger array if this one of n is full. */
static void *grown(void *array, int n, int *room, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? 2 * *room : 64;
	return xrealloc(array, *room, size);
}

struct ras_comm *ras_add_comm(struct ras_reader *to)
{
	struct ras *r = to->r;

	if (r->ncomms == RAS_COMMS_MAX)
		return NULL;
	r->comms = grown(r->comms, r->ncomms, &to->comms_room, sizeof(*r->comms));
	r->comms[r->ncomms] = (struct ras_comm){ 0 };
	return &r->comms[r->ncomms++];
}

struct ras_rank *ras_add_rank(struct ras_reader *to)
{
	struct ras *r = to->r;
	struct ras_rank *rank;

	if (to->nranks == RAS_RANKS_MAX)
		return NULL;
	r->ranks = grown(r->ranks, to->nranks, &to->ranks_room, sizeof(*r->ranks));
	rank = &r->ranks[to->nranks++];
	*rank = (struct ras_rank){
		.pid = -1, .device = -1, .nvml_device = -1, .init_result = -1, .async_error = -1, .total = NO_VALUE,
	};
	for (int f = 0; f < RAS_FUNCTIONS; f++)
		rank->counts[f] = NO_VALUE;
	r->comms[r->ncomms - 1].nranks++;
	return rank;
}

struct ras_process *ras_add_process(struct ras_reader *to)
{
	struct ras *r = to->r;

	if (r->nprocesses == RAS_PROCESSES_MAX)
		return NULL;
	r->processes = grown(r->processes, r->nprocesses, &to->processes_room, sizeof(*r->processes));
	r->processes[r->nprocesses] = (struct ras_process){ 0 };
	return &r->processes[r->nprocesses++];
}

static const char *ras_read_take(char *into, size_t room, const char *text, const char *chars)
{
	size_t n = strspn(text, chars);

	if (!n || n >= room)
		return NULL;
	memset(into, 0, room);
	memcpy(into, text, n);
	return text + n;
}

const char *ras_take_version(char version[RAS_VERSION_SIZE], const char *text)
{
	return ras_read_take(version, RAS_VERSION_SIZE, text, VERSION_CHARS);
}

const char *ras_take_host(char host[RAS_HOST_SIZE], const char *text)
{
	return ras_read_take(host, RAS_HOST_SIZE, text, HOST_CHARS);
}

void ras_place_ranks(struct ras *r)
{
	int next = 0;

	for (int i = 0; i < r->ncomms; i++) {
		r->comms[i].ranks = r->comms[i].nranks ? &r->ranks[next] : NULL;
		next += r->comms[i].nranks;
	}
}
