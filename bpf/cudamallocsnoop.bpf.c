// SPDX-License-Identifier: GPL-2.0
#include "lib/memory.bpf.h"
#include "lib/running.bpf.h"
