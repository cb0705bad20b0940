/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The attach report of --list: what is probed, where, and what is not and why. */
#ifndef REPORT_H
#define REPORT_H
#include <stdbool.h>
#include "elf/elf.h"
#include "probe/probe_source.h"

void probe_list_init(bool on);

/* A function of a file: probed, or skipped for a reason. */
void probe_list_probe(const char *path, const struct function *fn, const struct elf_probe *p,
		  const char *skipped);

/* A file that has nothing to probe, and why that is. */
void probe_list_file(const char *path, const char *why);

/* Prints it, by file. */
void probe_list_print(void);

#endif
