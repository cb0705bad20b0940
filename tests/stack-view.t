# shellcheck shell=sh
# Call stacks as they are shown: Python frames among native ones, notes, options, and folded.
light

# merges WANT FRAME...: the frames of a stack are shown in this order; see tests/unit/stacks.c
merges() {
	want=$1
	shift
	equal "$("$bin/stacks" merge "$@")" "$want"
}

it "each run of Python frames takes the place of the interpreter's function that ran it"
merges 'ext:f b a! ffi:call main! libc:start' \
	ext:f py:vectorcall 'py:*eval' py:call ffi:call 'py:*eval' py:main libc:start b a! main!
merges 'a! b! c!' 'py:*eval' 'py:*eval' 'py:*eval' a! b! c!

it "the interpreter's own functions are left out, also those of its library, and no others"
merges 'torch:add f! torch:hook main! python:_start' \
	torch:add libpy:method 'libpy:*eval' torch:hook 'libpy:*eval' libpy:Py_Main python:_start f! main!
merges '?:jit f! ?:stub' '?:jit' 'py:*eval' '?:stub' f!

it "two interpreters of two files: each one's own functions are left out"
merges 'f! g! c:start' one:call 'one:*eval' two:run 'two:*eval' c:start f! g!

it "without Python frames, all native ones are shown"
merges 'ext:f py:call py:*eval py:main c:start' ext:f py:call 'py:*eval' py:main c:start
merges 'ext:f py:*eval [python lost]' ext:f 'py:*eval' '[python lost]'
merges 'a! b! [python lost]' a! b! '[python lost]'

it "Python frames that are left follow after the native ones"
merges 'ext:f a! c:start b! c!' ext:f 'py:*eval' c:start a! b! c!
merges 'ext:f c:start a b!' ext:f c:start a b!

it "functions of the interpreter without Python frames remain"
merges 'ext:f a! py:*eval c:start' ext:f 'py:*eval' py:call 'py:*eval' c:start a!

it "where the native stack is truncated, the other Python frames follow after the note"
merges 'ext:f a! [truncated] b main!' ext:f 'py:*eval' '[truncated]' a! b main!
merges 'ext:f [truncated] a!' ext:f '[truncated]' a!

it "where the Python frames end early, the note is where they end"
merges 'ext:f a b [lost] py:*eval c:start' ext:f 'py:*eval' py:call 'py:*eval' c:start a b '[lost]'
merges 'ext:f a! [lost] py:*eval c:start' ext:f 'py:*eval' py:call 'py:*eval' c:start a! '[lost]'
merges 'ext:f a! [truncated] b [lost]' ext:f 'py:*eval' '[truncated]' a! b '[lost]'

it "a frame of each kind, as text"
run "$bin/stacks" view
status 0
lines 1 '^        \[no symbol\] \+0x1f \(/lib/a;b\\x1b\.so\)$'
lines 1 '^        \[unknown\] 0x7f0000001234$'
lines 1 '^        train;er\.py:41 Trainer\.step$'
lines 1 '^         \\x1b\[1m;$'
lines 1 '^        \[unknown\]:7 \[unknown\]$'
lines 1 '^        \[truncated: stack larger than 32 KiB\]$'
lines 1 '^        \[truncated: more than 127 frames\]$'
lines 1 '^        \[no unwind information: /lib/a;b\\x1b\.so\]$'
lines 1 '^        \[no unwind information at 0x1234\]$'
lines 1 '^        \[bad unwind information: /lib/a;b\\x1b\.so\]$'
lines 1 '^        \[stack unreadable at 0x5678\]$'
lines 1 '^        \[stack lost: no room in the ring buffer\]$'
lines 1 '^        \[Python frames lost: .*\]$'
lines 1 '^        \[unknown frame 0x7f00000000000000\]$'
lines 14 '^        '

it "as JSON"
grep '^\[{' "$tmp/out" | jq -c '.[]' >"$tmp/frames"
"$bin/stacks" view | tail -n 2 >"$tmp/folded"
mv "$tmp/frames" "$tmp/out"
json 14 'keys == ["file", "kind", "line", "off", "sym"]' \
	1 '.kind == "native" and .sym == null and .off == "0x1f" and .file == "/lib/a;b\u001b.so" and .line == null' \
	1 '.kind == "native" and .sym == null and .off == "0x7f0000001234" and .file == null' \
	1 '.kind == "python" and .sym == "Trainer.step" and .off == null and .file == "train;er.py" and .line == 41' \
	1 '.kind == "python" and .sym == null and .file == null and .line == 7' \
	1 '.kind == "note" and .sym == "truncated: stack larger than 32 KiB" and .off == null and .file == null' \
	1 '.kind == "note" and .sym == "no unwind information" and .off == "0x1234" and .file == null' \
	1 '.kind == "note" and .sym == "no unwind information" and .file == "/lib/a;b\u001b.so"' \
	1 '.kind == "note" and .sym == "stack unreadable" and .off == "0x5678"' \
	9 '.kind == "note" and .line == null'

it "folded, outermost first, and no name breaks the line"
mv "$tmp/folded" "$tmp/out"
lines 1 '^\[unknown frame 0x[0-9a-f]+\];\[Python frames lost: '
lines 1 ';\[no unwind information\];\[no unwind information: /lib/a:b\\x1b.so\];'
lines 1 ';\[truncated: stack larger than 32 KiB\];\[unknown\];\\x1b\[1m: \(\);Trainer\.step \(train:er\.py\);\[unknown\];\[unknown\]$'
equal "$(tr -cd ';' <"$tmp/out" | wc -c)" 13
lines 1 '^\[no stack: its call was not seen\]$'

