/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What --web.config.file says: the part of exporter-toolkit's file that cudaexporter knows. */
#ifndef WEB_SETTINGS_H
#define WEB_SETTINGS_H
#include <stddef.h>
#include <sys/stat.h>

/* client_auth_type, as Go's crypto/tls has it */
enum web_client_auth {
	WEB_CLIENT_NONE,		/* NoClientCert */
	WEB_CLIENT_REQUEST,		/* RequestClientCert: may have any */
	WEB_CLIENT_ANY,			/* RequireAnyClientCert: must have any */
	WEB_CLIENT_VERIFY_GIVEN,	/* VerifyClientCertIfGiven: may have one of the CA */
	WEB_CLIENT_VERIFY,		/* RequireAndVerifyClientCert: must have one of the CA */
};

/* A file that is looked at again. */
struct web_file {
	char *path;		/* NULL: none */
	int line;		/* of the config, where it is named */
	char *text;		/* what it contains, with a '\0' after it; NULL: nothing could be read */
	size_t size;
	struct stat seen;	/* before it was read; all 0: it was not there */
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

#endif
