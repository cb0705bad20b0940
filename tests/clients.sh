# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # for the tests that include it, and lib.sh's
# Words for tests with real programs: . tests/clients.sh

export PYTHONDONTWRITEBYTECODE=1
clients=${CLIENTS_CACHE:-${XDG_CACHE_HOME:-/var/cache}/cuda-bpf-tools/clients}

# client NAME: installs it, if need be, and builds the CUDA that it is given; $python to start it with; or false,
# and $why_not.  The simulated runtime is preloaded: the wheels name folders of their own for NVIDIA's.
client() {
	why_not=$(scripts/clients "$1" 2>&1) || return
	why_not=$(make -s O="$O" CUDA="$CUDA" clients-built 2>&1) || return
	sim=$O/tests/clients
	python="env LD_PRELOAD=$sim/libcudart.so.13 LD_LIBRARY_PATH=$sim $clients/$1/bin/python"
}

# kernels FILTER: "LAUNCHES NAME" of the rows of cudalaunchtop's output, sorted
kernels() { jq -r "select($1) | \"\\(.launches) \\(.kernel)\"" "$tmp/out" | sort; }

# registered TRACE: the same of the simulated CUDA's trace, by the names that the program gave
registered() { awk -f tests/clients/launches.awk "$1" | c++filt -p | sort; }

# says_of FILTER: what the program says of itself in the last line of $tmp/truth
says_of() { tail -n 1 "$tmp/truth" | jq "$1"; }
