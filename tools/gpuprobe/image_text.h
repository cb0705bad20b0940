/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* PTX of an image, and the same with probes. */
#ifndef GPUPROBE_IMAGE_TEXT_H
#define GPUPROBE_IMAGE_TEXT_H
#include "gpuprobe/image_job.h"

/* Returns new text, malloc'd and ended by 0, and *size; or NULL, and says why in job->out. */
char *image_text(struct image_job *job, const char *text, size_t *size);

#endif
