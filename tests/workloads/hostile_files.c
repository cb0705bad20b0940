/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a program can do with the files that it maps.  DIR is an empty directory.  Each prints "ready
 * PID" and stays until it is killed, with its children.
 *
 * hostile_files sparse DIR N       N processes with seven libraries each, which take 10 KB on disk
 *                                  and claim tables of 256 MiB
 * hostile_files copies DIR N FILE  maps N copies of FILE, as libcudart.so.1 and on
 * hostile_files lease DIR FILE     maps a copy of FILE and holds a write lease on it
 * hostile_files names DIR N        maps a file by N long names, and from each line of input on gives
 *                                  all of them new ones again and again, and calls cudaMalloc
 *                                  through the file (linked with libcudart)
 * hostile_files mount DIR FILE     maps two copies of FILE on a tmpfs at DIR, as libcudart.so.13 and
 *                                  libcuda.so.1; with a line of input it unmounts and ends
 */
#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIBRARIES = 7, DEEP = 14, PAUSE_US = 50000 };

static const unsigned long long TABLE = 256ull << 20;

extern int cudaMalloc(void **p, size_t size);

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void ready(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
}

static void stay(void)
{
	for (;;)
		pause();
}

static char *map_file(int fd, size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

/* Two tables of symbols, each with its strings; all of them holes. */
static int make_sparse(const char *name)
{
	struct { Elf64_Ehdr head; Elf64_Phdr load; Elf64_Shdr sections[5]; } elf = {
		.head = { .e_ident = ELFMAG "\2\1\1", .e_type = ET_DYN, .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT, .e_phoff = sizeof(elf.head),
			  .e_shoff = sizeof(elf.head) + sizeof(elf.load), .e_ehsize = sizeof(elf.head),
			  .e_phentsize = sizeof(elf.load), .e_phnum = 1,
			  .e_shentsize = sizeof(*elf.sections), .e_shnum = 5, .e_shstrndx = 2 },
		.load = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 8192 },
	};
	static const char page[8192];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);

	for (int i = 1; i < 5; i++)
		elf.sections[i] = (Elf64_Shdr){
			.sh_type = i % 2 == 0 ? SHT_STRTAB : i == 1 ? SHT_DYNSYM : SHT_SYMTAB,
			.sh_link = i + 1, .sh_offset = i * TABLE, .sh_size = TABLE - TABLE % 24,
			.sh_entsize = i % 2 ? sizeof(Elf64_Sym) : 0,
		};
	if (fd < 0 || write(fd, page, sizeof(page)) < 0 || pwrite(fd, &elf, sizeof(elf), 0) < 0 ||
	    ftruncate(fd, 5 * TABLE))
		fail(name);
	return fd;
}

static void sparse(int n)
{
	char name[64];

	for (int i = 0; i < n; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int k = 0; k < LIBRARIES; k++) {
			snprintf(name, sizeof(name), "libcudart.so.%d.%d", k, i);
			map_file(make_sparse(name), 4096);
		}
		ready();
		stay();
	}
}

static int copy(const char *file, const char *name)
{
	int from = open(file, O_RDONLY), to = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) ||
	    sendfile(to, from, NULL, st.st_size) != st.st_size)
		fail(name);
	close(from);
	close(to);
	return open(name, O_RDONLY);
}

static void copies(int n, const char *file)
{
	char name[64];
	int fd;

	for (int i = 1; i <= n; i++) {
		snprintf(name, sizeof(name), "libcudart.so.%d", i);
		fd = copy(file, name);
		map_file(fd, 1 << 20);
		close(fd);
	}
	ready();
}

static void lease(const char *file)
{
	int fd = copy(file, "libcudart.so.13");

	signal(SIGIO, SIG_IGN);
	map_file(fd, 1 << 20);
	if (fcntl(fd, F_SETLEASE, F_WRLCK))
		fail("lease");
	ready();
}

/* int call(int (*fn)(void **, size_t), void **p) { return fn(p, 4096); }, with a frame */
static const unsigned char CALL[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xbe, 0x00, 0x10, 0x00, 0x00,
	0xff, 0xd0, 0x5d, 0xc3,
};

/* Links to one file, in so deep a directory that each name has 3.5 KB. */
static void make_names(int n, int *fds)
{
	char part[250], name[32];
	int fd;

	memset(part, 'd', sizeof(part) - 1);
	part[sizeof(part) - 1] = 0;
	for (int i = 0; i < DEEP; i++)
		if (mkdir(part, 0755) || chdir(part))
			fail(part);
	fd = open("f0", O_RDWR | O_CREAT, 0755);
	if (fd < 0 || write(fd, CALL, sizeof(CALL)) < 0)
		fail("f0");
	close(fd);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		if (i && link("f0", name))
			fail(name);
		fds[i] = open(name, O_RDONLY);
	}
}

static void names(int n)
{
	int *fds = calloc(n, sizeof(*fds)), top = open(".", O_RDONLY | O_DIRECTORY);
	char from[250], to[250];
	void *p;

	memset(from, 'd', sizeof(from) - 1);
	from[sizeof(from) - 1] = 0;
	make_names(n, fds);
	for (int i = 0; i < n; i++)
		map_file(fds[i], 4096);
	ready();
	getchar();
	for (int i = 0;; i++) {
		int (*call)(int (*)(void **, size_t), void **);

		memset(to, 'e', sizeof(to));
		to[snprintf(to, sizeof(to), "%d", i)] = 'e';
		to[sizeof(to) - 1] = 0;
		if (renameat(top, from, top, to))
			fail("rename");
		memcpy(from, to, sizeof(to));
		call = (void *)map_file(fds[i % n], 4096);
		call(cudaMalloc, &p);
		usleep(PAUSE_US);
	}
}

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(name);
	close(fd);
}

static void use_mount(const char *dir, const char *file)
{
	char map[64];

	snprintf(map, sizeof(map), "%d %d 1", getuid(), getuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		fail("unshare");
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", map);
	write_file("/proc/self/gid_map", map);
	if (mount("none", dir, "tmpfs", 0, NULL) || chdir(dir))
		fail(dir);
	map_file(copy(file, "libcudart.so.13"), 1 << 20);
	map_file(copy(file, "libcuda.so.1"), 1 << 20);
	ready();
	getchar();
	exit(0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";

	if (!strcmp(what, "mount"))
		use_mount(argv[2], argv[3]);
	if (argc < 4 || chdir(argv[2]))
		fail("usage: hostile_files WHAT DIR ...");
	if (!strcmp(what, "sparse"))
		sparse(atoi(argv[3]));
	else if (!strcmp(what, "copies") && argc == 5)
		copies(atoi(argv[3]), argv[4]);
	else if (!strcmp(what, "lease"))
		lease(argv[3]);
	else if (!strcmp(what, "names"))
		names(atoi(argv[3]));
	else
		return 2;
	stay();
}
