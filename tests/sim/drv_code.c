/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: from an image to PTX that can run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv_code.h"

enum {
	INVALID_IMAGE = 200, NO_BINARY_FOR_GPU = 209, INVALID_PTX = 218,
};

static struct code *codes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *what, const char *why)
{
	if (drv_debug)
		fprintf(stderr, "sim: %s: %s\n", what, why);
}

/* The PTX for the highest architecture that the devices have. */
static CUresult from_container(char **ptx, size_t *ptx_size, const void *container, size_t size)
{
	struct fatbin_entry entry, best = { 0 };
	const char *why = "damaged";
	size_t at = 0;
	int more;

	while ((more = drv_kernels->fatbin_next(container, size, &at, &entry)) > 0)
		if (entry.image.kind == FATBIN_PTX && drv_kernels->fatbin_runs(&entry.image, drv_sm) &&
		    (!best.header || entry.image.sm > best.image.sm))
			best = entry;
	if (more < 0) {
		say("fat binary", why);
		return (CUresult)INVALID_IMAGE;
	}
	if (!best.header) {
		say("fat binary", "no PTX for the simulated device");
		return (CUresult)NO_BINARY_FOR_GPU;
	}
	*ptx = drv_kernels->fatbin_unpack(&best, ptx_size, &why);
	if (!*ptx)
		say("fat binary", why);
	return *ptx ? CUDA_SUCCESS : (CUresult)INVALID_IMAGE;
}

/* Reads no byte behind one that differs: text may be shorter. */
static bool begins(const void *image, size_t size, const char *magic)
{
	return size >= 4 && !strncmp(image, magic, 4);
}

/* size: of a file; an image in memory says itself how long it is. */
static CUresult find_ptx(char **ptx, size_t *ptx_size, const void *image, size_t size)
{
	struct fatbin_wrapper wrapper;
	size_t n;

	if (size >= sizeof(wrapper) && begins(image, size, "\xb1\x43\x62\x46")) {	/* FATBIN_WRAPPER */
		memcpy(&wrapper, image, sizeof(wrapper));
		image = (const void *)(uintptr_t)wrapper.data;
		if (!image)
			return (CUresult)INVALID_IMAGE;
	}
	if (begins(image, size, "\x50\xed\x55\xba")) {	/* FATBIN_MAGIC */
		n = drv_kernels->fatbin_size(image, size);
		return n ? from_container(ptx, ptx_size, image, n) : (CUresult)INVALID_IMAGE;
	}
	if (begins(image, size, "\177ELF")) {
		say("image", "machine code only");
		return (CUresult)NO_BINARY_FOR_GPU;
	}
	*ptx_size = strnlen(image, size);
	*ptx = malloc(*ptx_size + 1);
	if (!*ptx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(*ptx, image, *ptx_size);
	(*ptx)[*ptx_size] = '\0';
	return CUDA_SUCCESS;
}

/* The number of ".target sm_90a, …"; 0 if there is none. */
static unsigned target(const char *ptx)
{
	const char *p = strstr(ptx, ".target");
	unsigned sm = 0;

	if (p)
		sscanf(p, ".target sm_%u", &sm);
	return sm;
}

CUresult code_get(struct code **code, const void *image, size_t size)
{
	struct code *c = calloc(1, sizeof(*c));
	CUresult r = c ? find_ptx(&c->ptx, &c->size, image, size) : CUDA_ERROR_OUT_OF_MEMORY;

	if (!r) {
		c->sm = target(c->ptx);
		if (!c->sm || c->sm > drv_sm) {
			say("PTX", c->sm ? ".target is above the simulated device" : "no .target");
			r = (CUresult)INVALID_PTX;
		}
	}
	if (r) {
		if (c)
			free(c->ptx);
		free(c);
		return r;
	}
	pthread_mutex_lock(&lock);
	c->next = codes;
	codes = c;
	pthread_mutex_unlock(&lock);
	*code = c;
	return CUDA_SUCCESS;
}

void code_put(struct code *code)
{
	struct code **p;
	int i;

	pthread_mutex_lock(&lock);
	for (p = &codes; *p != code; p = &(*p)->next)
		;
	*p = code->next;
	for (i = 0; i < MAX_DEVICES; i++)
		if (code->on[i])
			drv_kernels->free(code->on[i]);
	pthread_mutex_unlock(&lock);
	free(code->ptx);
	free(code);
}

static CUresult module_on(struct code *code, int dev, struct interp_module **module)
{
	char why[200] = "";

	pthread_mutex_lock(&lock);
	if (!code->on[dev])
		code->on[dev] = drv_kernels->load(code->ptx, code->size, drv_host(dev), why, sizeof(why));
	*module = code->on[dev];
	pthread_mutex_unlock(&lock);
	if (!*module)
		say("PTX", why);
	return *module ? CUDA_SUCCESS : (CUresult)INVALID_PTX;
}

CUresult code_module(struct code *code, struct interp_module **module)
{
	return module_on(code, drv_current()->dev, module);
}

CUresult code_any(struct code *code, struct interp_module **module)
{
	return module_on(code, drv_current() ? drv_current()->dev : 0, module);
}

void code_reset(int dev)
{
	struct code *c;

	if (!drv_kernels)
		return;
	pthread_mutex_lock(&lock);
	for (c = codes; c; c = c->next)
		if (c->on[dev]) {
			drv_kernels->free(c->on[dev]);
			c->on[dev] = NULL;
		}
	pthread_mutex_unlock(&lock);
}
