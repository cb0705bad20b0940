/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include "base/die.h"
#include "cudaexporter/web_cert.h"
#include "cudaexporter/web_settings.h"

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

/* Return true if GnuTLS, as it is set up here, speaks the version. */
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

char *web_cert_check(const struct web_config *c)
{
	gnutls_certificate_credentials_t x509;
	char *error;

	if (!speaks(c->min_version))
		return xprintf("%s:%d: min_version: GnuTLS is set up here not to speak it", c->file.path,
			       c->min_version_line ? c->min_version_line : c->tls_line);
	if (gnutls_certificate_allocate_credentials(&x509) < 0)
		die(ENOMEM, "credentials");
	error = check_files(c, x509);
	gnutls_certificate_free_credentials(x509);
	return error;
}
