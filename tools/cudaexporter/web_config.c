/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>
#include "base/die.h"
#include "cudaexporter/web_config.h"

/* A parser that accepts only mappings and strings: no aliases, anchors, tags, second documents or duplicate keys. */
struct web_yaml {
	yaml_parser_t parser;
	yaml_event_t event;		/* the current one */
	const char *file;
	char *error;			/* "FILE:LINE: what is wrong", or NULL */
};

/* Called for a key of a mapping.  Reads its value by web_yaml_string() or web_yaml_mapping(), and returns false on an
 * error.  line counts from 1. */
typedef bool web_yaml_fn(void *ctx, struct web_yaml *y, const char *key, int line);

enum { KEYS_MAX = 256 };

/* Sets the error, unless one is set.  Returns false. */
static bool web_yaml_error(struct web_yaml *y, int line, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (y->error)
		return false;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die(ENOMEM, "a string");
	va_end(ap);
	y->error = xprintf("%s:%d: %s", y->file, line, text);
	free(text);
	return false;
}

static int web_config_line_of(const struct web_yaml *y)
{
	return y->event.start_mark.line + 1;
}

static bool no_extras(struct web_yaml *y, const void *anchor, const void *tag)
{
	if (anchor)
		return web_yaml_error(y, web_config_line_of(y), "anchors are not supported");
	return !tag || web_yaml_error(y, web_config_line_of(y), "tags are not supported");
}

/* Reads the next event into event. */
static bool advance(struct web_yaml *y)
{
	yaml_event_delete(&y->event);
	if (!yaml_parser_parse(&y->parser, &y->event))
		return web_yaml_error(y, y->parser.problem_mark.line + 1, "invalid YAML: %s",
				      y->parser.problem ? y->parser.problem : "out of memory");
	switch (y->event.type) {
	case YAML_ALIAS_EVENT:
		return web_yaml_error(y, web_config_line_of(y), "aliases are not supported");
	case YAML_SCALAR_EVENT:
		return no_extras(y, y->event.data.scalar.anchor, y->event.data.scalar.tag);
	case YAML_MAPPING_START_EVENT:
		return no_extras(y, y->event.data.mapping_start.anchor, y->event.data.mapping_start.tag);
	default:
		return true;
	}
}

