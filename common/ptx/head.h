/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The head of a function: .visible .entry name(params) .maxntid 256, 1, 1 { */
#ifndef HEAD_H
#define HEAD_H
#include "ptx/ptx.h"

struct ptx_head {
	bool entry;		/* a kernel */
	struct ptx_str name;
	struct ptx_str result, params;	/* between ( ); n = 0: none */
	struct ptx_str rest;	/* behind the parameters: .maxntid …, without the { */
};

/* Takes the body of a PTX_FUNC apart, or of a declaration; false if it has no name. */
bool ptx_head_parse(struct ptx_str body, struct ptx_head *head);

#endif
