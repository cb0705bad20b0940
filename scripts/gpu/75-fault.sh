# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Do tools survive a kernel with a fault, and report the error?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=90
believes=tests/sim/drv_fault.c

has gpu 'a fault' || return
for kind in far misaligned trap; do
	try 30 ${sim:+env SIM_KERNELS=1} "$bin/gpu" fault $kind
	said=$(sed -n 's/^cudaDeviceSynchronize: //p' "$tmp/out" | head -n 1)
	case $kind in
	far) expected=cudaErrorIllegalAddress ;;
	misaligned) expected=cudaErrorMisalignedAddress ;;
	trap) expected=cudaErrorLaunchFailure ;;
	esac
	is "fault $kind: what cudaDeviceSynchronize returns" $expected "$said"
	try 30 ${sim:+env SIM_KERNELS=1} "$tools/cudatrace" $how -qxj -c "$bin/gpu fault $kind"
	is "fault $kind: cudatrace reports it" 'at least once' "$(count "\"$said\"") times" "$(yes_if [ "$(count "\"$said\"")" -gt 0 ])"
	for tool in cudamemtime cudabounds; do
		look $tool -- "$bin/gpu" fault $kind
		is "fault $kind: the tool $tool ends" 'in 30 s' "status $rc" "$(yes_if [ $rc -ne 124 ])"
	done
	[ $kind != far ] || is 'fault far: cudabounds names the access, whose record survives the context' 1 "$(count '"faulted":true')"
done
