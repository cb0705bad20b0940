// SPDX-License-Identifier: GPL-2.0
@snoop|#include "generated/calls.bpf.h"
@!snoop|#include "generated/call_aggregate.bpf.h"
