/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches on the terminal's screen. */
#ifndef LAUNCH_SCREEN_H
#define LAUNCH_SCREEN_H
#include <stdbool.h>

struct launch_view;

/* Sets v->screen, except who. */
void launch_screen_init(struct launch_view *v);

/* Ends the interval and draws what was launched in it, unless the screen is paused. */
void launch_screen_update(struct launch_view *v);

/* Handles the keys pressed; returns false if the tool is to exit. */
bool launch_screen_keys(struct launch_view *v);

#endif
