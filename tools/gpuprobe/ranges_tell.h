/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_RANGES_TELL_H
#define GPUPROBE_RANGES_TELL_H

/* Tells all instrumented modules what memory there is (ranges.h), if the tool has asked for it; returns when that is
 * done. */
void ranges_tell(void);

#endif
