/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "model/gpuprobe_module.h"

enum { GROUPS_MAX = 1024 };

/* Of a module, beside its sums: its first records, and what tools keep of each. */
enum { MODULE_BYTES = 4096 };

/* A table's text is kept twice, and its names by those that print them, mangled and demangled. */
enum { TEXTS = 4 };

struct gpuprobe_module *gpuprobe_module_find(const struct gpuprobe_process *p, uint32_t number)
{
	return number && number <= p->num_modules ? p->modules[number - 1] : NULL;
}

/* Reads a table of sites, and keeps it if it fits.  Returns NULL if it does not; *wrong says if it is none. */
static struct gpuprobe_code *read_code(struct gpuprobe_modules *m, char *key, size_t key_size, uint32_t hash,
				  const char **wrong)
{
	struct gpuprobe_code *code = xcalloc(1, sizeof(*code));
	size_t size;

	*code = (struct gpuprobe_code){ .hash = hash, .key = key, .key_size = key_size };
	*wrong = sites_read(&code->sites, key + sizeof(hash), key_size - sizeof(hash));
	size = sizeof(*code) + TEXTS * key_size + code->sites.num_files * sizeof(*code->sites.files) +
	       code->sites.num * (sizeof(*code->sites.site) + sizeof(struct gpuprobe_total));
	if (*wrong || size > GPU_KEPT_MAX - m->kept) {
		sites_free(&code->sites);
		free(code);
		return NULL;
	}
	m->kept += size;
	if (m->last_code)
		m->last_code->next = code;
	else
		m->first_code = code;
	m->last_code = code;
	HASH_ADD_KEYPTR(hh, m->codes, code->key, code->key_size, code);
	return code;
}

/* The hash alone may be that of two texts. */
static struct gpuprobe_code *get_code(struct gpuprobe_modules *m, const struct gpuprobe_module_frame *frame, const char **wrong)
{
	size_t size = sizeof(frame->hash) + frame->text_size;
	char *key = xcalloc(1, size);
	struct gpuprobe_code *code;

	memcpy(key, &frame->hash, sizeof(frame->hash));
	memcpy(key + sizeof(frame->hash), frame + 1, frame->text_size);
	*wrong = NULL;
	HASH_FIND(hh, m->codes, key, size, code);
	if (!code)
		code = read_code(m, key, size, frame->hash, wrong);
	if (!code || code->key != key)
		free(key);
	return code;
}

static struct gpuprobe_module *make(struct gpuprobe_modules *m, struct gpuprobe_process *p, const struct gpuprobe_code *code,
			       const struct gpuprobe_module_frame *frame)
{
	size_t size = MODULE_BYTES + sizeof(struct gpuprobe_module) + code->sites.num * sizeof(struct gpuprobe_sum);
	struct gpuprobe_module *module;

	if (size > GPU_KEPT_MAX - m->kept)
		return NULL;
	m->kept += size;
	module = xcalloc(1, sizeof(*module));
	*module = (struct gpuprobe_module){
		.process = p, .code = code, .number = frame->module, .groups = frame->groups, .limit = frame->limit,
		.context = frame->context, .khz = frame->khz, .device = frame->device,
		.sums = xcalloc(code->sites.num + 1, sizeof(struct gpuprobe_sum)),
	};
	for (unsigned i = 0; i < code->sites.num; i++)
		module->sums[i].min = ~0u;
	return module;
}

/* Makes room for one more: 1, 2, 4 … */
static bool grow(struct gpuprobe_modules *m, struct gpuprobe_process *p)
{
	size_t more = p->num_modules ? p->num_modules : 1;

	if (p->num_modules & (p->num_modules - 1))
		return true;
	if (more * sizeof(*p->modules) > GPU_KEPT_MAX - m->kept)
		return false;
	m->kept += more * sizeof(*p->modules);
	p->modules = xrealloc(p->modules, p->num_modules + more, sizeof(*p->modules));
	return true;
}

