# shellcheck shell=sh disable=SC2016,SC2154 # lib.sh's
# cudaexporter --gpu-time: what libcudagputime.so measures on the simulated CUPTI, in which each run takes as long as
# SIM_KERNEL_NS and SIM_COPY_NS say, as counters.
# shellcheck source=/dev/null
. tests/gputime.sh
library=$O/libcudagputime.so
export SIM_KERNEL_NS=1000 SIM_COPY_NS=500 SIM_SET_NS=200

# page COMMAND [OPTION...]: the page after the command
page() {
	command=$1
	shift
	replayed cudaexporter --once --by comm --kernels 2 --gpu-time "$@" -c "$command"
	status 0
}

# is SECONDS REGEX [FILE]: the samples whose names and labels match add up to so much; "none": there are none
is() {
	got=$(grep -v '^#' "${3:-$tmp/out}" | grep -E -- "$2" | awk '{ n += $NF; any = 1 } END { printf any ? "%.9f" : "none", n }')
	[ "$got" = "$1" ] || no "$2 is $got, not $1"
}

# runs PROGRAM...: one with the library, that waits, in the background
runs() { program env CUDA_INJECTION64_PATH="$library" "$@"; }

it "a kernel's time has the name that its launches have, and is exact"
page "$bin/mem launch 1009 launchex 13 drvlaunch 2003"
is 0.001022000 '^cuda_kernel_gpu_seconds_total\{comm="mem",kernel="mem_kernel"\}'
is 0.002003000 '^cuda_kernel_gpu_seconds_total\{comm="mem",kernel="drv_kernel"\}'
is 0.003025000 '^cuda_kernel_gpu_seconds_total'
is 3025.000000000 '^cuda_kernel_launches_total'
is none '^cuda_(graph|copy)_gpu_seconds_total'
lines 1 '^cuda_exporter_lost_events_total\{reason="gpu_record_dropped"\} 0$'
lines 1 '^cuda_exporter_lost_events_total\{reason="gpu_record_unknown"\} 0$'
silent

it "the time of kernels without a series of their own is other's"
SIM_KERNEL_NS='b=2000,d=7000,1000' page "$bin/launches called a 1009 called b 3001 called c 1013 called d 17"
is 0.006002000 '^cuda_kernel_gpu_seconds_total.*kernel="b"'
is 0.001013000 '^cuda_kernel_gpu_seconds_total.*kernel="c"'
is 0.001128000 '^cuda_kernel_gpu_seconds_total.*kernel="other"'
lines 3 '^cuda_kernel_gpu_seconds_total'
silent

it "--kernel-map names the time of kernels, too"
page "$bin/launches called _Z4fillIiEvPT_S0_i 503 called _Z4fillIfEvPT_S0_i 509 called scale 1013" --kernel-map 'fill<int>|scale=mine'
is 0.001516000 '^cuda_kernel_gpu_seconds_total.*kernel="mine"'
is 0.000509000 '^cuda_kernel_gpu_seconds_total.*kernel="other"'

it "a graph's time is that of its launches as a whole, with the copies in it"
page "$bin/graphs begin launch a 3 launch b 2 copy 2 100 end make replay 7 eager a 5"
is 0.000005000 '^cuda_kernel_gpu_seconds_total'
is 0.000042000 '^cuda_graph_gpu_seconds_total\{comm="graphs"\}'
is none '^cuda_copy_gpu_seconds_total'

it "copies by direction, synchronous or not, without memsets"
page "$bin/mem copyasync 503 4096 h2d copy 101 64 d2h copy 13 64 h2d memset 7 100"
is 0.000258000 '^cuda_copy_gpu_seconds_total\{comm="mem",direction="h2d"\}'
is 0.000050500 '^cuda_copy_gpu_seconds_total\{comm="mem",direction="d2h"\}'
lines 2 '^cuda_copy_gpu_seconds_total'
is none '^cuda_kernel_gpu_seconds_total'

it "programs that ended, some long before the page, stay in the sum; without --by each has its own"
page "$bin/mem launch 1009; $bin/mem launch 503 copy 11 64 h2d & $bin/mem launch 7; wait"
is 0.001009000 '^cuda_kernel_gpu_seconds_total.*kernel="mem_kernel"'
is 0.000510000 '^cuda_kernel_gpu_seconds_total.*kernel="other"'
is 0.000005500 '^cuda_copy_gpu_seconds_total'
run cudaexporter --once --kernels 2 --gpu-time -c "$bin/mem launch 1009; $bin/mem launch 1013"
is 0.001009000 '^cuda_kernel_gpu_seconds_total.* 0.001009000$'
is 0.001013000 '^cuda_kernel_gpu_seconds_total.* 0.001013000$'
is 0.002022000 '^cuda_kernel_gpu_seconds_total.*pid="[0-9]*",comm="mem",kernel="mem_kernel"'
silent

