/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef BARRIER_H
#define BARRIER_H

enum barrier_mode { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED, BARRIER_POPC, BARRIER_AND, BARRIER_OR };

#endif
