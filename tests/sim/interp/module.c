/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "module.h"
#include <stdlib.h>
#include <string.h>

static void function_free(struct interp_kernel *f)
{
	free(f->name);
	free(f->params);
	free(f->returns);
	free(f->infos);
	free(f);
}

void interp_free(struct interp_module *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->num_functions; i++)
		function_free(m->functions[i]);
	for (unsigned i = 0; i < m->num_variables; i++) {
		m->host->variable_free(m->host->ctx, m->variables[i].addr);
		free(m->variables[i].name);
	}
	for (unsigned i = 0; i < m->num_tables; i++)
		free(m->tables[i]);
	free(m->tables);
	free(m->functions);
	free(m->variables);
	free(m->insns);
	free(m->operands);
	free(m->constants);
	free(m->text);
	free(m);
}

struct interp_kernel *interp_kernel_at(struct interp_module *m, unsigned i)
{
	for (unsigned k = 0; k < m->num_functions; k++)
		if (m->functions[k]->entry && m->functions[k]->defined && !i--)
			return m->functions[k];
	return NULL;
}

struct interp_kernel *interp_kernel(struct interp_module *m, const char *name)
{
	for (unsigned k = 0; k < m->num_functions; k++)
		if (m->functions[k]->entry && m->functions[k]->defined && !strcmp(m->functions[k]->name, name))
			return m->functions[k];
	return NULL;
}

void interp_info(const struct interp_kernel *f, struct interp_info *info)
{
	*info = (struct interp_info){
		.name = f->name,
		.num_params = f->num_params,
		.params = f->infos,
		.param_size = f->param_size,
		.shared = f->shared + (f->uses_shared ? f->module->shared : 0),
		.local = f->local,
		.registers = f->registers < f->max_registers ? f->registers : f->max_registers,
		.max_threads = f->max_threads,
	};
	memcpy(info->cluster, f->cluster, sizeof info->cluster);
}

uint64_t interp_variable(const struct interp_module *m, const char *name, size_t *size)
{
	for (unsigned i = 0; i < m->num_variables; i++)
		if (!strcmp(m->variables[i].name, name)) {
			if (size)
				*size = m->variables[i].size;
			return m->variables[i].addr;
		}
	return 0;
}
