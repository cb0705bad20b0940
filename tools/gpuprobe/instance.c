/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/gpu.h"
#include "gpuprobe/readout.h"
#include "ptx/probe.h"

enum { GROUPS_MAX = 1 << 16, LIMIT_MAX = 1 << 24 };

CUresult reader_variable(struct reader *reader, const struct module *module, const char *what, uint32_t hash,
			 CUdeviceptr *at, size_t *size)
{
	const struct driver *d = reader->inject->driver;
	char name[64];

	snprintf(name, sizeof(name), "__cuprobe_%s_%08x", what, hash);
	return module->kind == LIBRARY ? d->cuLibraryGetGlobal(at, size, module->handle, name) :
					 d->cuModuleGetGlobal_v2(at, size, module->handle, name);
}

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* What a program has under these names need not be ours: sizes must fit together. */
static bool fits(struct instance *i, const struct gpu_ctl *ctl, size_t rings_size, size_t records_size)
{
	uint64_t groups = (uint64_t)ctl->mask + 1;

	if (groups > GROUPS_MAX || !power_of_two((uint32_t)groups))
		return false;
	i->groups = (uint32_t)groups;
	if (i->slots) {
		i->sites = (uint32_t)(i->slots_size / (groups * sizeof(struct gpu_slot)));
		if (i->slots_size != i->sites * groups * sizeof(struct gpu_slot))
			return false;
	}
	if (!i->rings != !i->records)
		return false;
	i->limit = i->rings ? ctl->limit : 0;
	return !i->rings || (power_of_two(ctl->limit) && ctl->limit <= LIMIT_MAX &&
			     rings_size == groups * sizeof(struct gpu_ring) &&
			     records_size == groups * ctl->limit * sizeof(struct gpu_record));
}

static CUresult find_variables(struct reader *reader, const struct module *module, struct instance *i, bool *ours)
{
	size_t size, rings_size = 0, records_size = 0;
	struct gpu_ctl ctl;
	CUdeviceptr at;
	CUresult r = reader_variable(reader, module, "ctl", i->hash, &at, &size);

	*ours = false;
	if (r)
		return r;
	if (size != sizeof(ctl))
		return CUDA_SUCCESS;
	r = reader_copy(reader, &ctl, at, sizeof(ctl));
	if (r)
		return r;
	if (reader_variable(reader, module, "slots", i->hash, &i->slots, &i->slots_size))
		i->slots = 0;
	if (reader_variable(reader, module, "rings", i->hash, &i->rings, &rings_size))
		i->rings = 0;
	if (reader_variable(reader, module, "records", i->hash, &i->records, &records_size))
		i->records = 0;
	if (reader_variable(reader, module, GPU_RANGES_NAME, i->hash, &i->ranges, &size) ||
	    size != sizeof(struct gpu_ranges))
		i->ranges = 0;
	if (reader_variable(reader, module, "variables", i->hash, &i->variables, &i->variables_size))
		i->variables = 0;
	*ours = fits(i, &ctl, rings_size, records_size);
	return CUDA_SUCCESS;
}

static uint32_t count_sites(const char *text, size_t size)
{
	uint32_t n = 0;

	for (const char *p = text, *end = text + size; p < end; p++)
		n += *p == 'S' && (p == text || p[-1] == '\n');
	return n;
}

/* Sends the table of sites. */
static CUresult tell(struct reader *reader, const struct module *module, struct instance *i)
{
	const struct driver *d = reader->inject->driver;
	struct gpuprobe_module_frame told = { 0 };
	CUdeviceptr at;
	size_t size;
	int khz = 0;
	CUresult r = reader_variable(reader, module, "sites", i->hash, &at, &size);

	if (r)
		return r;
	if (size > GPUPROBE_FRAME_MAX - sizeof(told) || !reader_room(reader, size))
		return CUDA_ERROR_NOT_FOUND;
	r = reader_copy(reader, reader->buffer, at, size);
	if (r)
		return r;
	size = strnlen(reader->buffer, size);
	if (d->cuDeviceGetAttribute &&
	    d->cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, reader->context->device))
		khz = 0;
	i->number = ++reader->inject->modules.num_instances;
	told.module = i->number;
	told.hash = i->hash;
	told.sites = count_sites(reader->buffer, size);
	told.groups = i->groups;
	told.limit = i->limit;
	told.device = reader->context->device;
	told.context = reader->context->number;
	told.khz = (uint32_t)khz;
	told.text_size = (uint32_t)size;
	link_send(&reader->inject->link, GPUPROBE_MODULE, &told, sizeof(told), reader->buffer, size);
	return CUDA_SUCCESS;
}

struct instance *instance_new(struct reader *reader, const struct module *module, uint32_t hash, CUresult *error)
{
	struct instance *i = calloc(1, sizeof(*i));
	bool ours;

	*error = CUDA_SUCCESS;
	if (!i)
		return NULL;
	i->hash = hash;
	i->context = reader->context;
	*error = find_variables(reader, module, i, &ours);
	if (!*error && ours)
		i->read = calloc(i->groups, sizeof(*i->read));
	if (!*error && i->read)
		*error = tell(reader, module, i);
	if (*error == CUDA_ERROR_NOT_FOUND)
		*error = CUDA_SUCCESS;
	if (!*error)
		return i;
	free(i->read);
	free(i);
	return NULL;
}
