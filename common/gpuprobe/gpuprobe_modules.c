/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "gpuprobe/gpuprobe_modules.h"

/* Of one process; further ones are counted as refused. */
enum { GPU_MODULES_MAX = 65536 };

/* During the tool's run. */
enum { GPU_PROCESSES_MAX = 1 << 18 };

/* Longer texts are truncated. */
enum { TEXT_MAX = 4096 };

static void add_text(struct gpuprobe_image_count *c, const char *text, size_t n)
{
	char *copy = xcalloc(1, n + 1);
	unsigned i = 0;

	memcpy(copy, text, n);
	while (i < c->num_texts && strcmp(c->text[i].text, copy))
		i++;
	if (i < c->num_texts || i == GPU_IMAGE_TEXTS)
		free(copy);
	else
		c->text[c->num_texts++].text = copy;
	if (i < GPU_IMAGE_TEXTS)
		c->text[i].images++;
}

/* Counts an image; returns NULL, or what is wrong with the frame. */
static const char *add_image(struct gpuprobe_images *all, const void *frame, size_t size)
{
	const struct gpuprobe_image *image = frame;
	struct gpuprobe_image_count *c;

	if (size < sizeof(*image) || image->text_size != size - sizeof(*image))
		return "protocol error: image of a wrong size";
	if (image->status >= GPUPROBE_STATUSES)
		return "protocol error: image with an unknown status";
	c = &all->by[image->status];
	all->images++;
	c->images++;
	c->kernels += image->kernels;
	c->sites += image->sites;
	c->fewer_warps += image->fewer_warps;
	c->ns += image->ns;
	c->size += image->size;
	c->rewritten += image->rewritten;
	if (image->text_size)
		add_text(c, (const char *)(image + 1), image->text_size < TEXT_MAX ? image->text_size : TEXT_MAX);
	return NULL;
}

static void free_images(struct gpuprobe_images *all)
{
	for (int i = 0; i < GPUPROBE_STATUSES; i++)
		for (unsigned k = 0; k < all->by[i].num_texts; k++)
			free(all->by[i].text[k].text);
}

enum { GROUPS_MAX = 1024 };

/* Of a module, besides its sums: its first records, and the data that tools keep for each. */
enum { MODULE_BYTES = 4096 };

/* Copies of a table's text: two here, and names in the tools, mangled and demangled. */
enum { TEXTS = 4 };

static struct gpuprobe_module *module_of(const struct gpuprobe_process *p, uint32_t number)
{
	return number && number <= p->num_modules ? p->modules[number - 1] : NULL;
}

/* Reads and keeps a table of sites.  Returns NULL if it exceeds the limit, or with an error in *wrong. */
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

/* Compares texts, because two can have one hash. */
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
static bool gpuprobe_modules_grow(struct gpuprobe_modules *m, struct gpuprobe_process *p)
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

