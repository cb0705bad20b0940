# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # for the tests that include it, and lib.sh's
# Words for tests with real programs: . tests/clients.sh

export PYTHONDONTWRITEBYTECODE=1
clients=${CLIENTS_CACHE:-${XDG_CACHE_HOME:-/var/cache}/cuda-bpf-tools/clients}

# client NAME: $python to start it with the CUDA that it is given, which is built if need be; or false, and
# $why_not.  The simulated runtime is preloaded: the wheels name folders of their own for NVIDIA's.  It is built with the
# headers that PyTorch's wheel and the runtime of 12.9 bring.
client() {
	case $1 in cudart-*) needs=$1 ;; *) needs="$1 pytorch cudart-12.9" ;; esac
	# shellcheck disable=SC2086 # words
	why_not=$(scripts/clients --there $needs 2>&1) || return
	case $1 in cudart-*) return ;; esac
	flock "$O/tests/clients.lock" make -s O="$O" CUDA="$CUDA" clients-built >"$tmp/built" 2>&1 ||
		no "the simulated CUDA does not build: $(tail -n 1 "$tmp/built")"
	sim=$O/tests/clients
	[ -e "$sim/libcudart.so.13" ] || no "there is no simulated CUDA"
	python="env LD_PRELOAD=$sim/libcudart.so.13 LD_LIBRARY_PATH=$sim $clients/$1/bin/python"
}

# kernels FILTER: "LAUNCHES NAME" of the rows of cudalaunchtop's output, sorted
kernels() { jq -r "select($1) | \"\\(.launches) \\(.kernel)\"" "$tmp/out" | sort; }

# registered TRACE: the same of the simulated CUDA's trace, by the names that the program gave
registered() { awk -f tests/clients/launches.awk "$1" | c++filt -p | sort; }

# says_of FILTER: what the program says of itself in the last line of $tmp/truth
says_of() { tail -n 1 "$tmp/truth" | jq "$1"; }
