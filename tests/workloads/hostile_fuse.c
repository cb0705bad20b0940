/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* hostile_fuse WHERE DEVICE DIR LIB... LAST  serves copies of the files from a FUSE file system below
 * an overlay, in a user namespace of its own, and stops answering at WHERE: stat, open, read, flush,
 * attach (the kernel's reads of a page to put a probe there; what was read before is dropped), lock
 * (reads of LAST, for which the child, with a line of input, holds the lock of its own mappings), script
 * (open, also by other users, of DIR/fuse/LIB below this process's root), name (stat of LAST, which the child has open by its
 * own name, as DIR/top is unmounted; it loads the runtime that RUNTIME names).
 *
 * DEVICE is a node of /dev/fuse that may be opened, DIR an empty directory. A child loads each
 * DIR/top/LIB, prints "ready PID" and, for a line of input, maps DIR/top/LAST and calls cudaMalloc.
 * SIGUSR1 to this process, the server, begins the silence.  It ends by itself 20 s later: the kernel
 * then fails what waits for it.
 *
 * The lower file system's requests carry the credentials of who mounted the overlay, so FUSE serves
 * root's too; once read by the server, they are waited for even if the process is killed.  The kernel's
 * own reads have root's, which FUSE serves if it was mounted outside of the namespace, as fusermount
 * does: run as root, this does it in fusermount's place and becomes nobody.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 8, SILENT_S = 20, DROP_US = 100, BEFORE = 1, AFTER = 2, NOBODY = 65534 };

static volatile sig_atomic_t silent;

static struct server {
	const char *where, *dir;
	int fuse, nfiles;
	struct { const char *name; int fd; } files[FILES];
	pid_t child;
	volatile bool probed;
	pthread_mutex_t dropping;
} server = { .dropping = PTHREAD_MUTEX_INITIALIZER };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(name);
	close(fd);
}

static void enter_namespace(void)
{
	char map[64];

	snprintf(map, sizeof(map), "%d %d 1", getuid(), getuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		fail("unshare");
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", map);
	write_file("/proc/self/gid_map", map);
}

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t size)
{
	struct fuse_out_header out = { .len = sizeof(out) + size, .error = error,
				       .unique = in->unique };
	struct iovec parts[] = { { &out, sizeof(out) }, { (void *)data, size } };

	if (writev(server.fuse, parts, 2) < 0 && errno != ENOENT)
		perror("reply");
}

/* Node 1 is the directory, node 2 the first file. */
static struct fuse_attr attr_of(unsigned long long node)
{
	struct fuse_attr attr = { .ino = node, .mode = S_IFDIR | 0755, .nlink = 1, .blksize = 4096,
				  .uid = getuid(), .gid = getgid() };
	struct stat st;

	if (node >= 2 && !fstat(server.files[node - 2].fd, &st)) {
		attr.mode = S_IFREG | 0755;
		attr.size = st.st_size;
		attr.blocks = (st.st_size + 511) / 512;
	}
	return attr;
}

static void lookup(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = { 0 };

	for (int i = 0; i < server.nfiles; i++) {
		if (strcmp(name, server.files[i].name))
			continue;
		out.nodeid = i + 2;
		out.attr = attr_of(i + 2);
		reply(in, 0, &out, sizeof(out));
		return;
	}
	reply(in, -ENOENT, NULL, 0);
}

static void read_some(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	static char bytes[1 << 20];
	ssize_t n = pread(server.files[in->nodeid - 2].fd, bytes, what->size, what->offset);

	reply(in, 0, bytes, n > 0 ? n : 0);
}

static void start(const struct fuse_in_header *in, const struct fuse_init_in *what)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = 31,
				     .max_readahead = what->max_readahead, .max_write = 1 << 17,
				     .max_background = 16, .congestion_threshold = 12 };

	reply(in, 0, &out, sizeof(out));
}

