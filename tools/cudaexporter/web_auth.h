/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Checks passwords against bcrypt hashes, in a time that does not reveal whether the user exists. */
#ifndef CUDAEXPORTER_WEB_AUTH_H
#define CUDAEXPORTER_WEB_AUTH_H
#include <crypt.h>
#include <pthread.h>
#include <stdatomic.h>
#include "cudaexporter/web_config.h"

enum { WEB_AUTH_KEPT = 16, WEB_AUTH_DIGEST = 32 };
enum web_auth_result { WEB_AUTH_RIGHT, WEB_AUTH_WRONG, WEB_AUTH_BUSY };

struct web_auth {
	const struct web_user *users;
	int nusers;
	pthread_mutex_t crypt_lock, kept_lock;
	atomic_int checking;					/* threads that hash, or wait for it */
	struct crypt_data *data;
	unsigned char key[WEB_AUTH_DIGEST];
	unsigned char kept[WEB_AUTH_KEPT][WEB_AUTH_DIGEST];	/* of names and passwords that were right */
	unsigned nkept;						/* ever: the oldest are overwritten */
};

/* Call before the process is confined.  The users must outlive a. */
void web_auth_init(struct web_auth *a, const struct web_user *users, int nusers);

/* Hashes one password at a time, so guessing takes one CPU at most; a password that was right before needs no hash.
 * WEB_AUTH_BUSY: three threads wait already, or two seconds have passed. */
enum web_auth_result web_auth_check(struct web_auth *a, const char *name, const char *password);

#endif
