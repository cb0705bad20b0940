/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject/resident.so: the dynamic linker loads it into programs in whose environment LD_AUDIT names it (rtld-audit(7)), with no
 * tool there.  It gives the CUDA functions stubs as inject/TOOL.so does, which jump to the functions until a tool asks for the
 * process (abi/resident.h).  Then the program maps that tool's library, to which the stubs lead while the tool traces. */
#ifndef RESIDENT_RESIDENT_H
#define RESIDENT_RESIDENT_H
#include <stdbool.h>
#include "abi/resident.h"
#include "inject/inject.h"
#include "inject/instance.h"

enum { CELL_BITS = 10, CELLS = 1 << CELL_BITS, OLD = 16, FOLDER = 4096 };

/* How many of the threads with the same hash are in an instance. */
struct resident_cell {
	__u64 owner;			/* the thread pointer of the first of them; 0: none */
	__u64 inside;			/* the owner is: only it changes this */
	__u64 others;			/* of the others, by atomic operations */
	__u64 pad[5];
};

/* Zero in the child of a fork: its threads are none of those. */
struct resident_page {
	struct resident_cell cell[CELLS];
	__u32 by;			/* the thread that has the lock; 0: none */
	__u64 since;			/* when it took it, ns */
};

/* A tool's library that is mapped. */
struct loaded {
	const struct instance *is;	/* NULL: none */
	char *at;
	__u64 bytes;
};

struct resident_state {
	struct resident_control *control;	/* shared; NULL: no stub is there */
	struct resident_page *page;
	void *window;			/* of INSTANCE_WINDOW bytes */
	struct loaded now;
	const struct instance *in;	/* now's, once it may be called */
	__u32 generation;		/* of instances; other than before once one is left */
	__u32 handled;			/* the control's generation that was acted upon */
	struct loaded old[OLD];		/* in which threads may be yet */
	bool barrier;			/* the kernel has membarrier(2): cells may have owners */
	const void *vdso;
	__s32 fd;			/* the control's, unless the program has closed it: */
	__u64 dev, ino;
	char folder[FOLDER];		/* of this library, with a / at its end */
	char text[INJECT_PATH];		/* with the lock */
};

/* Memory of a thread for the library that is mapped, which no linker has given any. */
struct resident_here {
	char tls[INSTANCE_TLS] __attribute__((aligned(16)));
	__u32 generation;		/* for which it was cleared */
	__u32 calls;
};
extern __thread struct resident_here resident_here __attribute__((tls_model("initial-exec")));

/* Makes the control, the page and the window, and the table of functions.  Returns false if the program is left as it is. */
bool resident_make(struct resident_state *r, struct injected *a);

/* Zeros in the window: no function is off.  The flags of a tool are not left there, which would keep all its memory. */
void resident_window_clear(struct resident_state *r);

/* Maps the library of that path; sets *l.  Returns false if that fails, or it is not the build with that stamp. */
bool load_instance(struct loaded *l, const char *path, __u64 stamp);
void load_drop(struct loaded *l);

#endif
