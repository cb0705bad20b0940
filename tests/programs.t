# shellcheck shell=sh
# What kinds of programs the functions are found in: with either runtime, linked in, stripped, loaded later, without a
# runtime, or NVIDIA's own.  What finds them is the same for every tool: common/elf, common/probe.

# called: the functions with the number of their calls and failures, in alphabetical order
called() {
	jq -r 'select(.func) | "\(.func) \(.calls) \(.errors)"' "$tmp/out" | LC_ALL=C sort | paste -sd,
}

words='malloc 23 4096 free 7 fail 3 launch 11 sync 13'
runtime='cudaDeviceSynchronize 13 0,cudaFree 7 0,cudaLaunchKernel 11 0,cudaMalloc 26 3'
driver='cuCtxSynchronize 13 0,cuLaunchKernel 11 0,cuMemAlloc_v2 26 3,cuMemFree_v2 7 0'
while IFS='|' read -r program prefix want; do
	it "$program: each call once"
	# shellcheck disable=SC2086 # no word or one
	run cudatrace -jS -e memory,launch,sync -c "$bin/$program $prefix $words"
	status 0
	equal "$(called)" "$want"
	silent
done <<END
mem||$runtime
mem-12||$runtime
mem-static||$runtime
mem-dlopen|load|$runtime
mem-stripped||$driver
END

it "mem-drv, which has no runtime: each call once"
run cudatrace -jS -e memory,launch,sync -c "$bin/mem-drv drvmalloc 23 4096 drvfree 7 drvlaunch 11 drvsync 13"
status 0
equal "$(called)" "${driver%%cuMemAlloc*}cuMemAlloc_v2 23 0,cuMemFree_v2 7 0"
silent
