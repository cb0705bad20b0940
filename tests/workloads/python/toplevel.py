# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Allocates where it is imported, and as a program: python toplevel.py."""
from truth import here, malloc, p

malloc(p, here())


class Body:
    malloc(p, here())
    held = [malloc(p, here()) for _ in range(2)]
