/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Ends a command whose processes need not have connected: they may use no CUDA, or not yet. */
#ifndef INJECT_SIGNAL_H
#define INJECT_SIGNAL_H

struct inject_peers;

/* Sends a signal to the process root (0: it has ended, and its number may be another's), to its children and theirs, and to those that have connected, each once, but not to a process group that has it already
 * (0: none).  Not reached is
 * one whose parent has ended and that has not connected. */
void inject_signal(const struct inject_peers *p, int root, int sig, int group);

#endif
