// SPDX-License-Identifier: GPL-2.0
@snoop|#include "lib/calls.bpf.h"
@!snoop|#include "lib/call_aggregate.bpf.h"
