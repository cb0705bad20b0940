# shellcheck shell=sh
# 23 allocations and 7 frees: primes, so that a correct count is not a coincidence.
light

it "a line for each call, allocations that fail too"
replayed cudamallocsnoop -c "$bin/mem malloc 23 4096 fail 3 free 7"
status 0
lines 23 '^[0-9]+ +mem +cudaMalloc +alloc device +4096 0x[0-9a-f]+ +[0-9.]+ ok$'
lines 3 '^[0-9]+ +mem +cudaMalloc +alloc device +1\.0 PiB - +[0-9.]+ cudaErrorMemoryAllocation$'
lines 7 '^[0-9]+ +mem +cudaFree +free +device +4096 0x[0-9a-f]+ +[0-9.]+ ok$'
lines 34 ''
silent

it "--account: when memory runs out, which libraries hold how much, with whatever else is printed"
run cudamallocsnoop --account -c "$bin/mem malloc 23 4096 host 5 1000 fail 3 free 7"
status 0
lines 1 '^\[[0-9:]+\] pid [0-9]+ \(mem\): cudaMalloc of 1\.0 PiB failed: 96\.9 KiB held$'	# of several in a second, one
lines 1 '^ +92\.0 KiB  device 0    mem, in 23 allocations$'
lines 1 '^ +4\.9 KiB  host        mem, in 5 allocations$'
lines 2 ': limit by default, part of the rest$'
lines 1 ' mem: 1 context, made by [a-z_]+, part of the rest$'
lines 45 ''
for o in '' -x -F '-m 1t' '-k --lines' '--attach session --tensors'; do
	how=replayed
	case $o in *tensors) how=run ;; esac
	# shellcheck disable=SC2086 # words
	$how cudamallocsnoop $o --account -jc "$bin/mem malloc 23 4096 host 5 1000 fail 3 free 7"
	json 1 '.type == "account" and .at == "failure" and .owner == "mem" and .bytes == 94208 and .count == 23 and .complete' \
		1 '.type == "account" and .at == "failure" and .device == null and .bytes == 5000 and .count == 5' \
		2 '.type == "account" and .part == "limit" and .default' \
		1 '.type == "account" and .part == "context" and .device == 0' \
		5 '.type == "account"'
done
replayed cudamallocsnoop --account -jc "$bin/mem drvlaunch 3 malloc 2 64 launch 3 limit 2 64m fail 1"
json 1 '.type == "account" and .part == "code" and .owner == "mem" and .bytes == null and .count == 2' \
	1 '.type == "account" and .part == "limit" and .bytes == 67108864' \
	3 '.type == "call"'
replayed cudamallocsnoop --account -xjc "$bin/mem malloc 23 4096 fail 3 free 7"
json 3 '.type == "call" and .error == "cudaErrorMemoryAllocation" and (has("stack") | not)' 7 true
replayed cudamallocsnoop -jc "$bin/mem malloc 23 4096 fail 3"
json 0 '.type == "account"'
silent
fails 2 '--folded prints no calls; it cannot be combined with --account' cudamallocsnoop --folded --account

it "shows every kind of memory with its size"
all='malloc 1 4096 managed 2 8192 pitch 3 100 10 malloc3d 1 100 10 10 array 2 64 64 array3d 3 8 8 8
mip 1 64 64 1 3 host 5 100 hostalloc 1 70 register 2 4096 async 11 1m pool 3 4096 vmm 2
ipc 7 64'
all=$(echo "$all" | tr '\n' ' ')
replayed cudamallocsnoop -jc "$bin/mem $all"
json 1 '.func == "cudaMalloc" and .memory == "device" and .size == 4096' \
	2 '.func == "cudaMallocManaged" and .memory == "managed" and .size == 8192' \
	3 '.func == "cudaMallocPitch" and .memory == "device" and .size >= 1000' \
	1 '.func == "cudaMalloc3D" and .memory == "device" and .size >= 10000' \
	2 '.func == "cudaMallocArray" and .memory == "array" and .size == 64 * 64 * 4' \
	3 '.func == "cudaMalloc3DArray" and .memory == "array" and .size == 8 * 8 * 8 * 4' \
	1 '.func == "cudaMallocMipmappedArray" and .memory == "array" and .size == (64 * 64 + 32 * 32 + 16 * 16) * 4' \
	5 '.func == "cudaMallocHost" and .memory == "host" and .size == 100' \
	1 '.func == "cudaHostAlloc" and .memory == "host" and .size == 70' \
	2 '.func == "cudaHostRegister" and .memory == "host" and .size == 4096' \
	11 '.func == "cudaMallocAsync" and .memory == "pool" and .size == 1048576' \
	3 '.func == "cudaMallocFromPoolAsync" and .memory == "pool" and .size == 4096' \
	2 '.func == "cuMemCreate" and .memory == "vmm" and .size == 2097152' \
	7 '.func == "cudaIpcOpenMemHandle" and .memory == "ipc" and .size == 64'
json 45 'true'	# with the one that the others open

