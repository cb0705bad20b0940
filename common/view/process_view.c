/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/escape.h"
#include "view/process_view.h"

void process_text(int pid, const char *comm, const char *container)
{
	printf("pid %d (", pid);
	escape_text(stdout, comm);
	printf(container ? ") in container %s" : ")", container);
}