it "incomplete stacks are counted, and why"
run "$bin/stacks" losses
status 0
lines 1 ''
equal "$(sed -n 1p "$tmp/err")" 'stacks: 10 call stacks are incomplete: 5 truncated (see --stack-size), 7 without unwind information'
equal "$(sed -n 2p "$tmp/err")" "stacks: 10 call stacks are incomplete: 3 without all Python frames (a Python frame cannot be read), \
2 without all Python frames (unsupported version), 5 without Go frames (the callers of C that called Go)"
json 1 '. == { python_unsupported: 2, python_unreadable: 3, go_called_back: 5 }'

it "a stack that was not taken says why in its place, and counts only if it is lost"
replayed cudamallocsnoop --stack python --folded -c "$bin/mem malloc 23 4096"
lines 1 '^mem;\[no stack: the thread runs no Python\];cudaMalloc 23$'
lines 1 ''
silent
replayed cudatrace --stack python -e cudaMalloc --summary -c "$bin/mem malloc 7 4096"
lines 1 '^        \[no stack: the thread runs no Python\]$'
replayed cudatrace -k --enter -e cudaMalloc -c "$bin/mem malloc 5 4096"
lines 5 '^        \[no stack: it is taken at the return\]$'
lines 5 '^        do_malloc'
silent

it "stacks that look the same are one group, with one peak"
run "$bin/stacks" groups
equal "$(tr '\n' ' ' <"$tmp/out")" '16 16 7 7 '

it "stacks whose memory is freed make room for others, and only they"
run "$bin/stacks" idle
equal "$(head -n 1 "$tmp/out")" 'held 0, ignored some: 0, peak 1'
equal "$(tail -n 1 "$tmp/out")" 'held 0, ignored some: 1, peak more'

it "--stack-size is of 4 to 64 KiB"
for size in 0 4095 65537 1m; do
	fails 2 'are not 4k to 64k' cudamallocsnoop --stack-size $size
done

it "--stack, --unwind and --stack-size each give call stacks without -k"
for option in '--stack native' '--unwind fp' '--stack-size 5000'; do
	# shellcheck disable=SC2086 # words
	replayed cudamallocsnoop $option -jc "$bin/mem malloc 3 4096"
	status 0
	json 3 '.stack[0].sym == "do_malloc" and .stack[0].kind == "native"'
done

it "cudamallocsnoop --folded: calls by stack and function, at the end"
run cudamallocsnoop --attach session --folded --unwind fp -c "$bin/mem rename 'a;b' malloc 23 4096 free 7"
status 0
lines 1 '^a:b;.*;main;run;do_malloc;cudaMalloc 23$'
lines 1 '^a:b;.*;main;run;do_free;cudaFree 7$'
lines 2 ''
silent

it "cudatrace --folded: nanoseconds by stack and function, with -o in the file"
replayed SIM_LATENCY_US=cudaDeviceSynchronize:2=20000 cudatrace --folded --unwind fp -o "$tmp/o" \
	-c "$bin/mem malloc 3 4096 sync 2"
status 0
lines 0 ''
mv "$tmp/o" "$tmp/out"
lines 1 '^mem;.*;main;run;do_sync;cudaDeviceSynchronize [2-9][0-9]{7}$'
lines 1 '^mem;.*;main;run;do_malloc;cudaMalloc [0-9]+$'
lines 2 ''

it "cudasynclatency --folded: nanoseconds waited"
replayed SIM_LATENCY_US=cudaDeviceSynchronize:2=20000 cudasynclatency --folded --unwind fp -c "$bin/mem sync 2"
lines 1 '^mem;.*;main;run;do_sync;cudaDeviceSynchronize [2-9][0-9]{7}$'
lines 1 ''

it "cudamemcpysize --folded: bytes by stack and direction"
replayed cudamemcpysize --folded --unwind fp -c "$bin/mem copy 11 4096 h2d copy 3 100 d2h copyasync 5 8 h2d"
lines 1 '^mem;.*;main;run;do_copy;\[HtoD\] 45056$'
lines 1 '^mem;.*;main;run;do_copy;\[DtoH\] 300$'
lines 1 '^mem;.*;main;run;do_copyasync;\[HtoD async\] 40$'
lines 3 ''

it "cudalaunchtop --folded: launches by stack and kernel, all of them"
replayed cudalaunchtop --folded --unwind fp -r 1 -c "$bin/mem launch 23 graph 3"
lines 1 '^mem;.*;main;run;do_launch;launch;mem_kernel 23$'
lines 1 '^mem;.*;main;run;do_graph;mem_kernel 9$'
lines 0 '^PID'

it "cudaleak --folded: bytes by stack and kind of memory; it has every stack, whatever -T says, and no name breaks its lines"
run cudaleak --attach session --folded --unwind fp -T 1 -c "$bin/mem rename 'a;b' malloc 3 100 host 23 4096 managed 5 64"
lines 3 '^a:b;.*;main;run;do_[a-z]+;\[[a-z]+\] [0-9]+$'
lines 3 ''

it "with an interval, --folded prints what is new in each, which adds up"
program "$bin/mem" launch 7 wait launch 4
tool cudalaunchtop --folded --unwind fp -p "$pid" 1
go
wait "$tracer"
equal "$(awk '/;launch;mem_kernel [0-9]+$/ { n += $NF } END { print n }' "$tmp/out")" 4
