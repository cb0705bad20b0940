# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Does the nvcc of this machine build the programs, and are they counted alike?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=150
believes=tests/sim/rt_register.c

{ [ -n "$nvcc" ] && [ -d "$here/src" ]; } || { skip 'nvcc builds the programs' 'no nvcc, or no sources'; return; }
mkdir "$tmp/built"
try 120 env ARCHS= "$here/gpu/programs" "$here/src" "$tmp/built"
is 'nvcc builds the programs' 'status 0' "status $rc"
[ -x "$tmp/built/kern" ] || return
try 30 "$tools/cudalaunchtop" $how -qbj -c "$tmp/built/kern 101 53"
is 'launches of scale, fill<int>' '101 53' "$(sum '"kernel":"scale"' launches) $(sum '"kernel":"fill<int>"' launches)"
