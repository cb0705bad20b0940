/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where the tools' libraries are: the folder of this one, as it was when the program started.
 * Later its name may lead elsewhere: the program may have another root directory, in which
 * others can write. */
#include <stddef.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "agent/resident/resident.h"

/* Bytes of /proc/self/maps that are read. */
enum { MAPS = 8 << 20 };

static bool home_look(int dir, const char *name, int flags, struct place *to)
{
	struct statx s = { 0 };

	if (sys6(__NR_statx, dir, (long)name, flags | AT_STATX_DONT_SYNC, PLACE_MASK, (long)&s, 0))
		return false;
	*to = place_of(&s);
	return true;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Sets folder to that of the mapping of this library, with a / at its end. */
static bool folder_find(char *folder)
{
	char *all = (char *)sys6(__NR_mmap, 0, MAPS, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const __u64 here = (__u64)folder_find;
	unsigned long n = 0, size, slash = 0;
	char *s;

	if (sys_failed((long)all))
		return false;
	size = sys_read_file("/proc/self/maps", all, MAPS - 1);
	for (s = all; s < all + size; s++) {
		__u64 bound[2] = { 0 };

		for (int i = 0; i < 2; i++, s++)
			for (; digit(*s) >= 0; s++)
				bound[i] = bound[i] << 4 | (__u64)digit(*s);
		while (*s && *s != '\n' && *s != '/')
			s++;
		if (bound[0] <= here && here < bound[1] && *s == '/')
			break;
		while (*s && *s != '\n')
			s++;
	}
	for (; s < all + size && *s && *s != '\n' && n < FOLDER - 1; n++) {
		slash = *s == '/' ? n + 1 : slash;
		folder[n] = *s++;
	}
	folder[slash] = 0;
	sys3(__NR_munmap, (long)all, MAPS, 0);
	return slash;
}

bool home_note(struct home *h)
{
	return folder_find(h->folder) && home_look(AT_FDCWD, "/", 0, &h->root) &&
	       home_look(AT_FDCWD, h->folder, 0, &h->is);
}

bool home_is_root(const struct home *h)
{
	struct place now;

	return home_look(AT_FDCWD, "/", 0, &now) && place_is(&now, &h->root);
}

/* The descriptor is checked, not the name. */
static int open_checked(const struct home *h, int folder, const char *file)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	const struct users *users = &injected.users;
	struct place now, is;
	int fd;

	if (!home_look(folder, "", AT_EMPTY_PATH, &now) || !place_is(&now, &h->is) ||
	    now.user != h->is.user)
		return -1;
	fd = (int)sys4(__NR_openat, folder, (long)file, flags, 0);
	if (fd < 0)
		return -1;
	if (home_look(fd, "", AT_EMPTY_PATH, &is) &&
	    place_is_of(&now, &is, users_told_apart(users, is.user)))
		return fd;
	sys3(__NR_close, fd, 0, 0);
	return -1;
}

int home_open(const struct home *h, const char *file)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	int folder = (int)sys4(__NR_openat, AT_FDCWD, (long)h->folder, flags, 0), fd;

	if (folder < 0)
		return -1;
	fd = open_checked(h, folder, file);
	sys3(__NR_close, folder, 0, 0);
	return fd;
}
