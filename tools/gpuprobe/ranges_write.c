/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "gpuprobe/ranges.h"
#include "gpuprobe/readout.h"

/* The module's own: pairs of address and bytes, up to one of zeros. */
static CUresult note_variables(struct reader *reader, const struct instance *i)
{
	const uint64_t *pair;
	CUresult r;

	if (!i->variables || !reader_room(reader, i->variables_size))
		return CUDA_SUCCESS;
	r = reader_copy(reader, reader->buffer, i->variables, i->variables_size);
	if (r)
		return r;
	pair = (const void *)reader->buffer;
	for (size_t n = i->variables_size / (2 * sizeof(*pair)); n && pair[0]; n--, pair += 2)
		ranges_add(pair[0], pair[1]);
	return CUDA_SUCCESS;
}

static CUresult write_half(struct reader *reader, struct instance *i, uint32_t n)
{
	uint32_t version = i->ranges_version + 1 ? i->ranges_version + 1 : 2, half = version & 1;
	CUdeviceptr at = i->ranges;
	CUresult r = CUDA_SUCCESS;

	if (n)
		r = reader_write(reader, at + offsetof(struct gpu_ranges, range) + half * sizeof(struct gpu_range) * GPU_RANGES,
				 reader->buffer, n * sizeof(struct gpu_range));
	if (!r)
		r = reader_write(reader, at + offsetof(struct gpu_ranges, n) + half * sizeof(n), &n, sizeof(n));
	if (!r)
		r = reader_write(reader, at + offsetof(struct gpu_ranges, version), &version, sizeof(version));
	if (!r)
		i->ranges_version = version;
	return r;
}

CUresult ranges_write(struct reader *reader, struct instance *i)
{
	static const uint32_t unknown;
	CUresult r = i->ranges_noted ? CUDA_SUCCESS : note_variables(reader, i);
	uint64_t changes = 0;
	size_t n = GPU_RANGES + 1;

	if (r)
		return r;
	i->ranges_noted = true;
	if (reader_room(reader, GPU_RANGES * sizeof(struct gpu_range)))
		n = ranges_copy((void *)reader->buffer, GPU_RANGES, &changes);
	if (changes == i->ranges_changes && i->ranges_version)
		return CUDA_SUCCESS;
	i->ranges_changes = changes;
	if (n <= GPU_RANGES)
		return write_half(reader, i, (uint32_t)n);
	if (!i->ranges_told)
		link_lost(&reader->inject->link, i->number, 1, "more than 4096 allocations: accesses are not checked");
	i->ranges_told = true;
	return reader_write(reader, i->ranges + offsetof(struct gpu_ranges, version), &unknown, sizeof(unknown));
}
