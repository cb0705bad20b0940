/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rings that probes write while they are read.  What they overwrote meanwhile is lost, and counted. */
#include <stdlib.h>
#include <string.h>
#include "abi/gpu.h"
#include "gpuprobe/readout.h"

enum { FRAME_RECORDS = 1 << 20 };

/* One reading of an instance's rings. */
struct reading {
	struct reader *reader;
	struct instance *i;
	struct gpu_ring *rings;		/* before and after the records were copied: 2 x groups */
	struct gpu_record *records;	/* all groups' new ones, in the reader's buffer */
	size_t kept;
};

/* The parity that the halves of a group's record n have. */
static uint32_t lap_of(uint64_t n, uint32_t limit)
{
	return n / limit & 1 ? 0 : GPU_LAP;
}

static bool written(const struct gpu_record *r, uint64_t n, uint32_t limit)
{
	uint32_t lap = lap_of(n, limit);

	return (r->value & GPU_LAP) == lap && (r->smid & GPU_LAP) == lap;
}

/* Passes over what is overwritten already; returns how many records there are. */
static size_t count_new(struct reading *x)
{
	size_t total = 0;

	for (uint32_t g = 0; g < x->i->groups; g++) {
		uint64_t wanted = x->rings[g].wanted, *read = &x->i->read[g];

		if (wanted < *read)	/* never, of our probes */
			*read = wanted;
		if (wanted - *read > x->i->limit) {
			x->i->lost += wanted - *read - x->i->limit;
			*read = wanted - x->i->limit;
		}
		total += wanted - *read;
	}
	return total;
}

/* Copies a group's records, which may go over the ring's end. */
static CUresult copy_group(struct reading *x, uint32_t g, struct gpu_record *to)
{
	uint32_t limit = x->i->limit, first = (uint32_t)(x->i->read[g] & (limit - 1));
	size_t n = x->rings[g].wanted - x->i->read[g], before = n < limit - first ? n : limit - first;
	CUdeviceptr ring = x->i->records + (uint64_t)g * limit * sizeof(*to);
	CUresult r = n ? reader_copy(x->reader, to, ring + first * sizeof(*to), before * sizeof(*to)) : CUDA_SUCCESS;

	return !r && n > before ? reader_copy(x->reader, to + before, ring, (n - before) * sizeof(*to)) : r;
}

/* Keeps a group's whole records, at the beginning of the buffer. */
static void take_group(struct reading *x, uint32_t g, const struct gpu_record *from, bool last)
{
	uint64_t n = x->i->read[g], to = x->rings[g].wanted, now = x->rings[x->i->groups + g].wanted;
	uint32_t limit = x->i->limit;

	for (; n < to; n++, from++) {
		struct gpu_record record = *from;

		if (now - n > limit || (last && !written(&record, n, limit))) {
			x->i->lost++;
			continue;
		}
		if (!written(&record, n, limit))
			break;		/* it will be, soon */
		record.value &= ~GPU_LAP;
		record.smid &= ~GPU_LAP;
		x->records[x->kept++] = record;
	}
	x->i->read[g] = n;
}

static CUresult read_all(struct reading *x, bool last)
{
	size_t rings_size = x->i->groups * sizeof(*x->rings), at = 0, total;
	CUresult r = reader_copy(x->reader, x->rings, x->i->rings, rings_size);

	if (r)
		return r;
	total = count_new(x);
	if (!reader_room(x->reader, total * sizeof(*x->records)))
		return CUDA_SUCCESS;
	x->records = (void *)x->reader->buffer;
	for (uint32_t g = 0; g < x->i->groups && !r; g++) {
		r = copy_group(x, g, x->records + at);
		at += x->rings[g].wanted - x->i->read[g];
	}
	if (!r)
		r = reader_copy(x->reader, x->rings + x->i->groups, x->i->rings, rings_size);
	at = 0;
	for (uint32_t g = 0; g < x->i->groups && !r; g++) {
		size_t n = x->rings[g].wanted - x->i->read[g];

		take_group(x, g, x->records + at, last);	/* writes no further than it has read */
		at += n;
	}
	return r;
}

static void send_kept(struct reading *x)
{
	struct gpuprobe_records head = { x->i->number, 0, x->i->lost };
	size_t at = 0;

	do {
		size_t n = x->kept - at < FRAME_RECORDS ? x->kept - at : FRAME_RECORDS;

		link_send(&x->reader->inject->link, GPUPROBE_RECORDS, &head, sizeof(head), x->records + at,
			  n * sizeof(*x->records));
		at += n;
	} while (at < x->kept);
	x->i->lost_sent = x->i->lost;
}

CUresult records_read(struct reader *reader, struct instance *i, bool last)
{
	struct reading x = { .reader = reader, .i = i };
	CUresult r;

	x.rings = calloc(2 * (size_t)i->groups, sizeof(*x.rings));
	if (!x.rings)
		return CUDA_SUCCESS;
	r = read_all(&x, last);
	if (!r && (x.kept || i->lost != i->lost_sent))
		send_kept(&x);
	free(x.rings);
	return r;
}
