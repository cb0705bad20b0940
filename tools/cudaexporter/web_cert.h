/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What GnuTLS says of a config. */
#ifndef WEB_CERT_H
#define WEB_CERT_H
struct web_config;

/* GnuTLS's priority string for min_version of struct web_config. */
const char *web_cert_priority(int min_version);

/* Checks the certificate, its key, the CA and the version of a config with TLS.  Returns NULL, or "FILE:LINE: what
 * is wrong", which the caller frees. */
char *web_cert_check(const struct web_config *c);

#endif
