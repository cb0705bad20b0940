/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>
#include <time.h>
#include "base/die.h"
#include "cudaexporter/web_auth.h"

enum { PATIENCE = 2 /* seconds */, WAITING = 3 /* threads besides the one that hashes */, NAME_MAX = 256, PASSWORD_MAX = 1024 };

void web_auth_init(struct web_auth *a, const struct web_user *users, int nusers)
{
	a->users = users;
	a->nusers = nusers;
	a->data = xcalloc(1, sizeof(*a->data));
	pthread_mutex_init(&a->crypt_lock, NULL);
	pthread_mutex_init(&a->kept_lock, NULL);
	if (gnutls_rnd(GNUTLS_RND_KEY, a->key, sizeof(a->key)) < 0)
		die(0, "cannot get random numbers");
}

/* The name's '\0' separates it from the password. */
static bool digest(const struct web_auth *a, const char *name, const char *password, unsigned char *d)
{
	char both[NAME_MAX + PASSWORD_MAX + 1];
	size_t n = strlen(name) + 1, m = strlen(password);
	int err;

	memcpy(both, name, n);
	memcpy(both + n, password, m);
	err = gnutls_hmac_fast(GNUTLS_MAC_SHA256, a->key, sizeof(a->key), both, n + m, d);
	explicit_bzero(both, sizeof(both));
	return !err;
}

static bool is_kept(struct web_auth *a, const unsigned char *d)
{
	bool found = false;

	pthread_mutex_lock(&a->kept_lock);
	for (unsigned i = 0; i < WEB_AUTH_KEPT && i < a->nkept; i++)
		found |= !gnutls_memcmp(a->kept[i], d, WEB_AUTH_DIGEST);
	pthread_mutex_unlock(&a->kept_lock);
	return found;
}

static void web_auth_keep(struct web_auth *a, const unsigned char *d)
{
	pthread_mutex_lock(&a->kept_lock);
	memcpy(a->kept[a->nkept++ % WEB_AUTH_KEPT], d, WEB_AUTH_DIGEST);
	pthread_mutex_unlock(&a->kept_lock);
}

/* Takes as long for an unknown user: compares with the first user's password. */
static bool matches(struct web_auth *a, const struct web_user *u, const char *password)
{
	const char *hash = (u ? u : a->users)->hash, *got;

	got = crypt_r(password, hash, a->data);
	return got && strlen(got) == strlen(hash) && !gnutls_memcmp(got, hash, strlen(hash)) && u;
}

static const struct web_user *user_of(const struct web_auth *a, const char *name)
{
	for (int i = 0; i < a->nusers; i++)
		if (!strcmp(a->users[i].name, name))
			return &a->users[i];
	return NULL;
}

static enum web_auth_result hashed(struct web_auth *a, const char *name, const char *password)
{
	struct timespec until;
	bool right;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE;
	if (pthread_mutex_clocklock(&a->crypt_lock, CLOCK_MONOTONIC, &until))
		return WEB_AUTH_BUSY;
	right = matches(a, user_of(a, name), password);
	pthread_mutex_unlock(&a->crypt_lock);
	return right ? WEB_AUTH_RIGHT : WEB_AUTH_WRONG;
}

enum web_auth_result web_auth_check(struct web_auth *a, const char *name, const char *password)
{
	unsigned char d[WEB_AUTH_DIGEST];
	enum web_auth_result result = WEB_AUTH_BUSY;

	if (strlen(name) >= NAME_MAX || strlen(password) >= PASSWORD_MAX || !digest(a, name, password, d))
		return WEB_AUTH_WRONG;
	if (is_kept(a, d))
		return WEB_AUTH_RIGHT;
	if (atomic_fetch_add(&a->checking, 1) <= WAITING)
		result = hashed(a, name, password);
	atomic_fetch_sub(&a->checking, 1);
	if (result == WEB_AUTH_RIGHT)
		web_auth_keep(a, d);
	return result;
}
