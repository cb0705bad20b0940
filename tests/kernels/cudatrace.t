# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
run cudatrace --attach "$kind" -jkc "$bin/mem malloc 23 4096 free 7 copy 5 64 h2d launch 11 fail 3"
status 0
json 23 '.func == "cudaMalloc" and .args.size == 4096 and .ret == 0 and .stack[0].sym == "do_malloc"'
json 3 '.func == "cudaMalloc" and .error == "cudaErrorMemoryAllocation"'
json 7 '.func == "cudaFree"'
json 5 '.func == "cudaMemcpy" and .args.kind == "cudaMemcpyHostToDevice" and .args.count == 64'
json 11 '.kernel == "mem_kernel" and .args.gridDim == [13,1,1]'
silent
run cudatrace --attach "$kind" --tree -jc "$bin/mem malloc 23 4096"
json 23 '.func == "cudaMalloc"'
json 23 '.func == "cuMemAlloc_v2"'
silent
for how in -S -x --enter --enter-only --unchecked; do
	loads cudatrace $how
done
