# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Do images reach libcudagpuprobe.so, does the driver compile rewritten PTX, do 1,024 threads start?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=120
believes=tests/sim/drv_image.c

q 7
for program in inside inside-static; do
	has $program "images of $program" || continue
	for tool in cudamemtime cudakerneltime cudacoalesce cudabounds; do
		look $tool -- "$bin/$program" big 3
		q 11
		is "$tool, $program: images measured; 1,024 threads a block, results right" '1; 1024' \
			"$(sum '"status":"measured"' images); $said"
	done
done
