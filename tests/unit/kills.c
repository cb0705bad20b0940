/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Linked instead of arch/x86/uretprobe.c: a kernel whose return probes kill processes that have a seccomp
 * filter, though this one's may not.  Says when it is tried. */
#include <stdio.h>
#include "probe/uretprobe.h"

enum uretprobe uretprobe_try(void)
{
	fprintf(stderr, "return probes are tried\n");
	return URETPROBE_KILLS;
}
