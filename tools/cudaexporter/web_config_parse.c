/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <string.h>
#include "base/die.h"
#include "cudaexporter/web_config_parse.h"
#include "cudaexporter/web_yaml.h"

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

/* What is wrong with a hash of bcrypt; NULL: nothing. */
static const char *hash_fault(const char *s)
{
	static const char digits[] = "0123456789", letters[] =
		"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	int cost;

	if (strncmp(s, "$2", 2) || !strchr("aby", s[2]) || !s[2] || s[3] != '$')
		return "is not bcrypt's, which begins with $2b$, $2y$ or $2a$ (htpasswd -B makes one)";
	if (strspn(s + 4, digits) != 2 || s[6] != '$' || strlen(s) != 60 || strspn(s + 7, letters) != 53)
		return "is not complete: bcrypt's has 60 characters";
	cost = (s[4] - '0') * 10 + s[5] - '0';
	if (cost < COST_MIN || cost > COST_MAX)
		return "has a cost that is not from 4 to 15: more would take longer than a scrape may";
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

/* What keys of the mapping need each other. */
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
