// SPDX-License-Identifier: GPL-2.0
/* for ten thousand threads that start together */
#define RECORDS_BYTES (8 * 1024 * 1024)
#include "lib/memory.bpf.h"
