/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject/resident.so: the dynamic linker loads it into programs in whose environment LD_AUDIT names it (rtld-audit(7)), with no
 * tool there.  It gives the CUDA functions stubs as inject/TOOL.so does, which jump to the functions until a tool asks for the
 * process (abi/agent_resident.h).  Then the program maps that tool's library, to which the stubs lead while the tool traces. */
#ifndef AGENT_RESIDENT_RESIDENT_H
#define AGENT_RESIDENT_RESIDENT_H
#include <stdbool.h>
#include "abi/agent_resident.h"
#include "agent/inject/inject.h"
#include "agent/inject/instance.h"
#include "base/place.h"

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
	struct resident_control *own;	/* to write, in the process that has made the control */
	__u32 by;			/* the thread that has the lock; 0: none */
	__u64 since;			/* when it took it, ns */
};

/* A tool's library that is mapped. */
struct loaded {
	const struct instance *is;	/* NULL: none */
	char *at;
	__u64 bytes;
};

/* Where the program started. */
struct home {
	struct place root, is;		/* its root directory; folder */
	char folder[FOLDER];		/* of this library, with a / at its end */
};

struct resident_state {
	const struct resident_control *control;	/* read-only; NULL: no stub is there */
	struct resident_page *page;
	void *window;			/* of INSTANCE_WINDOW bytes */
	struct loaded now;
	const struct instance *in;	/* now's, once it may be called */
	__u32 generation;		/* of instances; other than before once one is left */
	__u32 handled;			/* the control's generation that was acted upon */
	struct loaded old[OLD];		/* in which threads may be yet */
	bool barrier;			/* the kernel has membarrier(2): cells may have owners */
	const void *vdso;
	__u64 patience;			/* as in struct injected */
	__u64 again;			/* after a refusal: when the next request is handled, ns */
	__s32 fd;			/* the control's, to read; the program may close it: */
	__u64 dev, ino;
	struct home home;
	char text[INJECT_PATH];		/* with the lock */
};

/* Memory of a thread for the library that is mapped, which no linker has given any. */
struct resident_here {
	char tls[INSTANCE_TLS] __attribute__((aligned(INSTANCE_TLS_ALIGN)));
	__u32 generation;		/* for which it was cleared */
	__u32 calls;
};
extern __thread struct resident_here resident_here __attribute__((tls_model("initial-exec")));

/* Makes the control, the page and the window, and the table of functions.  Returns false if the program is left as it is. */
bool resident_make(struct resident_state *r, struct injected *a);

/* Makes a control for this process, in place of the one that is at r->control. */
bool control_make(struct resident_state *r);

/* Writes a word at an offset of the control, if the process may: it has made it, or is the child
 * of one that has, and has its user. */
void control_put(const struct resident_state *r, __u32 offset, __u32 value);

/* Zeros in the window: no function is off.  The flags of a tool are not left there, which would keep all its memory. */
void resident_window_clear(struct resident_state *r);

/* Call before the program runs.  Returns false if the folder cannot be found. */
bool home_note(struct home *h);

/* Return true if the program has the root directory that it started with. */
bool home_is_root(const struct home *h);

/* Opens a file of the folder.  Returns -1 if there is none; if another folder has that name now;
 * or if others than root and the folder's owner can have put the file there. */
int home_open(const struct home *h, const char *file);

/* Maps the library that is open as fd, which stays the caller's; sets *l.  Returns false if that
 * fails, or it is not the build with that stamp. */
bool load_instance(struct loaded *l, int fd, __u64 stamp);
void load_drop(struct loaded *l);

#endif