# by_kind: how many calls and bytes there are of each kind of memory
by_kind() { jq -cs 'group_by(.memory) | map({ (.[0].memory): [length, (map(.size) | add)] }) | add' "$tmp/out"; }

it "the driver's own functions give the same kinds of memory and the same sizes"
runtime=$(by_kind)
replayed cudamallocsnoop --layer driver -jc "$bin/mem $all"
json 45 '.layer == "driver"'
equal "$(by_kind)" "$runtime"

it "layers of a mipmapped array are not halved, nor are the faces of a cubemap"
floats='2 32 0 0 0'	# cudaChannelFormatKindFloat
words=
for flags in 1 3 5; do	# layered, also for surfaces, layered cubemap
	words="$words format 3 $floats 64 64 16 $flags 7 drvformat 2 0x20 1 64 64 16 $flags 7"
done
replayed cudamallocsnoop -jc "$bin/mem $words format 5 $floats 64 64 6 4 7 drvformat 7 0x20 1 64 64 6 4 7"
json 9 '.func == "cudaMallocMipmappedArray" and .size == 349504' \
	6 '.func == "cuMipmappedArrayCreate" and .size == 349504' \
	5 '.func == "cudaMallocMipmappedArray" and .size == 131064' \
	7 '.func == "cuMipmappedArrayCreate" and .size == 131064'
replayed cudamallocsnoop -jc "$bin/mem format 3 $floats 64 0 13 1 7 format 2 $floats 64 64 16 2 7"
json 3 '.size == 13 * 127 * 4' \
	2 '.size == 4 * (16 * 4096 + 8 * 1024 + 4 * 256 + 2 * 64 + 16 + 4 + 1)'

# sizes WORD FORMAT:BITS...: an array of each has so many bits an element, on average
sizes() {
	word=$1 words='' want=''
	shift
	for f in "$@"; do
		words="$words $word 1 $(echo "${f%:*}" | tr , ' ') 20 12 0 0 0"
		want="$want$((240 * ${f#*:} / 8)) "
	done
	replayed cudamallocsnoop -jc "$bin/mem $words"
	equal "$(jq -j '"\(.size) "' "$tmp/out")" "$want"
}

it "arrays of all formats of the driver have their sizes"
sizes drvformat 0x01,3:24 0x02,2:32 0x03,1:32 0x08,4:32 0x09,1:16 0x0a,2:64 0x10,4:64 0x20,4:128 \
	0xb0,3:12 0xc0,1:8 0xc1,2:16 0xc2,4:32 0xc3,1:16 0xc4,2:32 0xc5,4:64 \
	0xc6,1:8 0xc7,2:16 0xc8,4:32 0xc9,1:16 0xca,2:32 0xcb,4:64 \
	0x91,4:4 0x92,4:4 0x93,4:8 0x94,4:8 0x95,4:8 0x96,4:8 0x97,1:4 0x98,1:4 \
	0x99,2:8 0x9a,2:8 0x9b,3:8 0x9c,3:8 0x9d,4:8 0x9e,4:8 \
	0x9f,3:24 0xa1,3:24 0xa2,3:16 0xa3,3:32 0xa4,3:32 0xa5,2:16 0xa6,2:32 0xa7,2:32 \
	0xa8,4:32 0xa9,4:32 0xb1,4:64 0xb2,3:24 0xb3,3:48 0xb4,3:24 0xb5,3:48 0x50,4:32

it "arrays of all formats of the runtime have their sizes"
sizes format 0,8,8,0,0:16 1,16,16,16,16:64 2,32,0,0,0:32 3,8,0,0,0:8 4,8,8,8,0:12 \
	5,8,0,0,0:8 6,8,8,0,0:16 7,8,8,8,8:32 8,16,0,0,0:16 9,16,16,0,0:32 10,16,16,16,16:64 \
	11,8,0,0,0:8 12,8,8,0,0:16 13,8,8,8,8:32 14,16,0,0,0:16 15,16,16,0,0:32 16,16,16,16,16:64 \
	17,8,8,8,8:4 18,8,8,8,8:4 19,8,8,8,8:8 20,8,8,8,8:8 21,8,8,8,8:8 22,8,8,8,8:8 23,8,0,0,0:4 \
	24,8,0,0,0:4 25,8,8,0,0:8 26,8,8,0,0:8 27,16,16,16,0:8 28,16,16,16,0:8 29,8,8,8,8:8 \
	30,8,8,8,8:8 31,10,10,10,2:32

it "each level of a compressed array has whole blocks"
replayed cudamallocsnoop -jc "$bin/mem format 3 17 8 8 8 8 16 16 0 0 5 drvformat 2 0x9d 4 18 6 0 0 5"
json 3 '.size == (16 + 4 + 1 + 1 + 1) * 8' 2 '.size == (5 * 2 + 3 + 1 + 1 + 1) * 16'

