/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* exporter-nvml read MS TIMES: reads NVML and prints an object a GPU, a process and a reading; before each one but the
 * first it waits for a line of input.
 * exporter-nvml find PID: what its devices 0 to 3 are, by its environment and NVML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "nvml/device_env.h"
#include "nvml/nvml.h"
#include "proc/helper_pool.h"

static void print_gpu(const struct nvml_device *d)
{
	printf("{\"uuid\":\"%s\",\"name\":\"%s\",\"bus\":%llu,\"minor\":%d,\"known\":%s,\"total\":%llu,\"used\":%llu,"
	       "\"mig\":%s,\"parts\":%u}\n", d->uuid, d->name, d->place >> 8 & 0xff, d->minor,
	       d->memory_known ? "true" : "false", d->total, d->used, d->mig ? "true" : "false", d->nmigs);
}

static void print_process(const struct nvml *n, const struct nvml_process *p)
{
	unsigned long long used = 0;
	bool known = nvml_used(n, p->pid, p->device, &used);

	printf("{\"pid\":%d,\"on\":\"%s\",\"holds\":%llu,\"known\":%s}\n", p->pid, n->devices[p->device].uuid, used,
	       known ? "true" : "false");
}

static bool read_once(struct nvml *n, long ms)
{
	unsigned long long began = clock_ns();
	bool ok = nvml_read(n, ms);

	printf("{\"read\":%s,\"ms\":%llu}\n", ok ? "true" : "false", (clock_ns() - began) / 1000000);
	for (unsigned i = 0; i < n->ndevices; i++)
		print_gpu(&n->devices[i]);
	for (unsigned i = 0; i < n->nprocesses; i++)
		print_process(n, &n->processes[i]);
	fflush(stdout);
	return ok;
}

static void print_found(const struct device_env *env, const struct nvml *n, int pid)
{
	for (unsigned device = 0; device < 4; device++) {
		const char *why = "";
		int gpu = device_find(env, n, pid, device, &why);

		printf("%u %s\n", device, gpu >= 0 ? n->devices[gpu].uuid : why);
	}
}

static int find(int pid)
{
	struct helper_pool helpers = HELPER_POOL_INIT;
	struct device_env env;
	struct nvml n = { 0 };
	int err;

	helpers.limit = HELPER_START;
	nvml_open(&n, false);
	if (!nvml_read(&n, 5000))
		return 3;
	err = device_env_read(&helpers, pid, &env);
	if (err)
		printf("%s\n", helper_error(err));
	else
		print_found(&env, &n, pid);
	helper_pool_free(&helpers);
	nvml_close(&n);
	return 0;
}

int main(int argc, char **argv)
{
	struct nvml n = { 0 };
	bool ok = false;
	char line[80];

	if (argc == 3 && !strcmp(argv[1], "find"))
		return find(atoi(argv[2]));
	if (argc != 4 || strcmp(argv[1], "read"))
		return 2;
	log_init(false, false);
	nvml_open(&n, getenv("VERBOSE"));
	for (int i = 0; i < atoi(argv[3]); i++) {
		if (i && !fgets(line, sizeof(line), stdin))
			break;
		ok = read_once(&n, atoi(argv[2]));
	}
	nvml_close(&n);
	return !ok;
}
