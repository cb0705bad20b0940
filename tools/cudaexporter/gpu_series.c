/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cudaexporter/gpu_series.h"
#include "cudaexporter/labelled_processes.h"
#include "cudaexporter/memory_metrics.h"
#include "nvml/device_env.h"
#include "proc/helper_pool.h"

/* How long a page waits for the library, ms; usually it takes one or two. */
enum { WAIT = 100 };

void gpus_open(struct gpus *g, struct label_set *set, struct helper_pool *helpers, bool verbose)
{
	g->set = set;
	g->helpers = helpers;
	nvml_start(&g->nvml, &helpers->helper, verbose);
}

/* Returns the labels of a device.  After a reset, its number may be another device's: the old labels are not freed, because
 * series may use them. */
static struct metric_labels gpu_series_labels_of(struct gpus *g, unsigned device)
{
	const char *uuid = g->nvml.devices[device].uuid;

	if (!g->labels[device] || strcmp(g->uuids[device], uuid)) {
		memcpy(g->uuids[device], uuid, sizeof(g->uuids[device]));
		g->labels[device] = xprintf("gpu_uuid=\"%s\"", uuid);
	}
	return metric_text(g->labels[device]);
}

static void collect_device(struct gpus *g, unsigned device)
{
	const struct nvml_device *d = &g->nvml.devices[device];

	if (!d->memory_known || !*d->uuid)
		return;
	series_add(g->set, METRIC_GPU_TOTAL, gpu_series_labels_of(g, device), d->total);
	series_add(g->set, METRIC_GPU_USED, gpu_series_labels_of(g, device), d->used);
}

/* Reads the process's environment, if need be.  Returns false if that fails. */
static bool has_env(struct gpus *g, struct cuda_process *process)
{
	struct device_env env;
	int err;

	if (process->env || process->no_env)
		return process->env;
	err = device_env_read(g->helpers, process->key.pid, &env);
	process->no_env = err && !err_is_transient(err);
	if (err)
		return false;
	process->env = xcalloc(1, sizeof(env));
	*process->env = env;
	return true;
}

/* Sets number[] as device_numbers() does, and shows them. */
static void number_devices(struct gpus *g, struct cuda_process *process, unsigned *number)
{
	if (!has_env(g, process))
		return;
	device_numbers(process->env, &g->nvml, process->key.pid, number);
	for (unsigned i = 0; i < g->nvml.ndevices; i++) {
		if (!*g->nvml.devices[i].uuid)
			number[i] = 0;
		if (number[i])
			process_show(process, METRIC_DEVICE_INFO,
				     xprintf("pid=\"%u\",device=\"%u\",gpu_uuid=\"%s\"", process->key.pid, number[i] - 1,
					     g->nvml.devices[i].uuid));
	}
}

/* Returns the number of GPUs that the process uses. */
static unsigned on_gpus(const struct gpus *g, int pid)
{
	unsigned long long used;
	unsigned n = 0;

	for (unsigned i = 0; i < g->nvml.ndevices; i++)
		n += nvml_used(&g->nvml, pid, i, &used);
	return n;
}

static void collect_process(struct gpus *g, struct cuda_process *process, const struct memory_metrics *memory)
{
	unsigned number[NVML_DEVICES] = { 0 }, several = on_gpus(g, process->key.pid) > 1;
	unsigned long long used;

	number_devices(g, process, number);
	for (unsigned i = 0; i < g->nvml.ndevices; i++) {
		if (!*g->nvml.devices[i].uuid || !nvml_used(&g->nvml, process->key.pid, i, &used))
			continue;
		series_add(process->set, METRIC_GPU_PROCESS, gpu_series_labels_of(g, i), used);
		if (!number[i])
			continue;
		used -= memory_metrics_on_device(memory, process->key.pid, number[i]);
		if (!several)	/* memory on an unknown device is on this one */
			used -= memory_metrics_on_device(memory, process->key.pid, 0);
		series_add(process->set, METRIC_UNACCOUNTED, gpu_series_labels_of(g, i), used);
	}
}

void gpus_collect(struct gpus *g, struct processes *c, const struct memory_metrics *memory)
{
	struct cuda_process *process;

	if (!nvml_read(&g->nvml, WAIT))
		return;
	for (unsigned i = 0; i < g->nvml.ndevices; i++)
		collect_device(g, i);
	for (process = c->by_pid; process; process = process->hh_pid.next)
		if (process->set != c->sets.other)
			collect_process(g, process, memory);
}

void gpus_close(struct gpus *g)
{
	nvml_close(&g->nvml);
	for (int i = 0; i < NVML_DEVICES; i++)
		free(g->labels[i]);
}
