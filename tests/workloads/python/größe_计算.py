# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A module whose name and functions are not ASCII."""
from truth import here, malloc, p


def berechne_größe_数():
    malloc(p, here())
