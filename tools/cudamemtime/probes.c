/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "cudamemtime/probes.h"
#include "memtime_hist.ptx.h"
#include "memtime_stage.ptx.h"
#include "memtime_trace.ptx.h"

const char *memtime_probe(enum memtime_probe probe)
{
	switch (probe) {
	case PROBE_HIST:
		return memtime_hist_ptx;
	case PROBE_TRACE:
		return memtime_trace_ptx;
	case PROBE_STAGE:
		return memtime_stage_ptx;
	}
	abort();
}
