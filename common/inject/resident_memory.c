/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/agent_inject.h"
#include "abi/agent_resident.h"
#include "base/die.h"
#include "base/util.h"
#include "elf/elf_file.h"
#include "inject/resident_memory.h"
#include "proc/installed.h"
#include "proc/pid_ns.h"
#include "proc/proc.h"
#include "proc/process_memfd.h"

unsigned long long resident_library_stamp(const char *library)
{
	int fd = proc_open_file(library);
	struct elf_file f;
	unsigned long long stamp = 0;

	if (fd < 0 || elf_file_open(&f, fd))
		die(0, "cannot read %s", library);
	for (size_t i = 0; i < f.nsegments; i++) {
		const Elf64_Phdr *load = &f.segments[i];
		void *segment = NULL;

		if (load->p_type == PT_LOAD)
			segment = elf_bytes_part(&f.bytes, load->p_offset, load->p_filesz);
		if (segment)
			stamp = resident_stamp_add(stamp, segment, load->p_filesz);
		free(segment);
	}
	elf_file_close(&f);
	close(fd);
	return stamp;
}

static char *no_memory(int pid)
{
	char *why, *library = beside_find("/inject", "resident.so", "LD_AUDIT", ":$", &why), *text;

	text = xprintf("process %d: no resident library: start it with LD_AUDIT=%s, and use CUDA", pid,
		       library ?: "/usr/lib/cuda-bpf-tools/inject/resident.so");
	free(library);
	free(why);
	return text;
}

char *resident_memory_open(struct resident_memory *m, int pid, long long mount)
{
	int fd = process_memfd_open(pid, mount, RESIDENT_NAME, RESIDENT_BYTES);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		*m = (struct resident_memory){ .fd = fd, .ino = st.st_ino };
		return NULL;
	}
	if (fd >= 0)
		close(fd);
	return no_memory(pid);
}

static bool is_valid(const struct resident_control *c)
{
	return !memcmp(c->magic, RESIDENT_MAGIC, sizeof(c->magic)) && c->version == RESIDENT_VERSION && c->bytes == sizeof(*c);
}

static bool lock(int fd, short type)
{
	struct flock byte = { .l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &byte);
}

char *resident_memory_lock(struct resident_memory *m, int pid)
{
	struct resident_control *c = mmap(NULL, RESIDENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	char *why = NULL;

	if (c == MAP_FAILED)
		why = no_memory(pid);
	else if (madvise(c, RESIDENT_BYTES, MADV_DONTFORK))	/* a helper's mapping would keep the lock after our end */
		why = xprintf("process %d: cannot map its memory: %s", pid, strerror(errno));
	else if (!is_valid(c))
		why = xprintf("process %d: its resident library is of another version: restart it", pid);
	else if (!lock(m->fd, F_WRLCK))
		why = xprintf("process %d: another tool traces it with --attach inject", pid);
	if (c != MAP_FAILED)
		m->control = c;
	if (why)
		resident_memory_close(m);
	return why;
}

void resident_memory_close(struct resident_memory *m)
{
	lock(m->fd, F_UNLCK);	/* a helper process may have a copy of the descriptor */
	close(m->fd);
	if (m->control)
		munmap(m->control, RESIDENT_BYTES);
}

/* The stubs read flags first. */
static void change(struct resident_memory *m, bool wanted, bool asks)
{
	struct resident_control *c = m->control;

	__atomic_store_n(&c->wanted, wanted, __ATOMIC_RELAXED);
	m->generation = __atomic_load_n(&c->generation, __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&c->generation, m->generation, __ATOMIC_RELEASE);
	__atomic_store_n(&c->flags, asks ? 0 : INJECT_OFF, __ATOMIC_RELEASE);
}

void resident_memory_ask(struct resident_memory *m, const struct resident_request *request)
{
	const char *object = strrchr(request->library, '/') + 1;
	struct resident_control *c = m->control;

	c->stamp = request->stamp;
	snprintf(c->object, sizeof(c->object), "%.*s", (int)strcspn(object, "."), object);
	snprintf(c->socket, sizeof(c->socket), "%s", request->socket);
	change(m, true, true);
}

void resident_memory_ask_again(struct resident_memory *m)
{
	change(m, true, true);
}

void resident_memory_pause(struct resident_memory *m)
{
	__atomic_store_n(&m->control->flags, INJECT_OFF, __ATOMIC_RELEASE);
}

void resident_memory_end(struct resident_memory *m)
{
	change(m, false, false);
}

bool resident_memory_refused(const struct resident_memory *m, int pid, unsigned *why)
{
	const struct resident_control *c = m->control;

	if (__atomic_load_n(&c->refused_generation, __ATOMIC_ACQUIRE) != m->generation || c->refused_pid != pid_in_namespace(pid))
		return false;
	*why = c->refused;
	return true;
}

bool resident_memory_is_complete(const struct resident_memory *m)
{
	return m->control->first_generation == m->generation;
}
