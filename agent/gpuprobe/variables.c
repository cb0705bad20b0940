/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "abi/gpu_variables.h"
#include "agent/gpuprobe/fnv.h"
#include "agent/gpuprobe/ranges.h"
#include "agent/gpuprobe/variables.h"
#include "ptx/probe.h"

enum { GROUPS_MAX = 1 << 16, LIMIT_MAX = 1 << 24 };

/* Makes the buffer as large as that; false if out of memory. */
static bool reader_room(struct reader *reader, size_t size)
{
	char *more;

	if (size <= reader->room)
		return true;
	more = realloc(reader->buffer, size);
	if (more) {
		reader->buffer = more;
		reader->room = size;
	}
	return more != NULL;
}

/* r is the result of starting a copy. */
static CUresult await_copy(struct reader *reader, CUresult r)
{
	const struct driver *d = reader->state->driver;
	CUstream stream = reader->context->stream;
	struct timespec nap = { 0, 20000 };

	/* waiting in the driver may spin on a CPU */
	while (!r && (r = d->cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY) {
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 1000000)
			nap.tv_nsec *= 2;
		r = CUDA_SUCCESS;
	}
	return r;
}

/* Copies from the device, and waits for it. */
static CUresult reader_copy(struct reader *reader, void *to, CUdeviceptr from, size_t size)
{
	const struct driver *d = reader->state->driver;

	return await_copy(reader, d->cuMemcpyDtoHAsync_v2(to, from, size, reader->context->stream));
}

/* Copies to the device, and waits for it. */
static CUresult reader_write(struct reader *reader, CUdeviceptr to, const void *from, size_t size)
{
	const struct driver *d = reader->state->driver;

	if (!d->cuMemcpyHtoDAsync_v2)
		return CUDA_ERROR_NOT_FOUND;
	return await_copy(reader, d->cuMemcpyHtoDAsync_v2(to, from, size, reader->context->stream));
}

/* Finds a variable of a module and its size. */
static CUresult reader_variable(struct reader *reader, const struct module *module, const char *what, uint32_t hash,
			 CUdeviceptr *at, size_t *size)
{
	const struct driver *d = reader->state->driver;
	char name[64];

	snprintf(name, sizeof(name), "__cuprobe_%s_%08x", what, hash);
	return module->kind == LIBRARY ? d->cuLibraryGetGlobal(at, size, module->handle, name) :
					 d->cuModuleGetGlobal_v2(at, size, module->handle, name);
}

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* The program may have its own variables of these names: all sizes must agree. */
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
static CUresult report_module(struct reader *reader, const struct module *module, struct instance *i)
{
	const struct driver *d = reader->state->driver;
	struct gpuprobe_module_frame frame = { 0 };
	CUdeviceptr at;
	size_t size;
	int khz = 0;
	CUresult r = reader_variable(reader, module, "sites", i->hash, &at, &size);

	if (r)
		return r;
	if (size > GPUPROBE_FRAME_MAX - sizeof(frame) || !reader_room(reader, size))
		return CUDA_ERROR_NOT_FOUND;
	r = reader_copy(reader, reader->buffer, at, size);
	if (r)
		return r;
	size = strnlen(reader->buffer, size);
	if (d->cuDeviceGetAttribute &&
	    d->cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, reader->context->device))
		khz = 0;
	i->number = ++reader->state->modules.num_instances;
	frame.module = i->number;
	frame.hash = i->hash;
	frame.sites = count_sites(reader->buffer, size);
	frame.groups = i->groups;
	frame.limit = i->limit;
	frame.device = reader->context->device;
	frame.context = reader->context->number;
	frame.khz = (uint32_t)khz;
	frame.text_size = (uint32_t)size;
	link_send(&reader->state->link, GPUPROBE_MODULE, &frame, sizeof(frame), reader->buffer, size);
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
		*error = report_module(reader, module, i);
	if (*error == CUDA_ERROR_NOT_FOUND)
		*error = CUDA_SUCCESS;
	if (!*error)
		return i;
	free(i->read);
	free(i);
	return NULL;
}

