/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "cudaexporter/web_cert.h"
#include "cudaexporter/web_config.h"
#include "cudaexporter/web_config_parse.h"

enum { CONFIG_SIZE = 64 << 10, PEM_SIZE = 1 << 20 };

/* Reads a regular file of at most max bytes.  Returns 0, or an errno. */
static int slurp(struct web_file *f, size_t max)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err = 0;
	ssize_t n = 0;

	if (fd < 0) {
		err = errno;
		if (stat(f->path, &f->seen))
			memset(&f->seen, 0, sizeof(f->seen));
	} else if (fstat(fd, &f->seen)) {
		err = errno;
	} else if (!S_ISREG(f->seen.st_mode)) {
		err = S_ISDIR(f->seen.st_mode) ? EISDIR : EINVAL;
	} else if ((size_t)f->seen.st_size > max) {
		err = EFBIG;
	} else {
		f->text = xcalloc(1, max + 1);
		while ((n = read(fd, f->text + f->size, max - f->size)) > 0)
			f->size += n;
		err = n < 0 ? errno : 0;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

static void read_pem(struct web_config *c, struct web_file *f, const char *key)
{
	int err;

	if (!f->path)
		return;
	err = slurp(f, PEM_SIZE);	/* also after an error: to see a change of it */
	if (c->error)
		return;
	if (err)
		c->error = xprintf("%s:%d: %s '%s': %s", c->file.path, f->line, key, f->path, strerror(err));
	else if (f->text && strlen(f->text) != f->size)
		c->error = xprintf("%s:%d: %s '%s' contains a null character: it is no PEM file", c->file.path,
				   f->line, key, f->path);
}

struct web_config *web_config_read(const char *path)
{
	struct web_config *c = xcalloc(1, sizeof(*c));
	int err;

	c->file.path = xstrdup(path);
	err = slurp(&c->file, CONFIG_SIZE);
	if (err)
		c->error = xprintf("%s: %s", path, strerror(err));
	else
		web_config_parse(c, c->file.text, c->file.size);
	read_pem(c, &c->cert, "cert_file");
	read_pem(c, &c->key, "key_file");
	read_pem(c, &c->ca, "client_ca_file");
	if (!c->error && c->tls_line)
		c->error = web_cert_check(c);
	return c;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool file_changed(const struct web_file *f)
{
	struct stat now;

	if (!f->path)
		return false;
	if (stat(f->path, &now))
		return f->seen.st_ino;
	return now.st_ino != f->seen.st_ino || now.st_dev != f->seen.st_dev || now.st_size != f->seen.st_size ||
	       !same_time(now.st_mtim, f->seen.st_mtim) || !same_time(now.st_ctim, f->seen.st_ctim);
}

bool web_config_changed(const struct web_config *c)
{
	return file_changed(&c->file) || file_changed(&c->cert) || file_changed(&c->key) || file_changed(&c->ca);
}

bool web_config_protects(const struct web_config *c)
{
	return (c->tls_line && c->nusers) || c->client_auth == WEB_CLIENT_ANY || c->client_auth == WEB_CLIENT_VERIFY;
}

static void free_file(struct web_file *f)
{
	if (f->text)
		explicit_bzero(f->text, f->size);
	free(f->text);
	free(f->path);
}

void web_config_free(struct web_config *c)
{
	if (!c)
		return;
	free_file(&c->file);
	free_file(&c->cert);
	free_file(&c->key);
	free_file(&c->ca);
	for (int i = 0; i < c->nusers; i++) {
		free(c->users[i].name);
		free(c->users[i].hash);
	}
	free(c->users);
	free(c->error);
	free(c);
}
