/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A directory or a file as statx(2) reports it.  A library in a program notes the root directory
 * and the folders that it will open files in: after a chroot(2), pivot_root(2) or mount(2) the
 * same names lead to places of others.  For code without a C library, too: the caller makes the
 * system call. */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H
#include <stdbool.h>
#include <linux/stat.h>

#ifndef STATX_MNT_ID		/* Linux 5.8 */
#define STATX_MNT_ID 0
#define stx_mnt_id stx_ino
#endif

enum { PLACE_MASK = STATX_BASIC_STATS | STATX_MNT_ID };

struct place {
	unsigned long long ino, mount;	/* mount 0: the kernel does not report it */
	unsigned int major, minor, user, mode;
};

static inline struct place place_of(const struct statx *s)
{
	return (struct place){
		.ino = s->stx_ino, .mount = s->stx_mask & STATX_MNT_ID ? s->stx_mnt_id : 0,
		.major = s->stx_dev_major, .minor = s->stx_dev_minor,
		.user = s->stx_uid, .mode = s->stx_mode,
	};
}

/* Return true if they are in one mount of one file system. */
static inline bool place_is_beside(const struct place *a, const struct place *b)
{
	return a->major == b->major && a->minor == b->minor && a->mount == b->mount;
}

/* Return true if they are one. */
static inline bool place_is(const struct place *a, const struct place *b)
{
	return a->ino == b->ino && place_is_beside(a, b);
}

/* Return true if only root and the folder's owner can have put this file, opened without
 * following a link, into the folder.  known: its owner is a user who can be told from others
 * (base/overflow_uid.h). */
static inline bool place_is_of(const struct place *folder, const struct place *file, bool known)
{
	const unsigned int writable = known ? 0002 : 0022;

	return place_is_beside(folder, file) && (file->mode & 0170000) == 0100000 &&
	       (!file->user || file->user == folder->user) &&
	       !((folder->mode | file->mode) & writable);
}

#endif
