/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* uthash, whose way to run out of memory is ours. */
#ifndef HASH_H
#define HASH_H
#include <errno.h>
#include "die.h"
#define uthash_fatal(msg) die(ENOMEM, "%s", msg)
#include <uthash.h>
#endif
