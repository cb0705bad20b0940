/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which functions of a file are probed. */
#ifndef CHOOSE_H
#define CHOOSE_H

struct elf_scan;
struct probes;

/* Keeps of what a file has what p->source wants, in the order in which it is to be probed, those that
 * toggle last; tells p->on_probe() of it and of what is skipped, or p->on_skipped(). */
void choose_probes(const struct probes *p, const char *path, struct elf_scan *scan);

/* Tells p->on_skipped(), if it is set, why nothing is probed in a file. */
void choose_none(const struct probes *p, const char *path, const char *why);

#endif
