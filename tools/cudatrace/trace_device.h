/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a function or a call says about devices. */
#ifndef TRACE_DEVICE_H
#define TRACE_DEVICE_H
#include <stdbool.h>

struct cuda_proto;
struct trace_call;

/* Return true if calls of the function tell which device is whose: bpf/lib/device.bpf.h. */
bool trace_tells_device(const struct cuda_proto *proto);

/* Return true if the call says that its program uses the device it is on.  One that chooses another
 * does not: most programs begin so that use one device alone. */
bool trace_uses_device(const struct trace_call *call);

#endif
