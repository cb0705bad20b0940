/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Two models of a kind, fed in turn in one process with different records.  What each holds at the
 * end is printed as JSON lines with "model" 1 or 2; 3 is the second model after the first has
 * forgotten everything, 4 the first one then.  The counts held and freed are prime numbers. */
#ifndef TESTS_UNIT_MODELS_H
#define TESTS_UNIT_MODELS_H

void models_launches(void);
void models_memory(void);

/* What users get of what is limited: JSON lines with "what", "who" and "got". */
void models_quota(void);

/* Threads whose calls on the GPU are joined: as models_quota(). */
void models_calls(void);

/* One clock of an SM against the one that all share: as models_quota(), in ns. */
void models_clocks(void);

/* Launches between the windows in which they are seen: as models_quota(). */
void models_estimates(void);

#endif
