/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Two models of a kind that are fed in turn in one process, with different records: what each holds
 * then is printed as JSON lines, whose "model" is 1 or 2; 3 is the second after the first forgot all
 * that it had, 4 the first then.  What is held and freed is a prime number of each. */
#ifndef MODELS_H
#define MODELS_H

void models_launches(void);
void models_memory(void);

#endif
