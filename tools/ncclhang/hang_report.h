/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A rank by the output of ncclhang on another host. */
#ifndef NCCLHANG_HANG_REPORT_H
#define NCCLHANG_HANG_REPORT_H
#include <stdbool.h>
#include <stdio.h>
#include "nccl/rank_name.h"

struct json_t;

struct hang_report {
	const char *host, *comm, *container;	/* host: the file; container: NULL if none */
	bool mismatch, culprit;		/* its verdict was that, and the rank one that differed */
	unsigned long long about;	/* number of the collective of that verdict; 0: none */
	struct rank_name name;
	struct json_t *row;		/* all of it */
	const struct json_t *frames;	/* of its stack, or NULL */
};

/* Writes the frames of its stack as text. */
void hang_report_stack(FILE *f, const struct hang_report *r);

#endif
