/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches as blocks of text or as rows of JSON. */
#ifndef LAUNCH_REPORT_H
#define LAUNCH_REPORT_H
#include <stdbool.h>

struct launch_view;

/* Ends the interval and prints what was launched in it or, if whole, since the start. */
void launch_report(struct launch_view *v, bool whole);

#endif