const char *gpuprobe_module_add(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_module_frame *frame = data;
	struct gpuprobe_module *module = NULL;
	struct gpuprobe_code *code;
	const char *wrong;

	if (size < sizeof(*frame) || frame->text_size != size - sizeof(*frame))
		return "it told of a module in a wrong size";
	if (frame->module != p->num_modules + 1 || frame->module > GPU_MODULES_MAX)
		return "its modules are not 1, 2 ...";
	if (!frame->groups || frame->groups > GROUPS_MAX || frame->sites > SITES_MAX)
		return "it told of an impossible module";
	if (!grow(m, p))
		return "no memory is left for its modules";
	code = get_code(m, frame, &wrong);
	if (wrong)
		return wrong;
	if (code && code->sites.num != frame->sites)
		return "a module's table has another number of sites than the module";
	if (code)
		module = make(m, p, code, frame);
	m->refused += !module;
	p->modules[p->num_modules++] = module;
	return NULL;
}

static void add_slot(struct gpuprobe_sum *to, const struct gpu_slot *slot)
{
	to->sum += slot->sum;
	to->max = slot->max > to->max ? slot->max : to->max;
	to->min = ~slot->low < to->min ? ~slot->low : to->min;
	for (int i = 0; i < GPU_BUCKETS; i++) {
		to->hist[i] += slot->hist[i];
		to->count += slot->hist[i];
	}
}

const char *gpuprobe_module_slots(struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_slots *frame = data;
	const struct gpu_slot *slots = (const void *)(frame + 1);
	struct gpuprobe_module *module;
	unsigned sites;

	if (size < sizeof(*frame) || !frame->module || frame->module > p->num_modules)
		return "it counted for no module";
	module = gpuprobe_module_find(p, frame->module);
	if (!module)
		return NULL;
	sites = module->code->sites.num;
	if (size - sizeof(*frame) != (size_t)sites * module->groups * sizeof(*slots))
		return "its counts have a wrong size";
	for (unsigned i = 0; i < sites; i++) {
		module->sums[i] = (struct gpuprobe_sum){ .min = ~0u };
		for (unsigned g = 0; g < module->groups; g++)
			add_slot(&module->sums[i], &slots[(size_t)i * module->groups + g]);
	}
	return NULL;
}

static void add_record(struct gpuprobe_modules *m, struct gpuprobe_module *module, const struct gpu_record *r)
{
	const struct gpuprobe_sm sm = { module->process->id, module->device, r->smid };

	if (r->value == GPU_CLOCKS) {
		gpuprobe_clocks_add(&m->clocks, &sm, r->time, r->site | (unsigned long long)r->warp << 32);
		return;
	}
	if (r->site >= module->code->sites.num || m->records == GPU_RECORDS_MAX) {
		module->dropped++;
		return;
	}
	if (module->num_records == module->room) {
		module->room = module->room ? 2 * module->room : 64;
		module->records = xrealloc(module->records, module->room, sizeof(*r));
	}
	module->records[module->num_records++] = *r;
	m->records++;
}

const char *gpuprobe_module_records(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_records *frame = data;
	const struct gpu_record *records = (const void *)(frame + 1);
	struct gpuprobe_module *module;

	if (size < sizeof(*frame) || !frame->module || frame->module > p->num_modules)
		return "it recorded for no module";
	if ((size - sizeof(*frame)) % sizeof(*records))
		return "its records have a wrong size";
	module = gpuprobe_module_find(p, frame->module);
	if (!module)
		return NULL;
	module->lost = frame->lost;
	for (size_t i = 0; i < (size - sizeof(*frame)) / sizeof(*records); i++)
		add_record(m, module, &records[i]);
	return NULL;
}

void gpuprobe_module_free(struct gpuprobe_module *module)
{
	if (!module)
		return;
	free(module->sums);
	free(module->records);
	free(module);
}
