/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Selects the functions of a file to probe. */
#ifndef SELECT_PROBES_H
#define SELECT_PROBES_H

struct elf_scan;
struct probes;

/* Keeps those functions of the scan that p->source wants, sorted in the order to probe them, those
 * that toggle last.  Reports each wanted function, kept or skipped, to p->on_probe(), and a file
 * that has no functions to p->on_skipped(). */
void select_probes(const struct probes *p, const char *path, struct elf_scan *scan);

/* Reports to p->on_skipped(), if set, why nothing in a file is probed. */
void report_skipped(const struct probes *p, const char *path, const char *why);

#endif
