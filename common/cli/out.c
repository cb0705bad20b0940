/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/out_file.h"

/* Non-blocking output: while the reader takes nothing, such as a pager or a terminal after Ctrl-S,
 * output is buffered.  A tool that waited would block the -c program and ignore Ctrl-C. */

enum { FULL = 1024 * 1024 };

static int sink_fd, error;
static char *kept;
static size_t nkept, room;

/* Reopens a pipe or a terminal as non-blocking, since others may share the open file description.
 * Regular files never block. */
static int without_waiting(int fd)
{
	int flags = fcntl(fd, F_GETFL), own = -1;
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !fstat(fd, &st) &&
	    (S_ISFIFO(st.st_mode) || isatty(fd)))
		own = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return own < 0 ? fd : own;
}

/* Returns the number of bytes written. */
static size_t offer(const char *data, size_t size)
{
	size_t taken = 0;

	while (taken < size && !error) {
		ssize_t n = write(sink_fd, data + taken, size - taken);

		if (n >= 0)
			taken += n;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			error = errno;
	}
	return taken;
}

/* Writes as much buffered output as the reader takes; 0, or the error that ended the output. */
static int sink_write(void)
{
	size_t taken = nkept ? offer(kept, nkept) : 0;

	nkept = error ? 0 : nkept - taken;
	if (taken && nkept)
		memmove(kept, kept + taken, nkept);
	return error;
}

static ssize_t on_write(void *cookie, const char *data, size_t size)
{
	size_t taken = sink_write() || nkept ? 0 : offer(data, size);

	(void)cookie;
	if (error || taken == size)
		return size;
	if (nkept + size - taken > room) {
		room = 2 * (nkept + size - taken);
		kept = xrealloc(kept, room, 1);
	}
	memcpy(kept + nkept, data + taken, size - taken);
	nkept += size - taken;
	return size;
}

/* Returns a stream that writes to the file behind fd.  Call once. */
static FILE *sink_open(int fd)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = on_write });

	if (!f)
		die(errno, "cannot open a stream");
	sink_fd = without_waiting(fd);
	return f;
}

/* Return true if so much is buffered that output that can wait should wait. */
static bool sink_is_full(void)
{
	return nkept > FULL;
}

/* Waits until all is written or a signal is caught; returns the number of bytes left. */
static size_t sink_finish(void)
{
	struct pollfd ready = { .fd = sink_fd, .events = POLLOUT };

	while (!sink_write() && nkept && poll(&ready, 1, -1) > 0)
		;
	return nkept;
}

/* The buffer is flushed when half full, at the end of a line, so that lines stay whole in a pipe
 * with several writers. */
enum { BUFFER = 256 * 1024 };

static const unsigned long long NS_PER_S = 1000000000;

static bool json, closed, failed;
static const char *where = "standard output";
static int to = STDOUT_FILENO;

/* Unwritten output is a failure, whatever the exit status of the -c command. */
static void at_exit(void)
{
	size_t left = out_flush() ? sink_finish() : 0;

	out_flush();	/* reports the error, if any */
	if (left)
		warning(0, "%s is not being read: discarded the last %zu byte%s", where, left, plural(left));
	if (failed || left)
		_exit(EXIT_FAILURE);
}

void out_set_json(bool j)
{
	json = j;
}

void out_init(bool j)
{
	out_set_json(j);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file as large as it may be (ulimit -f) is a write error */
	stdout = sink_open(to);	/* glibc's is a variable */
	/* whole batches: the loop flushes after each; without a buffer of its own glibc ignores the size */
	setvbuf(stdout, xcalloc(1, BUFFER), _IOFBF, BUFFER);
	atexit(at_exit);
}

bool out_is_json(void)
{
	return json;
}

bool out_is_terminal(void)
{
	return isatty(to);
}

bool out_flush(void)
{
	int err;

	if (closed)
		return false;
	fflush(stdout);
	err = sink_write();
	if (!err)
		return true;
	closed = true;
	failed = err != EPIPE;
	if (failed)
		warning(err, "cannot write to %s", where);
	return false;
}

bool out_is_held_up(void)
{
	return sink_is_full();
}

void out_to_file(const char *path)
{
	to = out_file_open(path);
	where = path;
}

bool out_is_file(const char *path)
{
	struct stat out, other;

	return !fstat(to, &out) && S_ISREG(out.st_mode) && !stat(path, &other) &&
	       out.st_dev == other.st_dev && out.st_ino == other.st_ino;
}

void out_line_end(void)
{
	if (__fpending(stdout) > BUFFER / 2)
		out_flush();
}

unsigned long long out_wall_ns(unsigned long long ns)
{
	static unsigned long long offset, read_at;

	if (!read_at || ns - read_at >= NS_PER_S) {
		offset = clock_wall_ns() - clock_ns();
		read_at = ns;
	}
	return ns + offset;
}

const char *out_clock(void)
{
	static char buf[16];
	time_t now = clock_wall_ns() / 1000000000ull;

	strftime(buf, sizeof(buf), "%H:%M:%S", localtime(&now));
	return buf;
}

/* Formats n in the largest unit that leaves at least 1 before the point. */
static const char *out_scaled(const char *sign, double n, const double *steps, const char *const *units)
{
	static char buf[8][32];
	static int next;
	char *s = buf[next++ % 8];
	int i = 0;

	while (units[i + 1] && n >= steps[i])
		n /= steps[i++];
	snprintf(s, sizeof(buf[0]), i ? "%s%.1f %s" : *units[0] ? "%s%.0f %s" : "%s%.0f%s", sign, n, units[i]);
	return s;
}

static const char *size(const char *sign, unsigned long long bytes)
{
	static const double steps[] = { 1024, 1024, 1024, 1024, 1024, 1024 };
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL };
	static const char *const one[] = { "byte", NULL };

	return out_scaled(sign, bytes, steps, bytes == 1 ? one : units);
}

const char *out_bytes(unsigned long long bytes)
{
	return size("", bytes);
}

const char *out_change(double bytes)
{
	double distance = bytes < 0 ? -bytes : bytes;
	unsigned long long n = distance < 0x1p64 ? distance : ~0ull;

	return size(!n ? "" : bytes < 0 ? "-" : "+", n);
}

static const char *duration(const char *sign, unsigned long long ns)
{
	static const double steps[] = { 1000, 1000, 1000, 60, 60, 24 };
	static const char *const units[] = { "ns", "us", "ms", "s", "min", "h", "d", NULL };

	return out_scaled(sign, ns, steps, units);
}

const char *out_ns(unsigned long long ns)
{
	return duration("", ns);
}

static const char *rate(const char *sign, unsigned long long bytes)
{
	static const double steps[] = { 1000, 1000, 1000, 1000, 1000, 1000 };
	static const char *const units[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s", NULL };

	return out_scaled(sign, bytes, steps, units);
}

static const char *cycles(const char *sign, unsigned long long n)
{
	static const double steps[] = { 1e6, 1000, 1000, 1000, 1000 };
	static const char *const units[] = { "", "M", "G", "T", "P", "E", NULL };

	return out_scaled(sign, n, steps, units);
}

static const char *amount(const char *sign, unsigned long long n, enum out_unit unit)
{
	const char *(*const texts[])(const char *, unsigned long long) = { duration, size, rate, cycles, cycles };

	return n == NO_VALUE ? "-" : texts[unit](sign, n);
}

const char *out_amount(unsigned long long n, enum out_unit unit)
{
	return amount("", n, unit);
}

const char *out_percentile(unsigned long long n, bool about, enum out_unit unit)
{
	return amount(about ? "~" : "", n, unit);
}
