/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Text that grows.  Out of memory: `failed` is set, and what is put after that is dropped. */
#ifndef PTX_PUT_H
#define PTX_PUT_H
#include <stdbool.h>
#include <stddef.h>
#include "ptx/ptx.h"

struct ptx_out {
	char *s;		/* malloc'd; ended by 0 if anything was put */
	size_t n, max;
	bool failed;
};

void put_bytes(struct ptx_out *out, const char *s, size_t n);
void put(struct ptx_out *out, const char *text);
void put_str(struct ptx_out *out, struct ptx_str str);
void put_number(struct ptx_out *out, unsigned long long number);
__attribute__((format(printf, 2, 3)))
void put_format(struct ptx_out *out, const char *format, ...);

#endif