it "shows the memory that every kind of free has freed"
replayed cudamallocsnoop -jFc "$bin/mem ${all%ipc*}freeall arrayfree 5 mipfree 1 hostfree 6 unregister 2 asyncfree 11 poolfree 3 vmmfree 2"
json 37 '.op == "free" and .ret == 0 and .size > 0' \
	2 '.func == "cudaFree" and .memory == "managed"' \
	5 '.func == "cudaFreeArray" and .memory == "array"' \
	1 '.func == "cudaFreeMipmappedArray"' \
	6 '.func == "cudaFreeHost" and .memory == "host"' \
	2 '.func == "cudaHostUnregister"' \
	14 '.func == "cudaFreeAsync" and .memory == "pool"' \
	2 '.func == "cuMemRelease" and .memory == "vmm"'

it "-x shows the failed calls, with the error's name"
replayed cudamallocsnoop -xjc "$bin/mem malloc 23 4096 fail 5 badfree 3 freenull 2 free 7"
json 5 '.op == "alloc" and .ret == 2 and .error == "cudaErrorMemoryAllocation" and .ptr == null' \
	3 '.op == "free" and .ret == 1 and .error == "cudaErrorInvalidValue"' \
	8 true

it "names the driver's errors by the driver's names"
replayed cudamallocsnoop -x -c "env SIM_FAIL=cuMemAlloc_v2:3=999,cuMemAlloc_v2:5=12345 $bin/mem-stripped malloc 7 64"
lines 1 'CUDA_ERROR_UNKNOWN$'
lines 1 ' 12345$'

it "-m omits smaller allocations, and their frees"
replayed cudamallocsnoop -m 8k -jc "$bin/mem malloc 23 4096 malloc 3 8192 malloc 5 1m free 11"
json 8 '.op == "alloc" and .size >= 8192' 8 '.op == "free" and .size >= 8192' 16 true

it "-A shows allocations only, -F frees only"
replayed cudamallocsnoop -A -c "$bin/mem malloc 23 64 free 7"
lines 23 ' alloc '
lines 24 ''
replayed cudamallocsnoop -F -c "$bin/mem malloc 23 64 free 7"
lines 7 ' free '
lines 8 ''

it "-T adds the time of day"
replayed cudamallocsnoop -T -c "$bin/mem malloc 3 64"
lines 3 '^[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3} +[0-9]+ +mem '

it "times are correct: those of the wall clock, and a latency of 20 ms"
now=$(date +%s)
replayed cudamallocsnoop -jc "env SIM_LATENCY_US=cuMemAlloc_v2=20000 $bin/mem malloc 3 64"
json 3 '.latency_ns >= 20000000'
equal "$(jq -s 'map(.latency_ns) | min < 30000000' "$tmp/out")" true
json 3 ".time >= $now and .time < $now + 90"

it "-k names the program's own functions, ten frames deep, demangled, with file"
replayed cudamallocsnoop -kjc "$bin/deep 3 4096"
json 3 '[.stack[].sym] | .[0] == "int app::grow<int>(unsigned long)" and .[1:11] == ["leak_10","leak_9","leak_8","leak_7","leak_6","leak_5","leak_4","leak_3","leak_2","leak_1"]' \
	3 '.stack[0].file | endswith("/deep")' \
	3 '.stack[11].sym == "main"'

it "-k gives the caller at the driver's cheap probe points too"
replayed cudamallocsnoop -k --layer driver -c "$bin/deep-stripped 1 64"
lines 1 'cuMemAlloc_v2'
lines 0 'leak_1'
replayed cudamallocsnoop -k --layer driver -jc "$bin/deep 3 64"
json 3 '[.stack[].sym] | index("leak_1") > 9'

it "-k gives the stack of a call that failed"
replayed cudamallocsnoop -kxjc "env SIM_FAIL=cuMemAlloc_v2:*=2 $bin/deep 3 64"
json 3 '.error == "cudaErrorMemoryAllocation" and .stack[10].sym == "leak_1"'

it "a reset shows the memory that it freed"
replayed cudamallocsnoop -jc "$bin/mem malloc 23 1000 reset"
json 1 '.func == "cudaDeviceReset" and .op == "free" and .size == 23000'

it "a call in flight when its process is killed is no call"
replayed cudamallocsnoop -jc "env SIM_LATENCY_US=cudaHostAlloc=60000000 sh -c '$bin/mem malloc 23 64 thread \( hostalloc 1 64 \) sleep 100 segv'"
json 23 'true'

it "a long name shifts as few of the following columns as possible"
replayed cudamallocsnoop -c "$bin/mem pool 5 64 malloc 3 64 poolfree 2"
lines 5 'cudaMallocFromPoolAsync '
equal "$(awk 'NR == 1 { at = index($0, "RESULT"); next } index($0, " ok") + 1 != at' "$tmp/out")" ""
equal "$(awk 'NR == 1 { at = index($0, "POINTER"); next } index($0, "0x") != at' "$tmp/out")" ""
equal "$(wc -l <"$tmp/out")" 11

it "a size wider than its column is scaled, and shifts no column"
replayed cudamallocsnoop -c "$bin/mem malloc 3 1125899906842624 malloc 2 999999999999"
lines 3 'alloc device       1\.0 PiB -  '
lines 2 'alloc device  999999999999 -  '
replayed cudamallocsnoop -jc "$bin/mem malloc 3 1125899906842624"
json 3 '.size == 1125899906842624'
