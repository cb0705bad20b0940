/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cudaexporter/client_texts.h"
#include "cudaexporter/devices.h"
#include "cudaexporter/gpus.h"
#include "cudaexporter/held.h"
#include "proc/helper_pool.h"

/* How long a page waits for the library, ms: usually it takes one or two. */
enum { WAIT = 100 };

void gpus_open(struct gpus *g, struct owner *owner, struct helper_pool *helpers, bool verbose)
{
	g->owner = owner;
	g->helpers = helpers;
	g->nvml.helper.idle = helpers->helper.idle;
	g->nvml.helper.ctx = helpers->helper.ctx;
	nvml_open(&g->nvml, verbose);
	nvml_ask(&g->nvml);	/* the first answer may take seconds */
}

/* The labels of a device.  Another device may have its number after a reset: the old labels stay, as series may
 * have them. */
static struct metric_labels labels_of(struct gpus *g, unsigned device)
{
	const char *uuid = g->nvml.devices[device].uuid;

	if (!g->labels[device] || strcmp(g->uuids[device], uuid)) {
		memcpy(g->uuids[device], uuid, sizeof(g->uuids[device]));
		g->labels[device] = xprintf("gpu_uuid=\"%s\"", uuid);
	}
	return (struct metric_labels){ 0, (unsigned long long)g->labels[device] };
}

static void collect_device(struct gpus *g, struct series_table *t, unsigned device)
{
	const struct nvml_device *d = &g->nvml.devices[device];

	if (!d->memory_known || !*d->uuid)
		return;
	series_add(t, g->owner, METRIC_GPU_TOTAL, labels_of(g, device), d->total);
	series_add(t, g->owner, METRIC_GPU_USED, labels_of(g, device), d->used);
}

/* Return true if the process's environment is known. */
static bool has_env(struct gpus *g, struct client *client)
{
	struct device_env env;
	int err;

	if (client->env || client->no_env)
		return client->env;
	err = device_env_read(g->helpers, client->key.pid, &env);
	client->no_env = err && !err_is_transient(err);
	if (err)
		return false;
	client->env = xcalloc(1, sizeof(env));
	*client->env = env;
	return true;
}

/* Sets number[i] to the number that the process has for device i, as in abi/device.h; 0: not known. */
static void number_devices(struct gpus *g, struct clients *c, struct client *client, unsigned *number)
{
	const char *why;

	for (unsigned n = 0; n < g->nvml.ndevices && has_env(g, client); n++) {
		int i = device_find(client->env, &g->nvml, client->key.pid, n, &why);

		if (i < 0 || !*g->nvml.devices[i].uuid)
			continue;
		number[i] = n + 1;
		client_show(c->owners.table, client, METRIC_DEVICE_INFO,
			     xprintf("pid=\"%u\",device=\"%u\",gpu_uuid=\"%s\"", client->key.pid, n,
				     g->nvml.devices[i].uuid));
	}
}

/* How many GPUs the process is on. */
static unsigned on_gpus(const struct gpus *g, int pid)
{
	unsigned long long used;
	unsigned n = 0;

	for (unsigned i = 0; i < g->nvml.ndevices; i++)
		n += nvml_used(&g->nvml, pid, i, &used);
	return n;
}

static void collect_client(struct gpus *g, struct clients *c, struct client *client, const struct held *held)
{
	unsigned number[NVML_DEVICES] = { 0 }, several = on_gpus(g, client->key.pid) > 1;
	unsigned long long used;

	number_devices(g, c, client, number);
	for (unsigned i = 0; i < g->nvml.ndevices; i++) {
		if (!*g->nvml.devices[i].uuid || !nvml_used(&g->nvml, client->key.pid, i, &used))
			continue;
		series_add(c->owners.table, client->owner, METRIC_GPU_PROCESS, labels_of(g, i), used);
		if (!number[i])
			continue;
		used -= held_on_device(held, client->key.pid, number[i]);
		if (!several)	/* what is held on a device that is not known is there too */
			used -= held_on_device(held, client->key.pid, 0);
		series_add(c->owners.table, client->owner, METRIC_UNACCOUNTED, labels_of(g, i), used);
	}
}

void gpus_collect(struct gpus *g, struct clients *c, const struct held *held)
{
	struct client *client;

	if (!nvml_read(&g->nvml, WAIT))
		return;
	for (unsigned i = 0; i < g->nvml.ndevices; i++)
		collect_device(g, c->owners.table, i);
	for (client = c->by_pid; client; client = client->hh_pid.next)
		if (client->owner != c->owners.other)
			collect_client(g, c, client, held);
}

void gpus_close(struct gpus *g)
{
	nvml_close(&g->nvml);
	for (int i = 0; i < NVML_DEVICES; i++)
		free(g->labels[i]);
}
