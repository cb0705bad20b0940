# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Are graphs counted as what they run, by launches and by GPU time?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/drv_graph.c

q 14
has inside 'a graph' || return
what=inside-static
{ [ -x "$bin/$what" ] && [ -z "$cannot" ]; } || what=inside
try 60 "$tools/cudalaunchtop" $how -qbj -c "$bin/$what graph 11"
is 'kernels of a graph of two, launched 11 times' 22 "$(sum '"kernel":"big"' replayed)"
try 60 "$tools/cudalaunchtop" $how --graphs -qbj -c "$bin/$what graph 11"
is '--graphs: launches of the graph' 11 "$(sum '"type":"graph"' launches)"
try 60 "$tools/cudalaunchtop" $how --gpu-time --graph-nodes -qbj -c "$bin/$what graph 11"
only '--gpu-time --graph-nodes: kernels that have a GPU time' 22 "$(sum '"kernel":"big"' gpu_runs)"
