/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads --web.config.file and the files that it names. */
#ifndef WEB_CONFIG_H
#define WEB_CONFIG_H
#include <stdbool.h>
#include "cudaexporter/web_settings.h"

/* Reads a config and what it names.  Never NULL: see error. */
struct web_config *web_config_read(const char *path);

/* Return true if a file is not what it was when the config was read. */
bool web_config_changed(const struct web_config *c);

/* Return true if nobody reads a page without a password that cannot be overheard, or a certificate. */
bool web_config_protects(const struct web_config *c);

/* Frees it, and what it holds.  c may be NULL. */
void web_config_free(struct web_config *c);

#endif
