/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The functions of libnvidia-ml.so.1 that are called, and their structs, by NVIDIA's "NVML API Reference Guide"
 * (docs.nvidia.com/deploy/nvml-api).  Private to nvml_library.c and nvml_device.c. */
#ifndef NVML_API_H
#define NVML_API_H

/* nvmlReturn_t */
enum {
	NVML_SUCCESS = 0, NVML_ERROR_INSUFFICIENT_SIZE = 7, NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_LIBRARY_NOT_FOUND = 12,
};

typedef struct nvml_handle *nvml_handle;	/* nvmlDevice_t */

struct nvml_memory_info { unsigned long long total, free, used; };	/* nvmlMemory_t */

struct nvml_pci_info {		/* nvmlPciInfo_t */
	char bus_id_legacy[16];
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

/* nvmlProcessInfo_v1_t and _v2_t; used is ~0 if it is not known. */
struct nvml_process_v1 { unsigned pid; unsigned long long used; };
struct nvml_process_v2 { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; };

/* Those without which nothing works, and those that may be missing: X(member, result, function, parameters).
 *
 * Processes are asked for by _v2, whose struct never changed.  That of _v3 had a member more in drivers from 535.43
 * to 535.86 and has _v2's in all others, so it is only for a library without _v2; drivers before 455 have neither. */
#define NVML_NEEDED(X)										\
	X(init, int, nvmlInit_v2, (void))							\
	X(shutdown, int, nvmlShutdown, (void))							\
	X(error, const char *, nvmlErrorString, (int))						\
	X(count, int, nvmlDeviceGetCount_v2, (unsigned *))					\
	X(handle, int, nvmlDeviceGetHandleByIndex_v2, (unsigned, nvml_handle *))		\
	X(uuid, int, nvmlDeviceGetUUID, (nvml_handle, char *, unsigned))			\
	X(name, int, nvmlDeviceGetName, (nvml_handle, char *, unsigned))			\
	X(memory, int, nvmlDeviceGetMemoryInfo, (nvml_handle, struct nvml_memory_info *))

#define NVML_OPTIONAL(X)									\
	X(pci, int, nvmlDeviceGetPciInfo_v3, (nvml_handle, struct nvml_pci_info *))		\
	X(minor, int, nvmlDeviceGetMinorNumber, (nvml_handle, unsigned *))			\
	X(mig_mode, int, nvmlDeviceGetMigMode, (nvml_handle, unsigned *, unsigned *))		\
	X(mig, int, nvmlDeviceGetMigDeviceHandleByIndex, (nvml_handle, unsigned, nvml_handle *))	\
	X(inflight_v3, int, nvmlDeviceGetComputeRunningProcesses_v3,				\
	  (nvml_handle, unsigned *, struct nvml_process_v2 *))					\
	X(inflight_v2, int, nvmlDeviceGetComputeRunningProcesses_v2,				\
	  (nvml_handle, unsigned *, struct nvml_process_v2 *))					\
	X(inflight_v1, int, nvmlDeviceGetComputeRunningProcesses,				\
	  (nvml_handle, unsigned *, struct nvml_process_v1 *))					\
	X(mps_v2, int, nvmlDeviceGetMPSComputeRunningProcesses_v2,				\
	  (nvml_handle, unsigned *, struct nvml_process_v2 *))

#define NVML_MEMBER(member, result, function, parameters) result (*member) parameters;
struct nvml_api {
	NVML_NEEDED(NVML_MEMBER)
	NVML_OPTIONAL(NVML_MEMBER)
};
#undef NVML_MEMBER

#endif
