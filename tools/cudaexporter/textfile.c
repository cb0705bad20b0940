/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "cudaexporter/textfile.h"

/* A new file, which is nobody's link: O_EXCL follows none.  One that was left behind is removed. */
static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 && errno == EEXIST && !unlink(path))
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd;
}

/* Returns 0 or the error. */
static int write_page(int fd, bool (*page)(void *ctx, FILE *f), void *ctx)
{
	FILE *f = fdopen(fd, "w");
	bool ok;

	if (!f) {
		close(fd);
		return errno;
	}
	errno = 0;
	ok = page(ctx, f) && !fflush(f) && !ferror(f) && !fchmod(fd, 0644);
	if (fclose(f) || !ok)
		return errno ?: EIO;
	return 0;
}

bool textfile_write(const char *path, bool (*page)(void *ctx, FILE *f), void *ctx)
{
	char *new = xprintf("%s.%d.new", path, (int)getpid());
	int fd = create(new), err = fd < 0 ? errno : write_page(fd, page, ctx);

	if (!err && rename(new, path))
		err = errno;
	if (err) {
		warning(err, "cannot write %s", path);
		unlink(new);
	}
	free(new);
	return !err;
}
