/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "api/cuda_err.h"

const char *cuda_err_name(enum cuda_lib lib, int code)
{
	static const struct { enum cuda_lib lib; int code; const char *name; } errors[] = {
#define CUDA_ERR(lib, code, name) { CUDA_##lib, code, #name },
#include "cuda_protos.def"
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].lib == lib && errors[i].code == code)
			return errors[i].name;
	return NULL;
}

const char *cuda_err_text(enum cuda_lib lib, int code, char number[CUDA_ERR_NUMBER])
{
	const char *name = code ? cuda_err_name(lib, code) : "ok";

	if (name)
		return name;
	snprintf(number, CUDA_ERR_NUMBER, "%d", code);
	return number;
}
