# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
for how in -Oj -Okj; do
	run env SIM_LATENCY_US=cuCtxSynchronize=20000 cudasynclatency --attach "$kind" $how \
		-c "$bin/mem sync 13 streamsync 7"
	status 0
	json 1 '.func == "cudaDeviceSynchronize" and .count == 13 and .min_ns >= 20000000 and
		.off_cpu_ns >= 130000000 and (.hist | map(.[2]) | add) == 13'
	json 1 '.func == "cudaStreamSynchronize" and .count == 7'
	json 2 '.func'
	silent
done
json 1 '.stack[0].sym == "do_sync"'
for how in '-iLP' -i; do
	loads cudasynclatency $how
done
