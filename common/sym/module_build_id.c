/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "elf/elf_debug.h"
#include "proc/helper_pool.h"
#include "proc/proc.h"
#include "sym/module.h"

/* As for other headers of a file. */
enum { CPU_SECONDS = 2 };

static void read_build_id(struct helper_job *job)
{
	int fd = proc_reopen(job->fd);
	struct elf_debug d;

	helper_limit_cpu(CPU_SECONDS);
	if (fd >= 0 && elf_debug_read(fd, &d))
		helper_put(job, d.id, d.id_size);
	helper_limit_cpu(0);
	if (fd >= 0)
		close(fd);
}

static void read_go(struct helper_job *job)
{
	int fd = proc_reopen(job->fd);
	struct elf_go go = { 0 };

	helper_limit_cpu(CPU_SECONDS);
	if (fd >= 0)
		elf_go_read(fd, &go);
	helper_limit_cpu(0);
	helper_put(job, &go, sizeof(go));
	if (fd >= 0)
		close(fd);
}

const struct elf_go *module_go(struct module *m)
{
	struct helper_answer a;
	int err;

	if (m->has_go || m->fd < 0)
		return &m->go;
	err = helper_call(m->modules->helpers, &(struct helper_request){
			m->pid, m->path, read_go, m->key, strlen(m->key) + 1, .fd = m->fd }, &a);
	m->has_go = !err || !err_is_transient(err);
	if (err)
		return &m->go;
	if (a.size == sizeof(m->go))
		memcpy(&m->go, a.bytes, sizeof(m->go));
	helper_drop(&a);
	return &m->go;
}

const char *module_build_id(struct module *m)
{
	struct helper_answer a;
	int err;

	if (m->has_build_id || m->fd < 0)
		return m->build_id;
	err = helper_call(m->modules->helpers, &(struct helper_request){
			m->pid, m->path, read_build_id, m->key, strlen(m->key) + 1, .fd = m->fd }, &a);
	m->has_build_id = !err || !err_is_transient(err);
	if (err)
		return m->build_id;
	for (size_t i = 0; i < a.size && i < ELF_BUILD_ID_MAX; i++)
		sprintf(m->build_id + 2 * i, "%02x", (unsigned char)a.bytes[i]);
	helper_drop(&a);
	return m->build_id;
}
