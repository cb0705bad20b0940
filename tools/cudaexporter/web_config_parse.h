/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef WEB_CONFIG_PARSE_H
#define WEB_CONFIG_PARSE_H
#include "cudaexporter/web_settings.h"

/* Reads a config out of text; c->file.path is set.  Sets c->error if it is wrong.  Reads no file. */
void web_config_parse(struct web_config *c, const char *text, size_t size);

#endif
