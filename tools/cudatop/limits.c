/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cudatop/limits.h"

#define LIMIT(name, value, manual, source) [LIMIT_##name] = value,
const double top_limits[TOP_LIMITS] = {
#include "cudatop/limits.def"
};
#undef LIMIT
