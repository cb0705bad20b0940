/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Whether return probes kill processes that have a seccomp filter.  From Linux 6.11 on, a return probe
 * makes the process do a system call of its own, uretprobe(2), which filters do not know.  Since 6.14, and
 * stable kernels of early 2025, it passes them ("seccomp: passthrough uretprobe systemcall without
 * filtering"). */
#ifndef PROBE_URETPROBE_H
#define PROBE_URETPROBE_H

enum uretprobe {
	URETPROBE_SAFE,
	URETPROBE_KILLS,
	URETPROBE_UNKNOWN	/* it could not be tried */
};

/* Tries it with a child of this process, which has a filter and returns from a probed function of ours.
 * Takes some milliseconds.  A file of its own, so that a test can link another one. */
enum uretprobe uretprobe_try(void);

#endif