static CUresult slots_read(struct reader *reader, struct instance *i)
{
	struct gpuprobe_slots head = { i->number, 0 };
	struct link *link = &reader->state->link;
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

/* Probes write rings while they are read: records that were overwritten meanwhile count as lost. */

enum { FRAME_RECORDS = 1 << 20 };

/* One reading of an instance's rings. */
struct reading {
	struct reader *reader;
	struct instance *i;
	struct gpu_ring *rings;		/* copied before and after the records: 2 x groups */
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

/* Skips records that were overwritten; returns the number of new ones. */
static size_t count_new(struct reading *x)
{
	size_t total = 0;

	for (uint32_t g = 0; g < x->i->groups; g++) {
		uint64_t wanted = x->rings[g].wanted, *read = &x->i->read[g];

		if (wanted < *read)	/* never with this library's probes */
			*read = wanted;
		if (wanted - *read > x->i->limit) {
			x->i->lost += wanted - *read - x->i->limit;
			*read = wanted - x->i->limit;
		}
		total += wanted - *read;
	}
	return total;
}

/* Copies a group's records, which may wrap around the end of the ring. */
static CUresult copy_group(struct reading *x, uint32_t g, struct gpu_record *to)
{
	uint32_t limit = x->i->limit, first = (uint32_t)(x->i->read[g] & (limit - 1));
	size_t n = x->rings[g].wanted - x->i->read[g], before = n < limit - first ? n : limit - first;
	CUdeviceptr ring = x->i->records + (uint64_t)g * limit * sizeof(*to);
	CUresult r = n ? reader_copy(x->reader, to, ring + first * sizeof(*to), before * sizeof(*to)) : CUDA_SUCCESS;

	return !r && n > before ? reader_copy(x->reader, to + before, ring, (n - before) * sizeof(*to)) : r;
}

/* Moves a group's complete records to the beginning of the buffer. */
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
			break;		/* it will be complete at the next reading */
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

		link_send(&x->reader->state->link, GPUPROBE_RECORDS, &head, sizeof(head), x->records + at,
			  n * sizeof(*x->records));
		at += n;
	} while (at < x->kept);
	x->i->lost_sent = x->i->lost;
}

static CUresult records_read(struct reader *reader, struct instance *i, bool last)
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

/* Adds the module's own variables: pairs of address and size, ended by zeros. */
static CUresult add_variables(struct reader *reader, const struct instance *i)
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

/* Gives the context a table of lasts, and the instance its address; without it a fault takes the records. */
static CUresult write_lasts(struct reader *reader, struct instance *i)
{
	const struct driver *d = reader->state->driver;
	struct context *c = reader->context;
	const size_t size = GPU_LASTS * sizeof(*c->lasts);
	void *host = NULL;
	CUresult r;

	if (!c->lasts && d->cuMemHostAlloc && d->cuMemHostGetDevicePointer_v2 &&
	    !d->cuMemHostAlloc(&host, size, CU_MEMHOSTALLOC_DEVICEMAP) &&
	    !d->cuMemHostGetDevicePointer_v2(&c->lasts_at, host, 0)) {
		memset(host, 0, size);
		c->lasts = host;
	}
	if (!c->lasts)
		return CUDA_SUCCESS;
	r = reader_write(reader, i->ranges + offsetof(struct gpu_ranges, module), &i->number, sizeof(i->number));
	return r ? r : reader_write(reader, i->ranges + offsetof(struct gpu_ranges, last), &c->lasts_at, sizeof(c->lasts_at));
}

void instance_send_lasts(struct reader *reader, struct instance *i)
{
	struct gpuprobe_records head = { i->number, GPUPROBE_FAULTED, i->lost };
	struct gpu_record *records;
	size_t n = 0;

	i->lasts_sent = true;
	if (!reader_room(reader, GPU_LASTS * sizeof(i->context->lasts->pair)))
		return;
	records = (void *)reader->buffer;
	for (size_t k = 0; k < GPU_LASTS; k++) {
		const struct gpu_last *l = &i->context->lasts[k];

		if (l->module != i->number || l->group >= i->groups || l->number <= i->read[l->group])
			continue;
		memcpy(records + n, l->pair, sizeof(l->pair));
		n += GPU_LAST_PARTS;
	}
	if (n)
		link_send(&reader->state->link, GPUPROBE_RECORDS, &head, sizeof(head), records, n * sizeof(*records));
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

static CUresult ranges_write(struct reader *reader, struct instance *i)
{
	static const uint32_t unknown;
	CUresult r = i->ranges_noted ? CUDA_SUCCESS : write_lasts(reader, i) ?: add_variables(reader, i);
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
	if (!i->ranges_warned)
		link_lost(&reader->state->link, i->number, 1, "more than 4096 allocations: accesses are not checked");
	i->ranges_warned = true;
	return reader_write(reader, i->ranges + offsetof(struct gpu_ranges, version), &unknown, sizeof(unknown));
}

CUresult instance_read(struct reader *reader, struct instance *i, bool last)
{
	CUresult r = CUDA_SUCCESS;

	if (!i->number)
		return r;
	if (i->ranges)
		r = ranges_write(reader, i);
	if (!r && i->slots && !reader->ranges_only)
		r = slots_read(reader, i);
	if (!r && i->rings && !reader->ranges_only)
		r = records_read(reader, i, last);
	return r;
}
