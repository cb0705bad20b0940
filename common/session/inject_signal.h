/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Ends a command whose processes need not have connected: they may use no CUDA, or not yet. */
#ifndef INJECT_SIGNAL_H
#define INJECT_SIGNAL_H

struct inject_peers;

/* Sends a signal to the process, to its children and theirs, and to those that have connected, each once.  Not reached is
 * one whose parent has ended and that has not connected. */
void inject_signal(const struct inject_peers *p, int root, int sig);

#endif
