# shellcheck shell=sh disable=SC2016,SC2086,SC2154 # for eval; words; lib.sh's
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
[ "$kind" != inject ] || return 0
# calls in flight, those from before tracing began too
program env SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" malloc 3 64 wait thread '(' sync 1 ')' thread '(' sync 1 ')' sync 1
tool cudasynclatency --attach "$kind" -kj -p "$pid"
echo >&3
until_true eval '[ "$(grep -l "^$pause " /proc/$pid/task/*/syscall | wc -l)" = 3 ]'
stop
status 0
json 3 '.running and .complete and .func == "cudaDeviceSynchronize" and .stack[0].sym == "do_sync"'
run cudasynclatency --attach "$kind" -kj -p "$pid" 1 1
status 0
json 3 '.running and (.complete | not) and .func == "cudaDeviceSynchronize" and .stack[0].sym == "do_sync"'
silent
exec 3>&-
kill -9 "$pid"
wait "$pid"
