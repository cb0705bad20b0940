// SPDX-License-Identifier: GPL-2.0
@snoop|#include "newtool/calls.bpf.h"
@!snoop|#include "newtool/call_aggregate.bpf.h"
