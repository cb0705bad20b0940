/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef SHUFFLE_H
#define SHUFFLE_H

enum warp_mode { WARP_NONE, WARP_ALL, WARP_ANY, WARP_UNI, WARP_BALLOT, WARP_UP, WARP_DOWN, WARP_BUTTERFLY, WARP_INDEX };

#endif
