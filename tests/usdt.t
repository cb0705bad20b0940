# shellcheck shell=sh disable=SC2154 # pid, tracer: the words'
# What an allocator above CUDA gives and takes, by its USDT probes: tests/workloads/usdt.c has PyTorch's.

# what PROGRAM...: "FUNCTION BYTES DEVICE STREAM" of what its allocator did
what() { jq -r 'select(.layer == "usdt") | "\(.func) \(.size) \(.device) \(.stream)"' "$tmp/out"; }

for kind in $kinds; do
	it "--attach $kind: allocations and frees, with arguments in registers, in memory and constant, of each size"
	run cudamallocsnoop --attach "$kind" --tensors -jc "$bin/usdt malloc 3 1013 free 2"
	status 0
	equal "$(what | tr '\n' ',')" \
		'pytorch:malloc 1013 null 0x7,pytorch:malloc 1013 0 default,pytorch:malloc 1013 1 default,pytorch:free 1013 null null,pytorch:free 1013 0 null,'
	json 5 '.memory == "tensor" and .latency_ns == null and .error == null and .ret == 0 and .layer == "usdt"'
	equal "$(jq -r 'select(.op == "alloc").ptr' "$tmp/out" | sort -u | wc -l)" 3
	equal "$(jq -r 'select(.func == "pytorch:free").ptr' "$tmp/out" | tr '\n' ,)" "$(jq -r 'select(.op == "alloc").ptr' "$tmp/out" | head -n 2 | tr '\n' ,)"
	silent

	it "--attach $kind: the semaphore says that somebody looks, and then that nobody does"
	program "$bin/usdt" wait semaphore malloc 7 100 wait semaphore malloc 5 100
	tool cudamallocsnoop --attach "$kind" --tensors -jp "$pid"
	echo >&3
	until_true sh -c "[ \$(grep -c ready '$tmp/ready') = 2 ]"
	stop
	json 7 '.func == "pytorch:malloc"'
	go
	# one for each place
	equal "$(grep semaphore "$tmp/ready" | tr '\n' ,)" 'semaphore 3,semaphore 0,'
done

it "without --tensors nothing is placed, and the program's probes stay asleep"
run cudamallocsnoop -jc "$bin/usdt malloc 7 100 segment 4096; $bin/usdt semaphore >&2"
json 0 '.layer == "usdt"'
json 1 '.func == "cudaMalloc"'
says 'semaphore 0'

it "cudaleak --tensors: what is not freed, by call stack, and how much of the device's memory that is"
run cudaleak --tensors -jc "$bin/usdt segment 100000 malloc 23 1000 free 7"
status 0
json 1 '.type == "segments" and .segment_bytes == 100000 and .tensor_bytes == 16000 and .at == "exit"'
sum 16000 'select(.type == "held").bytes'
json 3 '.type == "held" and .memory == "tensor" and .stack[1].sym == "allocate" and .stack[2].sym == "main"'
json 1 '.type == "held" and .device == 1 and .count == 5 and .stack[0].sym == "by_index"'
silent

it "... as text"
run cudaleak --tensors -c "$bin/usdt segment 1048576 malloc 23 1024 free 7"
lines 1 '16 allocations not freed, 16\.0 KiB$'
lines 1 '^    tensors have 16\.0 KiB of 1\.0 MiB of device memory: 98\.4 % is free or in fragments$'
lines 0 'device memory, oldest'

it "cudaleak without --tensors shows the device's memory alone"
run cudaleak -jCc "$bin/usdt segment 1048576 malloc 23 1024"
json 1 true
json 1 '.memory == "device" and .bytes == 1048576'

it "the memory of tensors is not added to that which they are parts of"
run cudaleak --growth --tensors -c "$bin/usdt segment 1048576 malloc 4 1024"
lines 1 ' 4\.0 KiB held, .*peak 4\.0 KiB'

it "--min-size, --sample and --each hold for tensors, too"
run cudaleak --tensors -ajz 1001 -c "$bin/usdt malloc 7 1000 malloc 5 1001"
json 5 '.memory == "tensor" and .bytes == 1001 and .func == "pytorch:malloc" and (.stack | length > 0)'

it "a program without such probes: the tool says that it sees no tensors"
for t in cudaleak cudamallocsnoop; do
	run $t --tensors -c "$bin/mem malloc 3 4096"
	says "$t: no traced file has the probes pytorch:malloc and pytorch:free: what they tell, such as tensors, is not seen"
done

it "--list shows where they are"
run cudamallocsnoop --tensors --list -c "$bin/usdt"
lines 3 'pytorch:malloc'
lines 1 'pytorch:free'
