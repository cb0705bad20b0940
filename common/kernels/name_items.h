/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Parts of a kernel's name: its own name and the arguments of its template, without namespaces and without
 * what only says how PyTorch, CUTLASS and CUB are made. */
#ifndef KERNELS_NAME_ITEMS_H
#define KERNELS_NAME_ITEMS_H
#include <stdbool.h>
#include <stddef.h>

enum item_kind { ITEM_OPERATION, ITEM_TYPE, ITEM_NUMBER, ITEM_BOOL, ITEM_WORD };

struct name_item {
	enum item_kind kind;
	const char *text;	/* in the name, or a constant */
	size_t len;
	int owner;		/* the class or function whose argument it is, by number; the kernel is 0 */
	bool complex;		/* of a type: complex<text> */
	int stars;		/* of a type: a pointer */
	bool joined;		/* of a number: follows the one before as in "1.2" */
	bool dropped;		/* not part of the short name */
};

enum { NAME_ITEMS = 96 };

struct name_items {
	const char *family;	/* the kernel's own name, or what the table calls it */
	size_t family_len;
	struct name_item all[NAME_ITEMS];
	int n;
	int owners;
	size_t from, to;	/* of the name, without a return type and parameters that do not count */
	bool truncated;		/* more items, or deeper ones, than there is room for */
	bool skipped;		/* something was not understood */
};

/* Reads a name with or without parameters, in the order of the text.  Returns false if it is not one of C or C++. */
bool name_items_read(struct name_items *items, const char *name);

#endif