static const char *add_module_frame(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_module_frame *frame = data;
	struct gpuprobe_module *module = NULL;
	struct gpuprobe_code *code;
	const char *wrong;

	if (size < sizeof(*frame) || frame->text_size != size - sizeof(*frame))
		return "protocol error: module of a wrong size";
	if (frame->module != p->num_modules + 1 || frame->module > GPU_MODULES_MAX)
		return "its modules are not 1, 2 ...";
	if (!frame->groups || frame->groups > GROUPS_MAX || frame->sites > SITES_MAX)
		return "protocol error: impossible module";
	if (!gpuprobe_modules_grow(m, p))
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

static const char *read_slots(struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_slots *frame = data;
	const struct gpu_slot *slots = (const void *)(frame + 1);
	struct gpuprobe_module *module;
	unsigned sites;

	if (size < sizeof(*frame) || !frame->module || frame->module > p->num_modules)
		return "it counted for no module";
	module = module_of(p, frame->module);
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

static const char *read_records(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_records *frame = data;
	const struct gpu_record *records = (const void *)(frame + 1);
	struct gpuprobe_module *module;

	if (size < sizeof(*frame) || !frame->module || frame->module > p->num_modules)
		return "it recorded for no module";
	if ((size - sizeof(*frame)) % sizeof(*records))
		return "its records have a wrong size";
	module = module_of(p, frame->module);
	if (!module)
		return NULL;
	module->lost = frame->lost;
	module->faulted = frame->flags & GPUPROBE_FAULTED;
	for (size_t i = 0; i < (size - sizeof(*frame)) / sizeof(*records); i++)
		add_record(m, module, &records[i]);
	return NULL;
}

static void free_module(struct gpuprobe_module *module)
{
	if (!module)
		return;
	free(module->sums);
	free(module->records);
	free(module);
}

static void gpuprobe_modules_add(struct gpuprobe_total *to, const struct gpuprobe_sum *sum, uint32_t khz)
{
	if (!sum->count)
		return;
	to->sum.count += sum->count;
	to->sum.sum += sum->sum;
	to->sum.min = sum->min < to->sum.min ? sum->min : to->sum.min;
	to->sum.max = sum->max > to->sum.max ? sum->max : to->sum.max;
	for (int i = 0; i < GPU_BUCKETS; i++)
		to->sum.hist[i] += sum->hist[i];
	if (!khz || to->ns < 0)
		to->ns = -1;
	else
		to->ns += sum->sum * 1e6 / khz;
}

static struct gpuprobe_total *add_code(struct gpuprobe_total *all, size_t n, const struct gpuprobe_code *code)
{
	unsigned sites = code->sites.num;

	all = xrealloc(all, n + sites + 1, sizeof(*all));
	for (unsigned i = 0; i < sites; i++)
		all[n + i] = (struct gpuprobe_total){ .code = code, .site = i, .sum.min = ~0u };
	return all;
}

struct gpuprobe_total *gpuprobe_totals(const struct gpuprobe_modules *m, gpuprobe_compare *compare, size_t *n)
{
	const struct gpuprobe_module *module;
	struct gpuprobe_total *all = NULL;
	size_t kept = 0;

	*n = 0;
	for (struct gpuprobe_code *code = m->first_code; code; code = code->next) {
		all = add_code(all, *n, code);
		code->begin = *n;
		*n += code->sites.num;
	}
	gpuprobe_for_each_module(m, module)
		for (unsigned s = 0; s < module->code->sites.num; s++)
			gpuprobe_modules_add(&all[module->code->begin + s], &module->sums[s], module->khz);
	for (size_t i = 0; i < *n; i++)
		if (all[i].sum.count)
			all[kept++] = all[i];
	*n = kept;
	if (kept && compare)
		qsort(all, kept, sizeof(*all), compare);
	return all;
}

void gpuprobe_sum_rows(const struct gpuprobe_sum *sum, unsigned long long rows[HIST_ROWS])
{
	memset(rows, 0, HIST_ROWS * sizeof(*rows));
	memcpy(rows, sum->hist, sizeof(sum->hist));
}

static struct gpuprobe_process *find_process(const struct gpuprobe_modules *m, unsigned id)
{
	struct gpuprobe_process *p;

	HASH_FIND(hh, m->processes, &id, sizeof(id), p);
	return p;
}

static const char *hello(struct gpuprobe_modules *m, unsigned id, int pid, const void *data, size_t size)
{
	const struct gpuprobe_hello *hello = data;
	struct gpuprobe_process *p;

	if (size != sizeof(*hello))
		return "its greeting has a wrong size";
	if (hello->version != GPUPROBE_VERSION)
		return "its libcudagpuprobe.so is of another version";
	if (find_process(m, id))
		return "it greeted twice";
	if (HASH_COUNT(m->processes) == GPU_PROCESSES_MAX)
		return "there were too many processes";
	p = xcalloc(1, sizeof(*p));
	p->id = id;
	p->pid = pid > 0 ? pid : hello->pid;
	memcpy(p->comm, hello->comm, sizeof(hello->comm));
	if (m->last)
		m->last->next = p;
	else
		m->first = p;
	m->last = p;
	HASH_ADD(hh, m->processes, id, sizeof(p->id), p);
	return NULL;
}

static const char *gpuprobe_modules_lost(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_lost *l = data;
	struct gpuprobe_module *module;

	if (size < sizeof(*l) || l->text_size != size - sizeof(*l))
		return "protocol error: loss of a wrong size";
	module = module_of(p, l->module);
	*(module ? &module->failed : &m->failed) += l->count;
	if (!m->failure && l->text_size)
		m->failure = xprintf("%.*s", l->text_size < 256 ? (int)l->text_size : 256, (const char *)(l + 1));
	return NULL;
}

static const char *warned(struct gpuprobe_modules *m, const char *text, size_t size)
{
	char *copy = xprintf("%.*s", size < 256 ? (int)size : 256, text);
	int i = 0;

	while (i < GPU_WARNINGS && m->warnings[i] && strcmp(m->warnings[i], copy))
		i++;
	if (i < GPU_WARNINGS && !m->warnings[i])
		m->warnings[i] = copy;
	else
		free(copy);
	return NULL;
}

const char *gpuprobe_modules_frame(struct gpuprobe_modules *m, unsigned id, int pid, uint32_t kind, const void *data,
			      size_t size)
{
	struct gpuprobe_process *p;

	if (kind == GPUPROBE_HELLO)
		return hello(m, id, pid, data, size);
	p = find_process(m, id);
	if (!p)
		return "it did not greet";
	switch (kind) {
	case GPUPROBE_IMAGE:
		return add_image(&m->images, data, size);
	case GPUPROBE_MODULE:
		return add_module_frame(m, p, data, size);
	case GPUPROBE_SLOTS:
		return read_slots(p, data, size);
	case GPUPROBE_RECORDS:
		return read_records(m, p, data, size);
	case GPUPROBE_LOST:
		return gpuprobe_modules_lost(m, p, data, size);
	case GPUPROBE_WARNING:
		return warned(m, data, size);
	case GPUPROBE_BYE:
		p->ended = true;
	}
	return NULL;
}

struct gpuprobe_module *gpuprobe_modules_find(const struct gpuprobe_modules *m, unsigned id, uint32_t number)
{
	const struct gpuprobe_process *p = find_process(m, id);

	return p ? module_of(p, number) : NULL;
}

void gpuprobe_modules_forget(struct gpuprobe_modules *m, struct gpuprobe_module *module)
{
	m->records -= module->num_records;
	free(module->records);
	module->records = NULL;
	module->num_records = module->room = 0;
}

static void free_process(struct gpuprobe_process *p)
{
	for (uint32_t i = 0; i < p->num_modules; i++)
		free_module(p->modules[i]);
	free(p->modules);
	free(p);
}

void gpuprobe_modules_free(struct gpuprobe_modules *m)
{
	struct gpuprobe_process *p, *next;
	struct gpuprobe_code *code, *later;

	HASH_ITER(hh, m->processes, p, next) {
		HASH_DELETE(hh, m->processes, p);
		free_process(p);
	}
	HASH_ITER(hh, m->codes, code, later) {
		HASH_DELETE(hh, m->codes, code);
		sites_free(&code->sites);
		free(code->key);
		free(code);
	}
	gpuprobe_clocks_free(&m->clocks);
	free_images(&m->images);
	free(m->failure);
	for (int i = 0; i < GPU_WARNINGS; i++)
		free(m->warnings[i]);
	*m = (struct gpuprobe_modules){ 0 };
}
