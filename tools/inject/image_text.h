/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* PTX of an image, and the same with probes. */
#ifndef INJECT_IMAGE_TEXT_H
#define INJECT_IMAGE_TEXT_H
#include "inject/image.h"

/* An image being rewritten. */
struct image_job {
	struct image *out;
	struct inject *inject;
	struct registers *registers;
	unsigned sm;		/* the device's, or 0 */
	bool seen;		/* there was PTX that the device can run */
};

/* Returns new text, malloc'd and ended by 0, and *size; or NULL, and says why in job->out. */
char *image_text(struct image_job *job, const char *text, size_t *size);

#endif
