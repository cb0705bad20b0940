/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/cuda_protos.h"
#include "base/die.h"
#include "cudabt/bt_files.h"
#include "machine/elf.h"
#include "proc/living.h"

/* A stand-in has STEP bytes for each function, from START on: a function's address is not 0. */
enum { START = 4096, STEP = 16 };
enum { NONE, TEXT, SYMTAB, STRTAB, NSECTIONS };

struct standin {
	Elf64_Ehdr header;
	Elf64_Phdr code;
	Elf64_Shdr sections[NSECTIONS];
};

static void add_header(struct standin *s, unsigned long long size)
{
	s->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = MACHINE_ELF, .e_version = EV_CURRENT,
		.e_phoff = offsetof(struct standin, code), .e_shoff = offsetof(struct standin, sections),
		.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = NSECTIONS, .e_shstrndx = STRTAB,
	};
	s->code = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size,
				.p_memsz = size, .p_align = START };
}

static void add_section(struct standin *s, int which, int type, unsigned long long at,
			unsigned long long size)
{
	s->sections[which] = (Elf64_Shdr){ .sh_type = type, .sh_offset = at, .sh_size = size, .sh_addralign = 8 };
}

static void add_sections(struct standin *s, unsigned long long code, size_t symbols, size_t strings)
{
	add_section(s, TEXT, SHT_PROGBITS, START, code);
	s->sections[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	s->sections[TEXT].sh_addr = START;
	add_section(s, SYMTAB, SHT_SYMTAB, START + code, symbols);
	s->sections[SYMTAB].sh_link = STRTAB;
	s->sections[SYMTAB].sh_info = 1;	/* the first that is not local */
	s->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	add_section(s, STRTAB, SHT_STRTAB, START + code + symbols, strings);
}

static const char *bt_files_name_of(const struct elf_scan *scan, int i)
{
	return cuda_protos[scan->probes[i].id].name;
}

static void print_symbols(FILE *f, const struct elf_scan *scan)
{
	Elf64_Sym sym = { 0 };
	size_t name = 1;

	fwrite(&sym, sizeof(sym), 1, f);
	for (int i = 0; i < scan->n; i++) {
		sym = (Elf64_Sym){ .st_name = name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				   .st_shndx = TEXT, .st_value = START + i * STEP, .st_size = STEP };
		fwrite(&sym, sizeof(sym), 1, f);
		name += strlen(bt_files_name_of(scan, i)) + 1;
	}
	putc(0, f);
	for (int i = 0; i < scan->n; i++)
		fwrite(bt_files_name_of(scan, i), 1, strlen(bt_files_name_of(scan, i)) + 1, f);
}

/* Returns a descriptor of an ELF file in memory with only the functions of scan. */
static int make_standin(const struct elf_scan *scan)
{
	unsigned long long code = (unsigned long long)scan->n * STEP;
	struct standin s = { 0 };
	int fd = memfd_create("cuda", MFD_CLOEXEC), copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");	/* errno stays that of the first failure */
	size_t strings = 1;

	for (int i = 0; i < scan->n; i++)
		strings += strlen(bt_files_name_of(scan, i)) + 1;
	add_header(&s, START + code);
	add_sections(&s, code, (scan->n + 1) * sizeof(Elf64_Sym), strings);
	if (!f || fwrite(&s, sizeof(s), 1, f) != 1 || fseek(f, START + code, SEEK_SET))
		die(errno, "cannot make a file in memory");
	print_symbols(f, scan);
	if (fclose(f))
		die(errno, "cannot make a file in memory");
	return fd;
}

int bt_standin_probe(const struct elf_scan *scan, unsigned long long offset)
{
	unsigned long long i = (offset - START) / STEP;

	return offset >= START && (offset - START) % STEP == 0 && i < (unsigned)scan->n ? (int)i : -1;
}

enum { LINKS = 40, NOBODY = 65534 };

static bool trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* In a sticky directory only the owner of an entry or of the directory can replace the entry. */
static bool writable(const struct stat *s)
{
	return S_ISDIR(s->st_mode) ? (s->st_mode & 022) && !(s->st_mode & S_ISVTX) :
	       !S_ISLNK(s->st_mode) && (s->st_mode & 022);
}

/* The length of the first prefix that is a link; 0 if there is none, -1 if a user can redirect one. */
static int first_link(const char *path, uid_t *uid)
{
	char prefix[PATH_MAX];
	struct stat s;
	size_t n = 1;

	do {
		n += strcspn(path + n, "/");
		memcpy(prefix, path, n);
		prefix[n] = 0;
		*uid = NOBODY;
		if (lstat(prefix, &s))
			return -1;
		if (!trusted(s.st_uid)) {
			*uid = s.st_uid;
			return -1;
		}
		if (writable(&s))
			return -1;
		if (S_ISLNK(s.st_mode))
			return n;
		n += strspn(path + n, "/");
	} while (path[n]);
	return 0;
}

/* Return true if a user who is neither root nor the caller can redirect the path to another file.  *uid: the
 * owner of a directory or link in it, or of the file; NOBODY if everyone may write to it, or if it cannot be
 * inspected.  Follows LINKS links, as the kernel does. */
static bool is_redirectable(const char *path, uid_t *uid)
{
	char now[PATH_MAX], target[PATH_MAX], next[2 * PATH_MAX];
	int links = 0, n;

	*uid = NOBODY;
	if (*path != '/' || strlen(path) >= sizeof(now))
		return true;
	strcpy(now, path);
	while ((n = first_link(now, uid)) > 0 && ++links <= LINKS) {
		int dir = n, len;
		ssize_t to;

		memcpy(next, now, n);
		next[n] = 0;
		to = readlink(next, target, sizeof(target));
		if (to <= 0 || to == sizeof(target))
			return true;
		while (now[dir - 1] != '/')
			dir--;
		len = snprintf(next, sizeof(next), "%.*s%.*s%s", *target == '/' ? 0 : dir, now, (int)to,
			       target, now + n);
		if (len >= PATH_MAX)
			return true;
		memcpy(now, next, len + 1);
	}
	return n != 0;
}

bool bt_files_add(struct bt_files *f, struct dso *c, int pid)
{
	for (int i = 0; i < f->n; i++)
		if (f->dsos[i] == c) {
			f->pids[i] = f->pids[i] ? f->pids[i] : pid;
			return false;
		}
	f->dsos = xrealloc(f->dsos, f->n + 1, sizeof(*f->dsos));
	f->pids = xrealloc(f->pids, f->n + 1, sizeof(*f->pids));
	f->dsos[f->n] = c;
	f->pids[f->n++] = pid;
	return true;
}

/* Return true if a script can contain the path.  bpftrace splits at colons even within quotes. */
static bool is_literal(const char *path)
{
	for (; *path; path++)
		if (*path < ' ' || *path > '~' || strchr("\":\\*?[]", *path))
			return false;
	return true;
}

static bool refers_to(const char *path, int fd)
{
	struct stat named, file;

	return is_literal(path) && !stat(path, &named) && !fstat(fd, &file) &&
	       named.st_dev == file.st_dev && named.st_ino == file.st_ino;
}

/* Through root/, as newer versions of bpftrace resolve the links of other paths first, and a file in memory
 * has no path. */
static char *standin_path(const struct dso *c, int *fd)
{
	*fd = make_standin(&c->scan);
	return xprintf("/proc/%d/root/proc/%d/fd/%d", getpid(), getpid(), *fd);
}

/* Returns NULL if there is none. */
static char *emitted_path(const struct dso *c, int pid)
{
	char *path;
	uid_t uid;

	if (refers_to(c->path, dso_fd(c))) {
		if (is_redirectable(c->path, &uid))
			warning(0, "user %u can replace %s: as root, run the script only if you trust that user "
				   "(cudabt without --emit is safe)", uid, c->path);
		return xstrdup(c->path);
	}
	path = xprintf("/proc/%d/root%s", proc_living(pid), c->path);
	if (pid && refers_to(path, dso_fd(c))) {
		warning(0, "%s may become another file when process %d exits, or be replaced by that "
			   "process: as root, run the script only if you trust it", path, pid);
		return path;
	}
	free(path);
	warning(0, "skipping %s: a script cannot name it", c->path);
	return NULL;
}

static int *ids_of(const struct elf_scan *scan)
{
	int *ids = xcalloc(scan->n, sizeof(*ids));

	for (int i = 0; i < scan->n; i++)
		ids[i] = scan->probes[i].id;
	return ids;
}

struct bt_file *bt_files_named(const struct bt_files *f, bool emit, int *n)
{
	struct bt_file *files = xcalloc(f->n + 1, sizeof(*files));

	*n = 0;
	for (int i = 0; i < f->n; i++) {
		const struct dso *c = f->dsos[i];
		int fd = -1;
		char *path = emit ? emitted_path(c, f->pids[i]) : standin_path(c, &fd);

		if (path)
			files[(*n)++] = (struct bt_file){ path, ids_of(&c->scan), c->scan.n, fd };
	}
	return files;
}

void bt_files_named_free(struct bt_file *files, int n)
{
	for (int i = 0; i < n; i++) {
		free((char *)files[i].path);
		free((int *)files[i].ids);
		if (files[i].fd >= 0)
			close(files[i].fd);
	}
	free(files);
}

void bt_files_free(struct bt_files *f)
{
	free(f->dsos);
	free(f->pids);
}
