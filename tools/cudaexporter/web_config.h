/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads --web.config.file, a subset of exporter-toolkit's format, and the files that it names. */
#ifndef CUDAEXPORTER_WEB_CONFIG_H
#define CUDAEXPORTER_WEB_CONFIG_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* client_auth_type, as in Go's crypto/tls */
enum web_client_auth {
	WEB_CLIENT_NONE,		/* NoClientCert */
	WEB_CLIENT_REQUEST,		/* RequestClientCert: may have any */
	WEB_CLIENT_ANY,			/* RequireAnyClientCert: must have any */
	WEB_CLIENT_VERIFY_GIVEN,	/* VerifyClientCertIfGiven: may have one of the CA */
	WEB_CLIENT_VERIFY,		/* RequireAndVerifyClientCert: must have one of the CA */
};

/* A file that is checked for changes. */
struct web_file {
	char *path;		/* NULL: none */
	int line;		/* of the config, where it is named */
	char *text;		/* its contents and a '\0'; NULL: it could not be read */
	size_t size;
	struct stat seen;	/* before it was read; all 0: it did not exist */
};

struct web_user { char *name, *hash; };

struct web_config {
	char *error;		/* "FILE:LINE: what is wrong"; the rest is not for use then */
	struct web_file file, cert, key, ca;
	int tls_line;		/* of tls_server_config; 0: no TLS */
	enum web_client_auth client_auth;
	int client_auth_line;	/* 0: not in the file */
	int min_version, min_version_line;	/* 0: TLS 1.0 … 3: TLS 1.3 */
	struct web_user *users;
	int nusers;
};

/* Reads a config and the files that it names.  Never NULL: see error. */
struct web_config *web_config_read(const char *path);

/* Reads a config from text; c->file.path is set.  Sets c->error if it is wrong.  Reads no file. */
void web_config_parse(struct web_config *c, const char *text, size_t size);

/* Return true if a file has changed since the config was read. */
bool web_config_changed(const struct web_config *c);

/* Return true if reading a page requires a certificate, or a password that TLS protects. */
bool web_config_protects(const struct web_config *c);

/* c may be NULL. */
void web_config_free(struct web_config *c);

/* Returns GnuTLS's priority string for min_version of struct web_config. */
const char *web_cert_priority(int min_version);

#endif