it "exec: each program has its own time"
page "$bin/mem launch 1009 && exec $bin/launches called a 1013"
is 0.001009000 '^cuda_kernel_gpu_seconds_total\{comm="mem",kernel="mem_kernel"'
is 0.001013000 '^cuda_kernel_gpu_seconds_total\{comm="launches",kernel="a"'

# textfile: pages of process $pid, each second; has SECONDS REGEX: in the last one
textfile() { tool cudaexporter --textfile "$tmp/page" --interval 1 --kernels 1 --gpu-time -p "$pid"; }
has() {
	got=$(grep -E -- "$2" "$tmp/page" | awk '{ n += $NF } END { printf "%.9f", n }')
	[ "$got" = "$1" ]
}
ready() { [ "$(grep -c ready "$tmp/ready")" -eq "$1" ]; }

it "a running process: pages count on, what ran before the exporter does not count; its last page has its end"
runs "$bin/mem" launch 13 wait launch 101 copy 3 64 h2d wait launch 1009 wait launch 503 copy 5 64 h2d
textfile
until_true grep -q '^cuda_process_info' "$tmp/page"
until_true eval '[ "$(state)" = 2 ]'
echo >&3
until_true ready 2
until_true has 0.000101000 '^cuda_kernel_gpu_seconds_total.*kernel="other"'
until_true has 0.000001500 '^cuda_copy_gpu_seconds_total'
echo >&3
until_true ready 3
until_true has 0.001009000 '^cuda_kernel_gpu_seconds_total.*kernel="mem_kernel"'
until_true has 0.000101000 '^cuda_kernel_gpu_seconds_total.*kernel="other"'
go
until_true has 0.001512000 '^cuda_kernel_gpu_seconds_total.*kernel="mem_kernel"'
until_true has 0.000004000 '^cuda_copy_gpu_seconds_total'
stop
silent

it "a process without the library has no such series, and a message says so once"
program "$bin/mem" launch 13 wait launch 1009 copy 3 64 h2d wait
textfile
echo >&3
until_true has 1009.000000000 '^cuda_kernel_launches_total'
until_true grep -q "pid $pid: no GPU time: libcudagputime.so is not loaded" "$tmp/err"
cp "$tmp/page" "$tmp/seen"
go
stop
is none 'gpu_seconds' "$tmp/seen"
equal "$(grep -c 'no GPU time' "$tmp/err")" 1

it "a program that begins later is measured from its first second on"
runs "$bin/mem" wait freenull 1 wait launch 1009 wait
textfile
echo >&3
until_true eval '[ "$(state)" = 2 ]'
echo >&3
until_true has 0.001009000 '^cuda_kernel_gpu_seconds_total'
go
stop

it "a process that is killed before it makes a call leaves no memory in the exporter"
runs "$bin/mem" launch 13 wait
textfile
until_true grep -q cuda-bpf-tools-gputime "/proc/$tracer/maps"
kill -9 "$pid"
wait "$pid" 2>/dev/null
exec 3>&-
let_go() { ! grep -q cuda-bpf-tools-gputime "/proc/$tracer/maps"; }
until_true let_go
stop

it "records that CUPTI drops, and those that cannot be right, are lost events"
SIM_CUPTI=drop=101 page "$bin/mem launch 1103"
is 0.001002000 '^cuda_kernel_gpu_seconds_total'
lines 1 '^cuda_exporter_lost_events_total\{reason="gpu_record_dropped"\} 101$'
says 'lost 101 records of GPU time'
SIM_CUPTI=hostile page "$bin/mem launch 5 launch 1"
got=$(sed -n 's/^cuda_exporter_lost_events_total{reason="gpu_record_unknown"} //p' "$tmp/out")
[ "${got:-0}" -gt 0 ] || no "no lost events: $got"

it "--sample measures for a part of the time"
page "$bin/mem loop 100 '(' launch 5 sleep 10 ')'" --sample 20ms/100ms
got=$(sed -n 's/^cuda_kernel_gpu_seconds_total.*} //p' "$tmp/out")
awk "BEGIN { exit !(${got:-0} > 0 && ${got:-0} < 0.0005) }" || no "$got"

it "without --gpu-time there is none of it"
run cudaexporter --once --kernels 2 -c "env CUDA_INJECTION64_PATH=$library $bin/mem launch 1009 copy 3 64 h2d"
is none 'gpu_seconds'
lines 0 'gpu_record'
silent

it "options that require others"
fails 2 '--gpu-time requires --kernels' cudaexporter --gpu-time
fails 2 '--sample requires --gpu-time' cudaexporter --kernels 1 --sample 1/2
fails 2 "--sample: '2/1' is not" cudaexporter --kernels 1 --gpu-time --sample 2/1
