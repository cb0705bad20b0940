/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches on the terminal's screen. */
#ifndef LAUNCH_SCREEN_H
#define LAUNCH_SCREEN_H

struct launch_view;

/* Sets v->screen, except who. */
void launch_screen_init(struct launch_view *v);

/* Ends the interval and draws what was launched in it, unless the screen is paused. */
void launch_screen_update(struct launch_view *v);

#endif
