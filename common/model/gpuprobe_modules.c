/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "model/gpuprobe_module.h"
#include "model/gpuprobe_modules.h"

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

static const char *lost(struct gpuprobe_modules *m, struct gpuprobe_process *p, const void *data, size_t size)
{
	const struct gpuprobe_lost *l = data;
	struct gpuprobe_module *module;

	if (size < sizeof(*l) || l->text_size != size - sizeof(*l))
		return "it told of a loss in a wrong size";
	module = gpuprobe_module_find(p, l->module);
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
		return gpuprobe_images_add(&m->images, data, size);
	case GPUPROBE_MODULE:
		return gpuprobe_module_add(m, p, data, size);
	case GPUPROBE_SLOTS:
		return gpuprobe_module_slots(p, data, size);
	case GPUPROBE_RECORDS:
		return gpuprobe_module_records(m, p, data, size);
	case GPUPROBE_LOST:
		return lost(m, p, data, size);
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

	return p ? gpuprobe_module_find(p, number) : NULL;
}

void gpuprobe_modules_forget(struct gpuprobe_modules *m, struct gpuprobe_module *module)
{
	m->records -= module->num_records;
	free(module->records);
	module->records = NULL;
	module->num_records = module->room = 0;
}

struct gpuprobe_losses gpuprobe_modules_losses(const struct gpuprobe_modules *m)
{
	struct gpuprobe_losses all = { .failed = m->failed };

	for (const struct gpuprobe_process *p = m->first; p; p = p->next) {
		for (uint32_t i = 0; i < p->num_modules; i++) {
			const struct gpuprobe_module *module = p->modules[i];

			if (!module)
				continue;
			all.lost += module->lost;
			all.dropped += module->dropped;
			all.failed += module->failed;
		}
	}
	return all;
}

static void free_process(struct gpuprobe_process *p)
{
	for (uint32_t i = 0; i < p->num_modules; i++)
		gpuprobe_module_free(p->modules[i]);
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
	gpuprobe_images_free(&m->images);
	free(m->failure);
	for (int i = 0; i < GPU_WARNINGS; i++)
		free(m->warnings[i]);
	*m = (struct gpuprobe_modules){ 0 };
}
