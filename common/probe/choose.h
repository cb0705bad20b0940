/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Selects the functions of a file to probe. */
#ifndef CHOOSE_H
#define CHOOSE_H

struct elf_scan;
struct probes;

/* Keeps those functions of the scan that p->source wants, sorted in the order to probe them, those
 * that toggle last.  Reports each wanted function, kept or skipped, to p->on_probe(), and a file
 * that has no functions to p->on_skipped(). */
void choose_probes(const struct probes *p, const char *path, struct elf_scan *scan);

/* Reports to p->on_skipped(), if set, why nothing in a file is probed. */
void choose_none(const struct probes *p, const char *path, const char *why);

#endif
