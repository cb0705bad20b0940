/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Private to this room. */
#ifndef SYMS_ADDRESS_H
#define SYMS_ADDRESS_H

struct module;
struct syms;

/* Returns the address at which the process has mapped this offset of a file's code; 0 if it has not. */
unsigned long long syms_address(struct syms *s, int pid, const struct module *m, unsigned long long offset);

#endif
