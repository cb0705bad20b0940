# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
run cudamallocsnoop --attach "$kind" -jkc "$bin/mem malloc 23 4096 pitch 5 100 10 free 7"
status 0
json 23 '.func == "cudaMalloc" and .size == 4096 and .stack[0].sym == "do_malloc"'
json 5 '.func == "cudaMallocPitch"'
json 7 '.op == "free"'
json 35 true
silent
if [ "$kind" != inject ]; then
	run cudamallocsnoop --attach "$kind" --tensors -jc "$bin/usdt malloc 3 1013 free 2"
	json 5 '.memory == "tensor" and .size == 1013'
	silent
fi
for how in -x '-A -m 64k' -F; do
	loads cudamallocsnoop $how
done
