/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Of NVML what PyTorch calls: it takes for granted that a machine with a driver has it. Devices' handles are
 * their numbers plus one; the numbers of functions' results and the types are nvml.h's.
 */
#include <stdio.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3 };
typedef struct device *nvmlDevice_t;

#define NVML(name) __attribute__((visibility("default"))) int name

NVML(nvmlInit_v2)(void)
{
	return SUCCESS;
}

NVML(nvmlShutdown)(void)
{
	return SUCCESS;
}

NVML(nvmlSystemGetCudaDriverVersion_v2)(int *version)
{
	*version = 13000;
	return SUCCESS;
}

NVML(nvmlDeviceGetHandleByPciBusId_v2)(const char *id, nvmlDevice_t *device)
{
	unsigned domain, bus;

	if (sscanf(id, "%x:%x", &domain, &bus) != 2 || !bus)
		return INVALID_ARGUMENT;
	*device = (nvmlDevice_t)(unsigned long)bus;
	return SUCCESS;
}

NVML(nvmlDeviceGetComputeRunningProcesses)(nvmlDevice_t device, unsigned *count, void *processes)
{
	(void)device, (void)processes;
	*count = 0;
	return SUCCESS;
}

/* What the caller has zeroed says that there is no such fabric. */
NVML(nvmlDeviceGetGpuFabricInfoV)(nvmlDevice_t device, void *info)
{
	(void)device, (void)info;
	return SUCCESS;
}

NVML(nvmlDeviceGetNvLinkRemoteDeviceType)(nvmlDevice_t device, unsigned link, void *type)
{
	(void)device, (void)link, (void)type;
	return NOT_SUPPORTED;
}

NVML(nvmlDeviceGetNvLinkRemotePciInfo_v2)(nvmlDevice_t device, unsigned link, void *info)
{
	(void)device, (void)link, (void)info;
	return NOT_SUPPORTED;
}
