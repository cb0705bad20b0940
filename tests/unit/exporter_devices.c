/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* exporter-devices: reads lines "GPUS VISIBLE ORDER SLURM NODES ON" as exporter-devices.tbl has them and prints for each
 * the numbers of the program's first devices, up to the last one that is known, with "?" for one that is not;
 * after them, why the first one is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nvml/device_env.h"
#include "nvml/nvml.h"

enum { PID = 7, GPUS = 4 };

static void set_gpus(struct nvml *n, const char *kind)
{
	static const char *const uuids[GPUS] = { "GPU-aaaa1111", "GPU-aaaa2222", "GPU-bbbb3333", "GPU-cccc4444" };

	n->ndevices = strcmp(kind, "none") ? GPUS : 0;
	for (unsigned i = 0; i < GPUS; i++) {
		struct nvml_device *d = &n->devices[i];

		*d = (struct nvml_device){ .place = i, .minor = GPUS - 1 - i };
		strcpy(d->uuid, uuids[i]);
		strcpy(d->name, !strcmp(kind, "mixed") && i == 2 ? "slow" : "fast");
	}
	if (!strcmp(kind, "split")) {
		n->devices[1].mig = true;
		n->devices[1].nmigs = 2;
		strcpy(n->devices[1].migs[0], "MIG-dddd5555");
		strcpy(n->devices[1].migs[1], "MIG-eeee6666");
	}
}

/* "-" or the GPUs' numbers: "02" */
static void set_processes(struct nvml *n, const char *on)
{
	n->processes[0] = (struct nvml_process){ .pid = PID + 1, .device = 3, .used = 4096 };
	n->nprocesses = 1;
	for (; *on >= '0' && *on < '0' + GPUS; on++)
		n->processes[n->nprocesses++] = (struct nvml_process){ .pid = PID, .device = *on - '0', .used = 4096 };
}

static void set_env(struct device_env *env, const char *visible, const char *order)
{
	env->restricted = strcmp(visible, "unset");
	snprintf(env->visible, sizeof(env->visible), "%s", strcmp(visible, "empty") ? visible : "");
	snprintf(env->order, sizeof(env->order), "%s", order);
	for (char *s = env->visible; (s = strchr(s, '_')); )
		*s = ' ';
}

static void print(const struct device_env *env, const struct nvml *n)
{
	const char *why[GPUS + 1];
	int gpus[GPUS + 1], last = 0;

	for (unsigned i = 0; i <= GPUS; i++) {
		gpus[i] = device_find(env, n, PID, i, &why[i]);
		last = gpus[i] < 0 ? last : (int)i;
	}
	for (int i = 0; i <= last; i++)
		printf(gpus[i] < 0 ? "?" : "%d", gpus[i]);
	printf(" %s\n", gpus[0] < 0 ? why[0] : "-");
}

int main(void)
{
	char gpus[16], visible[1000], order[32], on[16];
	struct nvml_process processes[GPUS + 2];
	struct nvml_device devices[GPUS];
	struct device_env env = { 0 };
	int slurm;

	while (scanf("%15s %999s %31s %d %llx %15s", gpus, visible, order, &slurm, &env.nodes, on) == 6) {
		struct nvml n = { .devices = devices, .processes = processes };

		set_gpus(&n, gpus);
		set_processes(&n, on);
		set_env(&env, visible, order);
		env.slurm = slurm;
		print(&env, &n);
	}
	return 0;
}
