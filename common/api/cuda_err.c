/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "api/cuda_err.h"

/* Each switch takes its own library's rows and skips the others'. */
static const char *rt_name(int code)
{
	switch (code) {
#define RT(code, name) case code: return #name;
#define DRV(code, name)
#define NCCL(code, name)
#define NVRTC(code, name)
#define CUDA_ERR(lib, code, name) lib(code, name)
#include "cuda_protos.def"
#undef RT
#undef DRV
	}
	return NULL;
}

static const char *drv_name(int code)
{
	switch (code) {
#define RT(code, name)
#define DRV(code, name) case code: return #name;
#include "cuda_protos.def"
#undef DRV
#undef NCCL
	}
	return NULL;
}

static const char *nccl_name(int code)
{
	switch (code) {
#define DRV(code, name)
#define NCCL(code, name) case code: return #name;
#include "cuda_protos.def"
#undef NCCL
#undef NVRTC
	}
	return NULL;
}

static const char *nvrtc_name(int code)
{
	switch (code) {
#define NCCL(code, name)
#define NVRTC(code, name) case code: return #name;
#include "cuda_protos.def"
	}
	return NULL;
}

const char *cuda_err_name(enum cuda_lib lib, int code)
{
	return lib == CUDA_NVRTC ? nvrtc_name(code) : lib == CUDA_NCCL ? nccl_name(code) : lib == CUDA_RT ? rt_name(code) : drv_name(code);
}

const char *cuda_err_text(enum cuda_lib lib, int code, char number[CUDA_ERR_NUMBER])
{
	const char *name = code ? cuda_err_name(lib, code) : "ok";

	if (name)
		return name;
	snprintf(number, CUDA_ERR_NUMBER, "%d", code);
	return number;
}