static bool is_null(const struct web_yaml *y)
{
	return y->event.type == YAML_SCALAR_EVENT && !y->event.data.scalar.length &&
	       y->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* Returns the current event as a key, or NULL if it cannot be one. */
static char *key_of(struct web_yaml *y)
{
	const char *s = (const char *)y->event.data.scalar.value;

	if (y->event.type != YAML_SCALAR_EVENT)
		web_yaml_error(y, web_config_line_of(y), "a key must be a string");
	else if (!*s || strlen(s) != y->event.data.scalar.length)
		web_yaml_error(y, web_config_line_of(y), "a key must not be empty, nor contain a null character");
	else
		return xstrdup(s);
	return NULL;
}

/* The keys of one mapping. */
struct keys {
	char *key[KEYS_MAX];
	int n;
};

static bool note_key(struct web_yaml *y, struct keys *k, char *key, int line)
{
	for (int i = 0; i < k->n; i++)
		if (!strcmp(k->key[i], key))
			return web_yaml_error(y, line, "duplicate key '%s'", key);
	return k->n < KEYS_MAX || web_yaml_error(y, line, "more than %d keys", KEYS_MAX);
}

/* Reads a key, the current event, and its value. */
static bool pair(struct web_yaml *y, struct keys *k, web_yaml_fn *fn, void *ctx)
{
	int line = web_config_line_of(y);
	char *key = key_of(y);

	if (!key)
		return false;
	if (!note_key(y, k, key, line)) {
		free(key);
		return false;
	}
	k->key[k->n++] = key;
	return advance(y) && fn(ctx, y, key, line);
}

/* Reads a mapping: calls fn for each key.  what: the name of the mapping. */
static bool web_yaml_mapping(struct web_yaml *y, const char *what, web_yaml_fn *fn, void *ctx)
{
	struct keys k = { .n = 0 };
	bool ok = true;

	if (y->event.type != YAML_MAPPING_START_EVENT)
		return web_yaml_error(y, web_config_line_of(y), "%s must be a mapping, of lines 'key: value'", what);
	while (ok && (ok = advance(y)) && y->event.type != YAML_MAPPING_END_EVENT)
		ok = pair(y, &k, fn, ctx);
	while (k.n)
		free(k.key[--k.n]);
	return ok;
}

/* Reads a key's value.  Returns it, for the caller to free; NULL if it is no string, or empty. */
static char *web_yaml_string(struct web_yaml *y, const char *key)
{
	const char *s = (const char *)y->event.data.scalar.value;

	if (y->event.type != YAML_SCALAR_EVENT)
		web_yaml_error(y, web_config_line_of(y), "%s must be a string", key);
	else if (!*s)
		web_yaml_error(y, web_config_line_of(y), "%s must not be empty", key);
	else if (strlen(s) != y->event.data.scalar.length)
		web_yaml_error(y, web_config_line_of(y), "%s contains a null character", key);
	else
		return xstrdup(s);
	return NULL;
}

static bool document(struct web_yaml *y, web_yaml_fn *fn, void *ctx)
{
	if (!advance(y) || !advance(y))		/* the stream's start, the document's */
		return false;
	if (y->event.type == YAML_STREAM_END_EVENT)
		return true;
	if (!advance(y))
		return false;
	if (!is_null(y) && !web_yaml_mapping(y, "the file", fn, ctx))
		return false;
	if (!advance(y) || !advance(y))		/* the document's end, the stream's */
		return false;
	return y->event.type == YAML_STREAM_END_EVENT ||
	       web_yaml_error(y, web_config_line_of(y), "a second document is not supported");
}

/* Reads text, a mapping or empty.  file is for messages.  Returns NULL, or the error, which the caller frees. */
static char *web_yaml_read(const char *file, const char *text, size_t size, web_yaml_fn *fn, void *ctx)
{
	struct web_yaml y = { .file = file };

	if (!yaml_parser_initialize(&y.parser))
		die(ENOMEM, "a YAML parser");
	yaml_parser_set_input_string(&y.parser, (const unsigned char *)text, size);
	if (!document(&y, fn, ctx))
		web_yaml_error(&y, 1, "cannot be read");
	yaml_event_delete(&y.event);
	yaml_parser_delete(&y.parser);
	return y.error;
}

enum { DEFAULT_VERSION = 2 /* TLS 1.2 */, COST_MIN = 4, COST_MAX = 15 };

static const char *const client_auths[] = { "NoClientCert", "RequestClientCert", "RequireAnyClientCert",
					    "VerifyClientCertIfGiven", "RequireAndVerifyClientCert", NULL };
static const char *const versions[] = { "TLS10", "TLS11", "TLS12", "TLS13", NULL };

/* Reads one of the words into *which. */
static bool word(struct web_yaml *y, const char *key, int line, const char *const *words, int *which)
{
	char *s = web_yaml_string(y, key);
	int i = 0;

	while (s && words[i] && strcmp(words[i], s))
		i++;
	if (s && words[i])
		*which = i;
	else if (s)
		web_yaml_error(y, line, "%s: '%s' is not one of %s … %s", key, s, words[0],
			       words == versions ? versions[3] : client_auths[4]);
	free(s);
	return !y->error;
}

/* Paths are relative to the folder of the config. */
static bool path(struct web_yaml *y, const char *key, int line, const char *config, struct web_file *f)
{
	const char *slash = strrchr(config, '/');
	char *s = web_yaml_string(y, key);

	if (!s)
		return false;
	f->line = line;
	f->path = *s == '/' || !slash ? xstrdup(s) : xprintf("%.*s/%s", (int)(slash - config), config, s);
	free(s);
	return true;
}

static bool tls_key(void *ctx, struct web_yaml *y, const char *key, int line)
{
	struct web_config *c = ctx;
	int which = 0;
	bool ok;

	if (!strcmp(key, "cert_file"))
		return path(y, key, line, c->file.path, &c->cert);
	if (!strcmp(key, "key_file"))
		return path(y, key, line, c->file.path, &c->key);
	if (!strcmp(key, "client_ca_file"))
		return path(y, key, line, c->file.path, &c->ca);
	if (!strcmp(key, "client_auth_type")) {
		ok = word(y, key, line, client_auths, &which);
		c->client_auth = which;
		c->client_auth_line = line;
		return ok;
	}
	if (strcmp(key, "min_version"))
		return web_yaml_error(y, line, "unknown key '%s' (known: cert_file, key_file, client_ca_file, "
				      "client_auth_type, min_version)", key);
	c->min_version_line = line;
	return word(y, key, line, versions, &c->min_version);
}

/* Returns what is wrong with a bcrypt hash, or NULL. */
static const char *hash_fault(const char *s)
{
	static const char digits[] = "0123456789", letters[] =
		"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	int cost;

	if (strncmp(s, "$2", 2) || !strchr("aby", s[2]) || !s[2] || s[3] != '$')
		return "is not a bcrypt hash, which begins with $2b$, $2y$ or $2a$ (create one with htpasswd -B)";
	if (strspn(s + 4, digits) != 2 || s[6] != '$' || strlen(s) != 60 || strspn(s + 7, letters) != 53)
		return "is malformed: a bcrypt hash has 60 characters";
	cost = (s[4] - '0') * 10 + s[5] - '0';
	if (cost < COST_MIN || cost > COST_MAX)
		return "has a cost outside 4 to 15: a higher cost takes longer than a scrape may";
	return NULL;
}

static bool user(void *ctx, struct web_yaml *y, const char *key, int line)
{
	struct web_config *c = ctx;
	char *hash = web_yaml_string(y, key);
	const char *fault = hash ? hash_fault(hash) : NULL;

	if (fault)
		web_yaml_error(y, line, "the password hash of user '%s' %s", key, fault);
	else if (strchr(key, ':'))
		web_yaml_error(y, line, "user '%s': a name must not have a colon", key);
	if (y->error) {
		free(hash);
		return false;
	}
	c->users = xrealloc(c->users, c->nusers + 1, sizeof(*c->users));
	c->users[c->nusers++] = (struct web_user){ .name = xstrdup(key), .hash = hash };
	return true;
}

/* Checks tls_server_config for keys that require others. */
static bool complete(struct web_config *c, struct web_yaml *y)
{
	bool verify = c->client_auth >= WEB_CLIENT_VERIFY_GIVEN;

	if (!c->cert.path || !c->key.path)
		return web_yaml_error(y, c->tls_line, "tls_server_config has no %s",
				      c->cert.path ? "key_file" : "cert_file");
	if (verify && !c->ca.path)
		return web_yaml_error(y, c->client_auth_line, "this client_auth_type needs a client_ca_file");
	if (c->ca.path && c->client_auth == WEB_CLIENT_NONE)
		return web_yaml_error(y, c->ca.line, "client_ca_file needs a client_auth_type");
	return true;
}

static bool root_key(void *ctx, struct web_yaml *y, const char *key, int line)
{
	struct web_config *c = ctx;

	if (!strcmp(key, "tls_server_config")) {
		c->tls_line = line;
		return web_yaml_mapping(y, key, tls_key, c) && complete(c, y);
	}
	if (!strcmp(key, "basic_auth_users"))
		return web_yaml_mapping(y, key, user, c) &&
		       (c->nusers || web_yaml_error(y, line, "%s has no user", key));
	return web_yaml_error(y, line, "unknown key '%s' (known: tls_server_config, basic_auth_users)", key);
}

void web_config_parse(struct web_config *c, const char *text, size_t size)
{
	c->min_version = DEFAULT_VERSION;
	c->error = web_yaml_read(c->file.path, text, size, root_key, c);
}

static const gnutls_protocol_t protocols[] = { GNUTLS_TLS1_0, GNUTLS_TLS1_1, GNUTLS_TLS1_2, GNUTLS_TLS1_3 };

const char *web_cert_priority(int min_version)
{
	static const char *const priorities[] = {
		"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:+VERS-TLS1.1:+VERS-TLS1.0",
		"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:+VERS-TLS1.1",
		"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
		"NORMAL:-VERS-ALL:+VERS-TLS1.3",
	};

	return priorities[min_version];
}

/* Return true if GnuTLS's system-wide configuration permits the version. */
static bool speaks(int version)
{
	gnutls_priority_t priority;
	const unsigned *list;
	bool found = false;
	int n;

	if (gnutls_priority_init(&priority, web_cert_priority(version), NULL) < 0)
		return false;
	n = gnutls_priority_protocol_list(priority, &list);
	for (int i = 0; i < n; i++)
		found |= list[i] == protocols[version];
	gnutls_priority_deinit(priority);
	return found;
}

static gnutls_datum_t datum(const struct web_file *f)
{
	return (gnutls_datum_t){ .data = (unsigned char *)f->text, .size = f->size };
}

static char *fault(const struct web_config *c, const struct web_file *f, const char *key, int err)
{
	const char *why = gnutls_strerror(err);
	int length = strlen(why);

	length -= length && why[length - 1] == '.';
	return xprintf("%s:%d: %s '%s': %.*s", c->file.path, f->line, key, f->path, length, why);
}

static char *check_files(const struct web_config *c, gnutls_certificate_credentials_t x509)
{
	gnutls_datum_t cert = datum(&c->cert), key = datum(&c->key), ca = datum(&c->ca);
	gnutls_x509_privkey_t alone;
	int err;

	gnutls_x509_privkey_init(&alone);
	err = gnutls_x509_privkey_import2(alone, &key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	gnutls_x509_privkey_deinit(alone);
	if (err < 0)
		return fault(c, &c->key, "key_file", err);
	err = gnutls_certificate_set_x509_key_mem(x509, &cert, &key, GNUTLS_X509_FMT_PEM);
	if (err < 0)
		return fault(c, &c->cert, "cert_file", err);
	if (!c->ca.path)
		return NULL;
	err = gnutls_certificate_set_x509_trust_mem(x509, &ca, GNUTLS_X509_FMT_PEM);
	return err > 0 ? NULL : fault(c, &c->ca, "client_ca_file", err ? err : GNUTLS_E_NO_CERTIFICATE_FOUND);
}

/* Checks the certificate, its key, the CA and the version of a config with TLS.  Returns NULL, or the error. */
static char *web_cert_check(const struct web_config *c)
{
	gnutls_certificate_credentials_t x509;
	char *error;

	if (!speaks(c->min_version))
		return xprintf("%s:%d: min_version: disabled in GnuTLS's system-wide configuration", c->file.path,
			       c->min_version_line ? c->min_version_line : c->tls_line);
	if (gnutls_certificate_allocate_credentials(&x509) < 0)
		die(ENOMEM, "credentials");
	error = check_files(c, x509);
	gnutls_certificate_free_credentials(x509);
	return error;
}

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
	err = slurp(f, PEM_SIZE);	/* also after an error, to detect a change of the file */
	if (c->error)
		return;
	if (err)
		c->error = xprintf("%s:%d: %s '%s': %s", c->file.path, f->line, key, f->path, strerror(err));
	else if (f->text && strlen(f->text) != f->size)
		c->error = xprintf("%s:%d: %s '%s' contains a null character: not a PEM file", c->file.path,
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
