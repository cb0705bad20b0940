/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "abi/device.h"
#include "base/die.h"
#include "cudatop/gpu_use.h"
#include "cudatop/top_processes.h"
#include "nvml/device_env.h"
#include "proc/helper_pool.h"

/* Returns NULL if it cannot be read. */
static const struct device_env *env_of(struct top_processes *t, struct top_process *p)
{
	struct device_env env;
	int err;

	if (p->env || p->no_env)
		return p->env;
	err = device_env_read(t->helpers, p->pid, &env);
	p->no_env = err && !err_is_transient(err);
	if (err)
		return NULL;
	p->env = xcalloc(1, sizeof(env));
	*p->env = env;
	return p->env;
}

static void set_numbers(struct top_processes *t, struct top_process *p, const struct nvml *n)
{
	struct gpu_use *u = p->use;
	const struct device_env *env = u->gpus && u->numbered != u->gpus ? env_of(t, p) : NULL;

	if (env) {
		device_numbers(env, n, p->pid, u->number);
		u->numbered = u->gpus;
	}
	for (unsigned i = 0; i < NVML_DEVICES; i++)
		if (u->numbered & u->gpus & 1ull << i && u->number[i] && u->number[i] <= DEVICES)
			p->devices_now |= 1ull << (u->number[i] - 1);
}

/* A program that sees one GPU has that as its device 0. */
static bool sees_one(const struct device_env *env)
{
	return env && env->restricted && *env->visible && !strchr(env->visible, ',') && *env->visible != '-';
}

void gpu_use_read(struct top_processes *t, const struct nvml *n)
{
	for (struct top_process *p = t->all; p; p = p->hh.next) {
		p->devices_now = p->devices;
		if (p->use && n->ndevices)	/* else its answer is late */
			p->use->gpus = 0;
	}
	for (unsigned i = 0; i < n->nprocesses; i++) {
		const struct nvml_process *on = &n->processes[i];
		struct top_process *p = on->device < n->ndevices ? top_process_find(t, on->pid) : NULL;

		if (!p)
			continue;
		p->use = p->use ?: xcalloc(1, sizeof(*p->use));
		p->use->gpus |= 1ull << on->device;
		p->use->used[on->device] = on->used;
	}
	for (struct top_process *p = t->all; p; p = p->hh.next) {
		if (p->use)
			set_numbers(t, p, n);
		if (!p->devices_now && (p->now.launches || p->now.held) && sees_one(env_of(t, p)))
			p->devices_now = 1;
	}
}

void gpu_use_json(FILE *f, const void *of)
{
	const struct gpu_use *u = of;
	const char *gap = "";

	fputc('{', f);
	for (unsigned i = 0; u && i < NVML_DEVICES; i++) {
		if (!(u->gpus & 1ull << i))
			continue;
		fprintf(f, "%s\"%u\":%llu", gap, i, u->used[i]);
		gap = ",";
	}
	fputc('}', f);
}