static void answer(const struct fuse_in_header *in, const void *what)
{
	struct fuse_attr_out attr = { .attr = attr_of(in->nodeid ? in->nodeid : 1) };
	struct fuse_statfs_out fs = { .st.bsize = 4096, .st.namelen = 255, .st.frsize = 4096 };
	struct fuse_open_out file = { .fh = silent ? AFTER : BEFORE };

	if (silent && in->pid == (unsigned)server.child)
		file.open_flags = FOPEN_DIRECT_IO | FOPEN_KEEP_CACHE;
	switch (in->opcode) {
	case FUSE_INIT: start(in, what); break;
	case FUSE_LOOKUP: lookup(in, what); break;
	case FUSE_GETATTR: reply(in, 0, &attr, sizeof(attr)); break;
	case FUSE_STATFS: reply(in, 0, &fs, sizeof(fs)); break;
	case FUSE_OPEN: case FUSE_OPENDIR: reply(in, 0, &file, sizeof(file)); break;
	case FUSE_READ: read_some(in, what); break;
	case FUSE_READDIR: case FUSE_FLUSH: case FUSE_RELEASE: case FUSE_RELEASEDIR:
		reply(in, 0, NULL, 0); break;
	case FUSE_FORGET: case FUSE_BATCH_FORGET: case FUSE_INTERRUPT: break;
	default: reply(in, -ENOSYS, NULL, 0);
	}
}

/* Of the child's handle, and not by the child: the kernel reads to put a probe into its memory.  A page
 * that is being dropped must be answered, else the server could not be killed. */
static bool is_for_probe(const struct fuse_in_header *in)
{
	const struct fuse_read_in *what = (const void *)(in + 1);

	if (what->fh != BEFORE || in->pid == (unsigned)server.child)
		return false;
	server.probed = true;
	return !pthread_mutex_trylock(&server.dropping);
}

static bool is_silent_at(const struct fuse_in_header *in)
{
	const char *where = server.where;

	switch (silent ? in->opcode : 0) {
	case FUSE_GETATTR: case FUSE_STATFS: return !strcmp(where, "stat") || !strcmp(where, "name");
	case FUSE_OPEN: return !strcmp(where, "open") || !strcmp(where, "script");
	case FUSE_READ:
		return !strcmp(where, "read") || (!strcmp(where, "attach") && is_for_probe(in)) ||
		       (!strcmp(where, "lock") && (int)in->nodeid == server.nfiles + 1);
	case FUSE_FLUSH: return !strcmp(where, "flush");
	}
	return 0;
}

static void serve_one(void)
{
	static char request[(1 << 17) + 4096];
	const struct fuse_in_header *in = (void *)request;

	if (read(server.fuse, request, sizeof(request)) < (ssize_t)sizeof(*in)) {
		if (errno == ENODEV)
			exit(0);
		return;
	}
	if (!is_silent_at(in))
		answer(in, in + 1);
	else
	fprintf(stderr, "silent at request %u of %u\n", in->opcode, in->pid);
}

/* What was read of the files leaves the page cache: the kernel reads it again. */
static void *drop_pages(void *unused)
{
	struct fuse_notify_inval_inode_out what = { 0 };
	struct fuse_out_header out = { .len = sizeof(out) + sizeof(what),
				       .error = FUSE_NOTIFY_INVAL_INODE };
	struct iovec parts[] = { { &out, sizeof(out) }, { &what, sizeof(what) } };

	for (; !server.probed; usleep(DROP_US)) {
		pthread_mutex_lock(&server.dropping);
		for (int i = 0; silent && i < server.nfiles; i++) {
			what.ino = i + 2;
			writev(server.fuse, parts, 2);
		}
		pthread_mutex_unlock(&server.dropping);
	}
	return unused;
}

static void begin_silence(int signal)
{
	(void)signal;
	silent = 1;
	alarm(SILENT_S);
}

static void mount_overlay(void)
{
	if (mkdir("none", 0755) || mkdir("top", 0755) ||
	    mount("overlay", "top", "overlay", 0, "lowerdir=fuse:none"))
		fail("overlay");
}

