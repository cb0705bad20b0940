/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <bpf/libbpf.h>
#include "base/version.h"
#include "revision.h"

const char *version_revision(void)
{
	return REVISION;
}

void version_print(void)
{
	struct utsname kernel = {};

	uname(&kernel);
	printf("%s (cuda-bpf-tools) %s\n", program_invocation_short_name, VERSION);
	/* its string begins with a v */
	printf("revision %s, libbpf %s, %s %s\n", REVISION, libbpf_version_string() + 1,
	       kernel.sysname, kernel.release);
}
