# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
words='malloc 23 4096 free 7 copy 19 1000 d2h launch 13 sync 5 fail 3'
# perf takes its time to take out so many probes; inject has neither off-cpu nor self-time
case $kind in
perf) echo '--kernels 5 --sync-functions --collect.off-cpu' ;;
inject) echo '--kernels 5 --sync-functions' ;;
*) printf '%s\n' --self-time '--kernels 5 --sync-functions --collect.off-cpu' ;;
esac >"$tmp/hows"
while read -r how; do
	run cudaexporter --once --attach "$kind" $how -c "$bin/mem $words" </dev/null
	status 0
	lines 1 '^cuda_memory_allocations_total\{.*device="0",memory="device"\} 25$'
	lines 1 '^cuda_memory_frees_total\{.*memory="device"\} 7$'
	lines 1 '^cuda_copy_size_bytes_sum\{.*direction="d2h",async="false"\} 19000$'
	lines 1 '^cuda_launches_total\{.*kind="kernel"\} 13$'
	lines 1 '^cuda_sync_duration_seconds_count\{.*\} 5$'
	lines 1 '^cuda_errors_total\{.*function="cudaMalloc",error="cudaErrorMemoryAllocation"\} 3$'
	lines 10 '^cuda_exporter_lost_events_total\{.*\} 0$'
	silent
done <"$tmp/hows"
lines 1 '^cuda_kernel_launches_total\{.*\} 13$'
loads cudaexporter --kernels 5 --exemplars --web.listen-address 127.0.0.1:0
