/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include "cudaexporter/nvml_device.h"

/* The devices before the one with this place stand before it; those without a place stay last, in NVML's order. */
static void insert(struct nvml_found *f, nvml_handle handle, unsigned long long place)
{
	unsigned at = f->ndevices;

	for (; at && f->devices[at - 1].place > place; at--) {
		f->handles[at] = f->handles[at - 1];
		f->devices[at].place = f->devices[at - 1].place;
	}
	f->handles[at] = handle;
	f->devices[at].place = place;
	f->ndevices++;
}

static int find_devices(const struct nvml_api *api, struct nvml_found *f)
{
	unsigned count = 0;
	int err = api->count(&count);

	if (err)
		return err;
	for (unsigned i = 0; i < count && i < NVML_DEVICES; i++) {
		struct nvml_pci_info pci = { .domain = ~0u };
		nvml_handle handle;

		if (api->handle(i, &handle))
			continue;
		if (api->pci && api->pci(handle, &pci))
			pci = (struct nvml_pci_info){ .domain = ~0u };
		insert(f, handle, (unsigned long long)pci.domain << 32 | pci.bus << 8 | pci.device);
	}
	return 0;
}

static void read_migs(const struct nvml_api *api, nvml_handle handle, struct nvml_device *d)
{
	unsigned now = 0, next = 0;
	nvml_handle mig;

	d->mig = api->mig_mode && !api->mig_mode(handle, &now, &next) && now;
	for (unsigned i = 0; d->mig && api->mig && i < NVML_MIGS; i++)
		if (!api->mig(handle, i, &mig) && !api->uuid(mig, d->migs[d->nmigs], NVML_UUID))
			d->nmigs++;
}

static void read_device(const struct nvml_api *api, nvml_handle handle, struct nvml_device *d)
{
	struct nvml_memory_info memory = { 0 };
	unsigned number;

	if (api->uuid(handle, d->uuid, sizeof(d->uuid)))
		*d->uuid = '\0';
	if (api->name(handle, d->name, sizeof(d->name)))
		*d->name = '\0';
	d->minor = api->minor && !api->minor(handle, &number) ? (int)number : -1;
	d->memory_known = !api->memory(handle, &memory);
	d->total = memory.total;
	d->used = memory.used;
	read_migs(api, handle, d);
}

/* Adds to the process's entry for this device, one of those from first on; a split device has one for each part. */
static void add_process(struct nvml_found *f, unsigned first, unsigned device, unsigned pid, unsigned long long used)
{
	unsigned i = first;

	if (used == ~0ull)
		return;
	while (i < f->nprocesses && f->processes[i].pid != (int)pid)
		i++;
	if (i == NVML_PROCESSES)
		return;
	if (i == f->nprocesses)
		f->processes[f->nprocesses++] = (struct nvml_process){ .pid = pid, .device = device };
	f->processes[i].used += used;
}

static bool has_process(const struct nvml_found *f, unsigned first, unsigned end, unsigned pid)
{
	for (unsigned i = first; i < end; i++)
		if (f->processes[i].pid == (int)pid)
			return true;
	return false;
}

/* Clients of the multi-process service have a list of their own; who is in both counts once. */
static void read_clients(const struct nvml_api *api, struct nvml_found *f, unsigned first, unsigned device)
{
	unsigned n = NVML_PROCESSES, end = f->nprocesses;

	if (!api->mps_v2 || api->mps_v2(f->handles[device], &n, f->v2))
		return;
	for (unsigned i = 0; i < n && i < NVML_PROCESSES; i++)
		if (!has_process(f, first, end, f->v2[i].pid))
			add_process(f, first, device, f->v2[i].pid, f->v2[i].used);
}

static void read_processes(const struct nvml_api *api, struct nvml_found *f, unsigned device)
{
	unsigned n = NVML_PROCESSES, first = f->nprocesses;
	nvml_handle handle = f->handles[device];

	if (api->inflight_v2 || api->inflight_v3) {
		if ((api->inflight_v2 ? api->inflight_v2 : api->inflight_v3)(handle, &n, f->v2))
			n = 0;
		for (unsigned i = 0; i < n && i < NVML_PROCESSES; i++)
			add_process(f, first, device, f->v2[i].pid, f->v2[i].used);
	} else if (api->inflight_v1 && !api->inflight_v1(handle, &n, f->v1)) {
		for (unsigned i = 0; i < n && i < NVML_PROCESSES; i++)
			add_process(f, first, device, f->v1[i].pid, f->v1[i].used);
	}
	read_clients(api, f, first, device);
}

int nvml_devices_read(const struct nvml_api *api, struct nvml_found *f)
{
	int err = find_devices(api, f);

	for (unsigned i = 0; i < f->ndevices; i++) {
		read_device(api, f->handles[i], &f->devices[i]);
		read_processes(api, f, i);
	}
	return err;
}
