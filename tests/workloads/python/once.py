# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""One allocation, and the process is gone."""
import os

import truth
from truth import here, malloc, p

truth.case = "once"


def step():
    malloc(p, here())
    os._exit(0)


step()
