/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "agent/gpuprobe/gpuprobe.h"
#include "agent/gpuprobe/image.h"
#include "agent/gpuprobe/load.h"

enum { FILE_MAX = 1 << 30 };

static unsigned sm_of(const struct driver *d, CUdevice device)
{
	int major, minor;

	if (d->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_MAJOR, device) ||
	    d->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_MINOR, device))
		return 0;
	return (unsigned)(major * 10 + minor);
}

/* A library can be used on any device: 0 unless all have the same number. */
static unsigned sm_of_all(const struct driver *d)
{
	unsigned sm = 0, other;
	int n;

	if (!d->cuDeviceGetCount || d->cuDeviceGetCount(&n))
		return 0;
	for (int i = 0; i < n; i++) {
		other = sm_of(d, i);
		if (i && other != sm)
			return 0;
		sm = other;
	}
	return sm;
}

/* Where an image is loaded. */
struct target {
	CUcontext ctx;		/* NULL: none is current */
	CUdevice device;
	unsigned sm;
};

static struct target current_target(const struct driver *d, enum module_kind kind)
{
	struct target target = { NULL, 0, 0 };

	if (d->cuCtxGetCurrent(&target.ctx) || !target.ctx || d->cuCtxGetDevice(&target.device))
		target.ctx = NULL;
	if (d->cuDeviceGetAttribute)
		target.sm = kind == MODULE && target.ctx ? sm_of(d, target.device) : sm_of_all(d);
	return target;
}

/* The driver compiles a library at its first use: force that while the original can still be loaded instead. */
static CUresult try_library(const struct loading *how, void *library, const struct image *image, const struct target *target)
{
	CUresult r = CUDA_SUCCESS;
	CUdeviceptr at;
	size_t size;
	char name[48];

	for (unsigned i = 0; target->ctx && i < image->num_hashes && !r; i++) {
		snprintf(name, sizeof(name), "__cuprobe_ctl_%08x", image->hashes[i]);
		r = how->driver->cuLibraryGetGlobal(&at, &size, library, name);
		if (r == CUDA_ERROR_NOT_FOUND)
			r = CUDA_SUCCESS;
	}
	return r;
}

static CUresult load_rewritten(const struct loading *how, void **handle, const struct image *image,
			       const struct target *target)
{
	CUresult r = loading_call(how, handle, image->data);

	if (r || how->kind == MODULE)
		return r;
	r = try_library(how, *handle, image, target);
	if (r)
		loading_unload(how, *handle);
	return r;
}

static void refused(const struct driver *d, struct image *image, CUresult error)
{
	const char *name = NULL;

	if (!d->cuGetErrorName || d->cuGetErrorName(error, &name) || !name)
		name = "an unknown error";
	image->report.status = GPUPROBE_BAD;
	image->report.sites = 0;
	image->num_hashes = 0;
	free(image->data);
	image->data = NULL;
	image_note(image, name);
}

static void remember(struct gpuprobe *state, const struct loading *how, void *handle, struct image *image,
		     const struct target *target, const struct registers *registers)
{
	uint32_t *hashes = malloc(image->num_hashes * sizeof(*hashes));
	struct context *c = NULL;
	struct module *m = NULL;
	bool linked;

	pthread_mutex_lock(&state->lock);
	if (target->ctx)
		c = modules_context(&state->modules, target->ctx, target->device);
	linked = image->report.status == GPUPROBE_THERE &&
		 modules_linked(&state->modules, image->hashes, image->num_hashes);
	if (!linked)
		link_queue(&state->link, GPUPROBE_IMAGE, &image->report, sizeof(image->report), image->text, image->text_size);
	if (hashes && image->num_hashes && (c || how->kind == LIBRARY)) {
		memcpy(hashes, image->hashes, image->num_hashes * sizeof(*hashes));
		m = modules_add(&state->modules, &(struct module){
			.handle = handle, .kind = how->kind, .context = how->kind == MODULE ? c : NULL,
			.hashes = hashes, .num_hashes = image->num_hashes, .image = image->data,
		});
	}
	if (m) {
		hashes = NULL;
		registers_remember(registers, &state->modules.kernels, m);
	}
	pthread_mutex_unlock(&state->lock);
	gpuprobe_update_ranges();
	free(hashes);
	image->data = NULL;	/* the driver may refer to it: leaked if no module owns it */
}

