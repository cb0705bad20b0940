/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The server's questions to the collector: threads wait for pages, one thread receives them. */
#ifndef WEB_ASK_H
#define WEB_ASK_H
#include <pthread.h>
#include <stdint.h>
#include "cudaexporter/web_request.h"
#include "cudaexporter/web_message.h"

enum { WEB_WAITS = 16 };
enum web_answer { WEB_ANSWER_PAGE, WEB_ANSWER_NONE, WEB_ANSWER_LATE };

/* A thread that waits. */
struct web_wait {
	uint64_t id;		/* 0: free */
	bool answered, ok;
	int fd;
};

struct web_ask {
	int socket;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	uint64_t last_id;
	struct web_wait wait[WEB_WAITS];
};

void web_ask_init(struct web_ask *a, int socket);

/* Returns an id for a question, never used before. */
uint64_t web_ask_id(struct web_ask *a);

/* Asks for a page, and waits for it until clock_ns() is deadline.  WEB_ANSWER_PAGE: *fd is the page's, for the
 * caller to close (-1 for WEB_READY); WEB_ANSWER_NONE: there is none yet; WEB_ANSWER_LATE: no answer in time. */
enum web_answer web_ask_page(struct web_ask *a, const struct web_request *r, unsigned long long deadline, int *fd);

/* Hands an answer with its descriptor to who waits for it; drops it if nobody does any more. */
void web_ask_answer(struct web_ask *a, const struct web_message *m, int fd);

#endif
