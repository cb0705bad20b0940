/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpuprobe/fnv.h"
#include "gpuprobe/how.h"
#include "gpuprobe/link.h"
#include "gpuprobe/ptxas_rewrite.h"

enum { TEXT_MAX = 1 << 30 };

static bool selects(void *ctx, const char *name, size_t n)
{
	return select_matches(ctx, name, n);
}

/* It says nothing to the tool: the library in the program tells what was loaded. */
bool ptxas_asked(struct asked *asked)
{
	const char *name = secure_getenv(GPUPROBE_SOCKET);
	struct gpuprobe_config config;
	struct link link;
	char *payload;

	if (!name || !link_open(&link, name, &config, &payload))
		return false;
	link_close(&link);
	if (gpu_probe_read(&asked->probe, payload + config.kernels_size, config.probe_size))
		return false;
	asked->how = how_to(&config, &asked->probe);
	asked->select = (struct select){ payload, config.kernels_size };
	if (config.kernels_size) {
		asked->how.selects = selects;
		asked->how.ctx = &asked->select;
	}
	config.period_ms = 0;
	asked->hash = fnv64_more(fnv64(&config, sizeof(config)), payload, (size_t)config.kernels_size + config.probe_size);
	return true;
}

static char *text_of(const char *file, size_t *size)
{
	FILE *f = fopen(file, "re");
	size_t room = 0;
	char *text = NULL;
	ssize_t n = f ? getdelim(&text, &room, 0, f) : -1;

	if (f)
		fclose(f);
	if (n > 0 && n < TEXT_MAX) {
		*size = strnlen(text, (size_t)n);
		return text;
	}
	free(text);
	return NULL;
}

static char *file_with(const struct instrumented *what)
{
	const char *folder = secure_getenv("TMPDIR");
	char *name;
	int fd;
	FILE *f;

	if (asprintf(&name, "%s/cuda-bpf-tools-XXXXXX.ptx", folder && *folder ? folder : "/tmp") < 0)
		return NULL;
	fd = mkostemps(name, 4, 0);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f && fwrite(what->text, 1, what->size, f) == what->size && !fclose(f))
		return name;
	if (fd >= 0)
		unlink(name);
	free(name);
	return NULL;
}

char *ptxas_rewrite(const struct asked *asked, const char *file)
{
	struct instrumented out = { 0 };
	size_t size = 0;
	char *text = text_of(file, &size), *name = NULL;

	if (text && !memmem(text, size, "__cuprobe_sites_", 16) &&
	    instrument(&out, text, size, &asked->how) == INSTRUMENT_DONE)
		name = file_with(&out);
	free(out.text);
	free(text);
	return name;
}