static CUresult load_with(struct gpuprobe *state, const struct loading *how, void **handle, const void *original,
			  size_t size)
{
	struct target target = current_target(how->driver, how->kind);
	const void *by_driver = how->file ? NULL : original;
	struct registers registers = {
		.how = target.ctx ? how : NULL, .image = by_driver, .device = target.device,
		.keep = state->config.flags & GPUPROBE_KEEP_REGISTERS,
	};
	struct image image;
	CUresult r, error = CUDA_SUCCESS;

	image_rewrite(&image, state, original, size, target.sm, &registers);
	if (image.data)
		error = load_rewritten(how, handle, &image, &target);
	r = image.data && !error ? CUDA_SUCCESS : loading_call(how, handle, by_driver);
	if (!r && error)
		refused(how->driver, &image, error);
	if (!r) {
		if (image.data)
			image.report.fewer_warps = registers_replaced(&registers, *handle);
		remember(state, how, *handle, &image, &target, &registers);
	}
	registers_free(&registers);
	image_free(&image);
	return r;
}

static CUresult load(struct gpuprobe *state, const struct loading *how, void **handle, const void *original, size_t size)
{
	const size_t values = how->jit_values ? how->num_jit * sizeof(*how->jit_values) : 0;
	struct loading again = *how;
	CUresult r;

	again.jit_before = values ? malloc(values) : NULL;
	if (again.jit_before)
		memcpy(again.jit_before, how->jit_values, values);
	r = load_with(state, &again, handle, original, size);
	free(again.jit_before);
	return r;
}

char *load_read(const char *file, size_t *size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	char *p = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= FILE_MAX)
		p = malloc((size_t)st.st_size + 1);
	if (p) {
		ssize_t n = pread(fd, p, (size_t)st.st_size, 0);

		if (n == st.st_size) {
			*size = (size_t)n;
			p[n] = 0;
		} else {
			free(p);
			p = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	return p;
}

CUresult load_module(const struct loading *how, void **handle, const void *image)
{
	struct gpuprobe *state = handle && (image || how->file) ? gpuprobe_begin() : NULL;
	int err = errno;
	size_t size = 0;	/* of an image in memory: the one in its headers */
	char *p = state && !image ? load_read(how->file, &size) : NULL;
	const void *original = !state ? NULL : p ? p : image;
	CUresult r;

	if (!original) {
		errno = err;
		return loading_call(how, handle, image);
	}
	r = load(state, how, handle, original, size);
	free(p);
	errno = err;
	return r;
}

CUresult load_unload(const struct driver *driver, enum module_kind kind, void *handle)
{
	struct loading how = { .driver = driver, .kind = kind };
	struct gpuprobe *state = gpuprobe_state();
	struct module *m = NULL;
	int err = errno;
	CUresult r;

	if (state) {
		pthread_mutex_lock(&state->lock);
		m = modules_find(&state->modules, handle, kind);
		if (m) {	/* its context may be destroyed at the same time */
			m->unloading++;
			gpuprobe_wait(state, &m->served, ++m->wanted);
			m->closed = true;
			gpuprobe_wait_idle(state, &m->busy);
		}
		pthread_mutex_unlock(&state->lock);
	}
	r = loading_unload(&how, handle);
	if (m) {
		pthread_mutex_lock(&state->lock);
		m->gone |= !r;
		m->closed = m->gone;
		m->unloading--;
		pthread_mutex_unlock(&state->lock);
	}
	errno = err;
	return r;
}

void *load_linked(int type, const void *data, size_t size, size_t *new_size)
{
	struct gpuprobe *state = data && (type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY) ? gpuprobe_begin() : NULL;
	int err = errno;
	struct image image;
	struct target target;
	void *new;

	if (!state)
		return NULL;
	target = current_target(state->driver, MODULE);
	image_rewrite(&image, state, data, size, target.sm, NULL);
	new = image.data;
	image.data = NULL;
	*new_size = image.size;
	if (new) {
		pthread_mutex_lock(&state->lock);
		modules_linked_add(&state->modules, image.hashes, image.num_hashes);
		pthread_mutex_unlock(&state->lock);
	}
	link_queue(&state->link, GPUPROBE_IMAGE, &image.report, sizeof(image.report), image.text, image.text_size);
	image_free(&image);
	errno = err;
	return new;
}
