/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/gpu.h"
#include "gpuprobe/fnv.h"
#include "gpuprobe/readout.h"

CUresult slots_read(struct reader *reader, struct instance *i)
{
	struct gpuprobe_slots head = { i->number, 0 };
	struct link *link = &reader->inject->link;
	uint64_t hash;
	CUresult r;

	if (i->slots_size > GPUPROBE_FRAME_MAX - sizeof(head) || !reader_room(reader, i->slots_size)) {
		link_lost(link, i->number, 1, "too many sites for one frame: use fewer, or fewer groups");
		i->slots = 0;
		return CUDA_SUCCESS;
	}
	r = reader_copy(reader, reader->buffer, i->slots, i->slots_size);
	if (r)
		return r;
	hash = fnv64(reader->buffer, i->slots_size);
	if (hash == i->slots_sent)
		return CUDA_SUCCESS;
	i->slots_sent = hash;
	link_send(link, GPUPROBE_SLOTS, &head, sizeof(head), reader->buffer, i->slots_size);
	return CUDA_SUCCESS;
}
