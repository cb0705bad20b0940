/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "load.h"

bool live_compact(struct loader *l)
{
	l->f->slots = l->num_slots;
	l->f->registers = l->num_slots / 2 + 16;
	return true;
}
