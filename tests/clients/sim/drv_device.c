/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: what programs ask of a device before they use it. */
#include <stdio.h>

#include "../../sim/drv.h"

static int bad_device(int dev)
{
	return dev < 0 || dev >= drv_devices;
}

DRV_QUIET(cuDeviceGetPCIBusId)(char *id, int len, CUdevice dev)
{
	if (!id || len < 13 || bad_device(dev))
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(id, len, "0000:%02x:00.0", dev + 1);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceGetUuid_v2)(CUuuid *uuid, CUdevice dev)
{
	if (!uuid || bad_device(dev))
		return CUDA_ERROR_INVALID_VALUE;
	*uuid = (CUuuid){ .bytes = "simulated" };
	uuid->bytes[15] = (char)dev;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceCanAccessPeer)(int *can, CUdevice dev, CUdevice peer)
{
	if (!can || bad_device(dev) || bad_device(peer))
		return CUDA_ERROR_INVALID_VALUE;
	*can = dev != peer;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuCtxEnablePeerAccess)(CUcontext peer, unsigned flags)
{
	return peer && !flags ? drv_check() : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuCtxGetStreamPriorityRange)(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return drv_check();
}
