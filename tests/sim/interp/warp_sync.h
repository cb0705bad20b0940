/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef TESTS_SIM_INTERP_WARP_SYNC_H
#define TESTS_SIM_INTERP_WARP_SYNC_H
#include "machine.h"

/* An instruction that waits for lanes: returns true if all of them have come, or false, and it will be run again. */
bool warp_sync(struct warp *warp, uint32_t members, uint32_t on);
/* Lets those go on who waited for lanes that have ended. */
void warp_sync_wake(struct warp *warp);

#endif
