/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes cudaexporter's web config: it is taken whole, or refused with a line that it has. */
#include <string.h>
#include "base/die.h"
#include "cudaexporter/web_config.h"
#include "fuzz.h"

/* What is taken is complete: nobody is served by a config that lacks half of what protects it. */
static void check_taken(const struct web_config *c)
{
	CHECK(!c->tls_line == !c->cert.path);
	CHECK(!c->cert.path == !c->key.path);
	CHECK(c->client_auth < WEB_CLIENT_VERIFY_GIVEN || c->ca.path);
	CHECK(!c->ca.path || c->client_auth != WEB_CLIENT_NONE);
	CHECK(c->min_version >= 0 && c->min_version <= 3);
	for (int i = 0; i < c->nusers; i++) {
		CHECK(*c->users[i].name && !strchr(c->users[i].name, ':'));
		CHECK(strlen(c->users[i].hash) == 60);
		for (int k = 0; k < i; k++)
			CHECK(strcmp(c->users[i].name, c->users[k].name));
	}
}

static void check_refused(const struct web_config *c, const uint8_t *data, size_t size)
{
	long lines = 1, line;

	for (size_t i = 0; i < size; i++)	/* YAML's breaks are more than \n: of a byte each, at most */
		lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
	CHECK(!strncmp(c->error, "dir/web.yml:", 12));
	line = atol(c->error + 12);
	CHECK(line >= 1 && line <= lines + 1);
	CHECK(strlen(c->error) <= size + 400);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web_config *c = xcalloc(1, sizeof(*c));

	c->file.path = xstrdup("dir/web.yml");
	web_config_parse(c, (const char *)data, size);
	if (c->error)
		check_refused(c, data, size);
	else
		check_taken(c);
	web_config_free(c);
	return 0;
}