static int (*load(const char *name))(void **p, size_t size)
{
	void *lib = dlopen(name, RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return (int (*)(void **, size_t))dlsym(lib, "cudaMalloc");
}

static void *read_last(void *fd)
{
	char byte;

	return (void *)pread((long)fd, &byte, 1, 0);
}

/* To map a file past the page cache the kernel waits, with the lock of the mappings, for its pages that
 * are being read. */
static void hold_lock(long last, const char *name)
{
	pthread_t thread;

	pthread_create(&thread, NULL, read_last, (void *)last);
	usleep(100000);
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(name, O_RDONLY), 0);
}

/* A descriptor whose link has no more than the name of the file. */
static void use_name(void)
{
	int (*alloc)(void **p, size_t size) = load(getenv("RUNTIME"));
	char name[256];
	void *p;

	mount_overlay();
	snprintf(name, sizeof(name), "top/%s", server.files[server.nfiles - 1].name);
	if (open(name, O_RDONLY) < 0 || umount2("top", MNT_DETACH))
		fail(name);
	alloc(&p, 4096);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}

/* The child: a program that looks like any other with CUDA. */
static void use_libraries(void)
{
	int (*alloc)(void **p, size_t size) = NULL, last;
	char name[256];
	void *p;

	if (!strcmp(server.where, "name"))
		use_name();
	mount_overlay();
	for (int i = 0; i < server.nfiles; i++) {
		snprintf(name, sizeof(name), "%s/top/%s", server.dir, server.files[i].name);
		if (i < server.nfiles - 1)
			alloc = load(name);
	}
	last = open(name, O_RDONLY);
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (!strcmp(server.where, "lock") && getchar() != EOF)
		hold_lock(last, name);
	while (alloc && getchar() != EOF) {
		mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, last, 0);
		alloc(&p, 4096);
	}
	for (;;)
		pause();
}

static void mount_fuse(const char *device, uid_t uid)
{
	char options[128];

	server.fuse = open(device, O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%d,group_id=%d%s", server.fuse,
		 uid, uid, strcmp(server.where, "script") ? "" : ",allow_other");
	if (mkdir("fuse", 0755) || server.fuse < 0 || mount("fuse", "fuse", "fuse", 0, options))
		fail("mounting FUSE");
}

static void mount_tmpfs(uid_t uid)
{
	char options[64];

	snprintf(options, sizeof(options), "mode=755,uid=%d,gid=%d", uid, uid);
	if (mount("none", server.dir, "tmpfs", 0, options) || chdir(server.dir))
		fail(server.dir);
}

/* Root does what the setuid program fusermount does for a user. */
static void mount_for_user(const char *device)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		fail("unshare");
	mount_tmpfs(NOBODY);
	mount_fuse(device, NOBODY);
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		fail("setuid");
	prctl(PR_SET_DUMPABLE, 1);
	enter_namespace();
	if (chdir(server.dir))
		fail(server.dir);
}

static void mount_as_user(const char *device)
{
	enter_namespace();
	mount_tmpfs(getuid());
	mount_fuse(device, getuid());
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 6 || argc > 4 + FILES)
		return 2;
	server.where = argv[1];
	server.dir = argv[3];
	for (char **lib = argv + 4; *lib; lib++) {
		server.files[server.nfiles].name = strrchr(*lib, '/') + 1;
		server.files[server.nfiles++].fd = open(*lib, O_RDONLY | O_CLOEXEC);
	}
	if (getuid())
		mount_as_user(argv[2]);
	else
		mount_for_user(argv[2]);
	signal(SIGUSR1, begin_silence);
	server.child = fork();
	if (!server.child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(server.fuse);
		use_libraries();
	}
	close(0);
	if (!strcmp(server.where, "attach"))
		pthread_create(&thread, NULL, drop_pages, NULL);
	for (;;)
		serve_one();
}
