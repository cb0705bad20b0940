// SPDX-License-Identifier: GPL-2.0
/* ten thousand threads that begin at once leave the tool no time */
#define RECORDS_BYTES (8 * 1024 * 1024)
#include "lib/memory.bpf.h"
#include "lib/running.bpf.h"
