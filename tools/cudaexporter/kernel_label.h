/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a kernel is called in a label: short, and the same in each run. */
#ifndef KERNEL_LABEL_H
#define KERNEL_LABEL_H

/* The bytes of a name, and of '#' and the hash that follow one that is cut. */
enum { KERNEL_LABEL_TEXT = 120, KERNEL_LABEL_HASH = 9,
       KERNEL_LABEL_SIZE = KERNEL_LABEL_TEXT + KERNEL_LABEL_HASH + 1 };

/* Writes the label of a kernel with this name, which has no parameters: "fill" for "fill<int>", as
 * thousands of kernels differ in their template arguments alone.  A longer one than KERNEL_LABEL_TEXT is
 * cut where a character begins, and a hash of all of it follows.  Bytes are those of the program, to be
 * escaped. */
void kernel_label(char label[KERNEL_LABEL_SIZE], const char *name);

#endif
