/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of kernels in options and rows. */
#ifndef VIEW_KERNEL_NAMES_H
#define VIEW_KERNEL_NAMES_H
#include "cli/field.h"
#include "cli/opt.h"

/* Sets v, an int, to an enum kernel_style (kernels/kernel_name.h). */
#define KERNEL_STYLE_WORDS "full|brief|short"
#define OPT_KERNEL_NAMES(v, h) OPT_CHOICE(0, "kernel-names", KERNEL_STYLE_WORDS, v, h)

/* const char *, the name of a kernel with or without parameters: its short name, JSON only. */
extern const struct field_type field_short;
#define OUT_SHORT (&field_short)

#endif
