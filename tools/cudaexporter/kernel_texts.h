/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The labels of kernels, each text once: series are told apart by where it is. */
#ifndef KERNEL_TEXTS_H
#define KERNEL_TEXTS_H
#include "base/hash.h"
#include "base/quota.h"
#include "cudaexporter/kernel_label.h"
#include "cudaexporter/series.h"

struct kernel_text {
	unsigned uses;		/* by those who hold it */
	bool shown;		/* by a series */
	unsigned user;		/* who is charged */
	size_t cost;
	UT_hash_handle hh;
	char labels[];		/* kernel="...", as it is printed */
};

struct kernel_texts {
	struct kernel_text *all;
	struct quota *quota;	/* of bytes, set first */
};

/* Returns the text of a name, made if need be, with a use more; NULL if its user has no room. */
struct kernel_text *kernel_text_get(struct kernel_texts *t, const char *name, unsigned user, int pid);

/* The labels of its series. */
struct metric_labels kernel_text_labels(const struct kernel_text *text);

/* Frees the texts that nobody holds and no series of METRIC_KERNEL_LAUNCHES has; or all. */
void kernel_texts_drop(struct kernel_texts *t, const struct series_table *table);
void kernel_texts_free(struct kernel_texts *t);

#endif
