// SPDX-License-Identifier: GPL-2.0
#include "newtool/calls.bpf.h"
