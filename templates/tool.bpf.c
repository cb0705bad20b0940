// SPDX-License-Identifier: GPL-2.0
@snoop|#include "calls.bpf.h"
@!snoop|#include "call_tally.bpf.h"
