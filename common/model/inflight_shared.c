/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "abi/inject.h"
#include "model/inflight_shared.h"
#include "model/inflight_state.h"
#include "probe/probes.h"
#include "proc/vm_read.h"

/* What the stub of a function leaves on the stack while its return is awaited: tools/inject/stub.S. */
struct stub_frame {
	unsigned long long r15, r14, r13, r12, rbp, rbx, others[15];	/* a struct pt_regs of 21 words */
	unsigned long long mark, saved_rbp, return_address;
};

bool inflight_shared(struct inflight *r, struct inflight_call *c)
{
	unsigned long long from = c->stack.from, *regs = c->stack.regs;
	struct stub_frame *f;
	bool in = false;

	f = vm_read_bytes(r->probes->helpers, c->stack.head.pid, from + 8 - sizeof(*f), sizeof(*f));
	if (f && f->mark == (INJECT_STUB_MAGIC ^ from)) {
		in = true;
		regs[UNWIND_RBX] = f->rbx;
		regs[UNWIND_RBP] = f->saved_rbp;
		regs[UNWIND_R12] = f->r12;
		regs[UNWIND_R12 + 1] = f->r13;
		regs[UNWIND_R12 + 2] = f->r14;
		regs[UNWIND_R12 + 3] = f->r15;
		regs[UNWIND_RSP] = from + 8;
		regs[UNWIND_RIP] = f->return_address;
	}
	free(f);
	return in;
}
