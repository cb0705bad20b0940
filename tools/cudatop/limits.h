/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From where on hints apply: limits.def. */
#ifndef CUDATOP_LIMITS_H
#define CUDATOP_LIMITS_H

#define LIMIT(name, value, manual, source) LIMIT_##name,
enum top_limit {
#include "cudatop/limits.def"
	TOP_LIMITS
};
#undef LIMIT

extern const double top_limits[TOP_LIMITS];

#endif
