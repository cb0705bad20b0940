/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The verdict on each communicator by itself, from what its ranks do. */
#ifndef NCCLHANG_JUDGE_H
#define NCCLHANG_JUDGE_H
struct hang;
struct hangs;

/* Sets the verdict of a communicator that was not seen being made. */
void hang_judge_unseen(struct hang *h);

/* Sorts all, and sets the verdicts: at a time, ns; those where something moved in the last stall_ns are HANG_MOVING. */
void hangs_judge(struct hangs *h, unsigned long long now, unsigned long long stall_ns);

#endif
