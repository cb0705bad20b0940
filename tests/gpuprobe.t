# shellcheck shell=sh disable=SC2154,SC2086 # rc: the words'; words
# libcudagpuprobe.so, in programs on the simulated CUDA, whose kernels the interpreter runs; tests/unit/gpuprobe_receive.c
# is the tool.
probe=$O/memtime_hist.ptx
vadd=tests/ptx/nvcc-vadd.ptx
gpuprobed=$bin/gpuprobed
SIM_KERNELS=1
export SIM_KERNELS

# gpuprobe [OPTION...] -- COMMAND...: with the library; what it tells in $tmp/out, what the command prints in $tmp/said
gpuprobe() {
	options=
	while [ "$1" != -- ]; do options="$options $1"; shift; done
	shift
	timeout 120 "$bin/gpuprobe-receive" $options "$probe" "$tmp/out" "$@" >"$tmp/said" 2>"$tmp/err"
	rc=$?
}

# same STATUS COMMAND...: with the library it prints what it prints without, and ends so; $limit: records of a group
limit=0
same() {
	want=$1
	shift
	timeout 120 "$@" >"$tmp/plain" 2>&1
	equal $? "$want"
	grep -vxE 'Terminated|Killed|Aborted' "$tmp/plain" >"$tmp/want"	# the shell says so of a child
	gpuprobe -p 20 -l $limit -- "$@"
	status "$want"
	cat "$tmp/err" >>"$tmp/said"
	cmp -s "$tmp/want" "$tmp/said" || no "it prints $(head -c 200 "$tmp/said")"
}

# counts N SITE: of all modules, as last read
counts() {
	got=$(awk -v site="$2" '/^slots/ && $4 == site { n[$2] = $6 } END { for (m in n) all += n[m]; print all + 0 }' "$tmp/out")
	[ "$got" = "$1" ] || no "$got at site $2, not $1"
}

it "the library exports what it wraps, and needs the C library alone"
nm -D --defined-only "$O/libcudagpuprobe.so" | awk '{ print $3 }' | grep -vE '^(cu|nvrtc)[A-Z]' | sort >"$tmp/out"
equal "$(paste -sd' ' "$tmp/out")" '_Exit _exit dlsym dlvsym'
equal "$(readelf -dW "$O/libcudagpuprobe.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | paste -sd' ')" \
	'libc.so.6 ld-linux-x86-64.so.2'
nm -D --undefined-only "$O/libcudagpuprobe.so" | grep -vE '@GLIBC_| w ' >"$tmp/out"
lines 0 .

it "a program without CUDA is what it was, and the tool hears nothing"
same 0 sh -c 'echo plain; echo words >&2'
lines 0 .
same 3 sh -c 'exit 3'
same 143 sh -c 'kill -TERM $$'

it "each access of a program's kernels is counted, and where it is"
gpuprobe -- "$gpuprobed" end $vadd return
status 0
lines 1 '^image done sm_75 kernels 1 sites 3 '
lines 1 "^site S	1	.*_Z4vaddPKfS0_Pfi	load	global	ld.global.f32	4\$"
counts 96 1	# 997 elements are 32 warps, 3 times
counts 96 2
lines 1 '^bye$'

for how in exit _exit _Exit quick_exit; do
	it "a program that ends by $how has its status, and all is read before"
	same 19 "$gpuprobed" end $vadd $how
	counts 96 1
	lines 1 '^bye$'
done

it "of a program that is killed, or aborts, there is what was sent before"
same 137 "$gpuprobed" end $vadd kill
counts 96 1
lines 0 '^bye$'
lines 1 '^end$'
same 134 "$gpuprobed" end $vadd abort
lines 0 '^bye$'

it "what is unloaded is read before"
same 0 "$gpuprobed" many $vadd 7
lines 7 '^module'
counts 224 1

it "each context has its own counts, and one that is destroyed is read before"
same 0 "$gpuprobed" contexts $vadd
lines 1 '^module .* device 1 context '
lines 1 '^module .* device 0 context '
counts 96 1

it "threads load, launch and unload at once"
same 0 "$gpuprobed" threads $vadd 5
lines 20 '^module'
counts 640 1

it "a stream that is captured meanwhile is not disturbed"
gpuprobe -p 10 -- "$gpuprobed" capture $vadd 300
status 0
equal "$(cat "$tmp/said")" "$("$gpuprobed" capture $vadd 0)"
counts 64 1

it "children of fork have nothing to do with it"
same 0 "$gpuprobed" fork $vadd
lines 1 '^hello'
lines 1 '^bye'
counts 64 1

it "descriptors, errno and signals are as without"
same 0 "$gpuprobed" quiet $vadd
lines 1 '^bye'

it "what a child of vfork does is not the parent's, and descriptors 0 to 2 stay closed"
for part in vfork closed; do
	same 0 "$bin/gpuprobed_edges" $part $vadd
	lines 1 '^bye'
done

it "large thread-local variables, and threads that are cancelled, do no harm"
for part in variables cancel; do
	same 0 "$bin/gpuprobed_edges" $part $vadd
	lines 1 '^bye'
done

it "the driver has all the room for its log that the program gave it, however often an image is loaded"
same 0 "$bin/gpuprobed_edges" log $vadd
lines 1 '^image done'
lines 1 '^bye'

it "a sanitizer in the program may call dlsym before anything else"
for sanitizer in address thread; do
	for cc in gcc clang; do
		static=
		[ $cc-$sanitizer != gcc-address ] || static=-static-libasan
		"$cc" -fsanitize=$sanitizer $static -o "$tmp/$cc-$sanitizer" tests/workloads/plain_heap.c 2>"$tmp/cc" ||
			{ skip "$cc: no -fsanitize=$sanitizer"; continue; }
		same 3 "$tmp/$cc-$sanitizer"
	done
done

it "dlsym, dlvsym and cuGetProcAddress find what they found, or its wrapper"
same 0 "$gpuprobed" names $vadd

it "the driver's interfaces give the same results: files, images, libraries, linking, graphs"
for part in launch modules images info memory graph time; do
	same 0 "$bin/drvkern" tests/ptx $part
	lines 1 '^bye$'
	grep -q '^image done' "$tmp/out" || no "$part: nothing was rewritten"
done

it "faults of a kernel are the program's, and what could not be read is said"
same 0 "$bin/drvkern" tests/ptx faults
grep -q '^lost 0 count 1 device 0: CUDA_ERROR_ILLEGAL_ADDRESS, a kernel faulted: ' "$tmp/out" || no "no illegal address"
grep -q '^lost 0 count 1 device 0: CUDA_ERROR_MISALIGNED_ADDRESS, a kernel faulted: ' "$tmp/out" || no "no misaligned address"

it "when the tool is gone, slow or not there, the program goes on"
gpuprobe -c 2 -p 10 -- "$gpuprobed" slow $vadd 200
status 0
lines 0 '^bye'
gpuprobe -w 100 -- "$gpuprobed" end $vadd exit
status 19
run env LD_PRELOAD="$O/libcudagpuprobe.so" CUDA_BPF_TOOLS_GPUPROBE=nobody-listens "$gpuprobed" end $vadd exit
status 19
run env LD_PRELOAD="$O/libcudagpuprobe.so" "$gpuprobed" end $vadd exit
status 19

it "a tool that sends its request byte by byte holds the program up for a second"
python=$(PATH=/usr/bin:/bin command -v python3)
"$python" - gpuprobe-slow-$$ >"$tmp/slow" <<-'END2' & slow=$!
	import socket, struct, sys, time
	s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
	s.bind("\0" + sys.argv[1])
	s.listen(8)
	print("ready", flush=True)
	c, _ = s.accept()
	c.send(struct.pack("II", 1, 4096))
	try:
	    for i in range(100):
	        c.send(b"\0")
	        time.sleep(.3)
	except OSError:
	    pass
END2
until_true grep -q ready "$tmp/slow"
began=$(date +%s)
run env LD_PRELOAD="$O/libcudagpuprobe.so" CUDA_BPF_TOOLS_GPUPROBE=gpuprobe-slow-$$ \
	"$gpuprobed" end $vadd exit
status 19
took=$(($(date +%s) - began))
[ $took -le 5 ] || no "it took $took s"
kill $slow 2>/dev/null
wait $slow

it "only a tool of the same user, or root's, is believed"
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$tmp"; mkdir -m 777 "$tmp/other"
	# of another user, of root, and of another user where users are not mapped
	for user in 65534 0 1001; do
		namespace=
		[ $user -ne 1001 ] || namespace="setpriv --reuid 1000 --clear-groups unshare -U"
		[ -z "$namespace" ] || $namespace true 2>/dev/null || continue
		rm -f "$tmp/other"/*
		# shellcheck disable=SC2016 # for the shell that runs it
		setpriv --reuid $user --clear-groups "$bin/gpuprobe-receive" "$probe" "$tmp/other/out" sh -c \
			'echo $CUDA_BPF_TOOLS_GPUPROBE >"$1/new"; mv "$1/new" "$1/name"
			while [ ! -e "$1/done" ]; do sleep 0.05; done' sh "$tmp/other" &
		listener=$!
		for _ in $(seq 200); do [ ! -e "$tmp/other/name" ] || break; sleep 0.05; done
		run $namespace env LD_PRELOAD="$O/libcudagpuprobe.so" \
			CUDA_BPF_TOOLS_GPUPROBE="$(cat "$tmp/other/name")" "$gpuprobed" end $vadd exit
		status 19
		: >"$tmp/other/done"
		wait $listener
		cp "$tmp/other/out" "$tmp/out"
		lines $((user == 0)) '^hello'
	done
else
	skip 'only root can become another user'
fi

it "kernels are selected by their names as linked and as written"
for glob in _Z4vadd\* vadd 'vadd(float const\*,*'; do
	timeout 60 "$bin/gpuprobe-receive" -K "$glob" "$probe" "$tmp/out" "$gpuprobed" end $vadd return >"$tmp/said"
	lines 1 '^image done sm_75 kernels 1'
done
gpuprobe -K nothing -K 'x*' -- "$gpuprobed" end $vadd return
lines 1 '^image no-sites'
lines 0 '^module'

it "a tool of another version, or whose sizes do not fit together, is left alone, and the program runs as without"
for option in '-v 1009' '-b 3'; do
	gpuprobe $option -- "$gpuprobed" end $vadd return
	equal $rc 0
	lines 0 '^(image|module)'
done

it "a program that links files again and again takes no more memory"
same 0 "$gpuprobed" link $vadd

it "machine code ends with its last section that is in the file, and is none where one is not"
run "$bin/cubin"
status 0
cat >"$tmp/want" <<'END2'
to the end of the last section: 1009
all of it: 1009
one byte less: 0
the tables alone: 320
a section without end: 0
one that wraps around: 0
a table at the end: 2368
one behind it: 0
32 bits: 0
no ELF: 0
half a head: 0
END2
cmp -s "$tmp/want" "$tmp/out" || no "$(diff "$tmp/want" "$tmp/out")"

it "records are read whole, and what was overwritten is counted"
probe=$O/memtime_trace.ptx
gpuprobe -r -g 1 -l 4096 -p 10 -- "$gpuprobed" many $vadd 3
awk '/^record / && $6 < 2147483647 && $8 { n++ } END { print n + 0 }' "$tmp/out" >"$tmp/n"
equal "$(cat "$tmp/n")" $((3 * 32 * 2))
lines 0 ' lost [1-9]'
gpuprobe -r -g 1 -l 16 -- "$gpuprobed" end $vadd return
all=$(awk '/^records/ { n += $4; lost = $6 } END { print n + lost }' "$tmp/out")
gpuprobe -r -g 1 -l 4096 -- "$gpuprobed" end $vadd return
equal "$(awk '/^records/ { n += $4; lost = $6 } END { print n + lost }' "$tmp/out")" "$all"
probe=$O/memtime_hist.ptx

it "the driver says of a kernel what it says without, and gives it as much shared memory by default"
limit=256
for part in kerneltime memtime_stage; do
	probe=$O/$part.ptx
	same 0 "$gpuprobed" attributes $vadd
	lines 2 "^image done .* fewer 1 "	# it differs, as the driver knows it
	lines 2 '^warning a kernel may have [0-9]+ bytes of dynamic shared memory, not the 232448 that were asked for: '
done
probe=$O/memtime_hist.ptx limit=0
same 0 "$gpuprobed" attributes $vadd
lines 0 '^warning'

it "--keep-registers leaves as many warps as before, and without it a block of 1,024 threads fits if it did"
run "$bin/registers"
status 0
lines 1 '^0 0 0$'
lines 1 '^256 0 0$'
lines 1 '^unknown 0$'
# an SM has four parts of 16,384 registers, which warps get by 256
awk 'function warps(r,  w) { w = 4 * int(64 / int((r * 32 + 255) / 256)); return w > 64 ? 64 : w }
	function most(r, l, w) { return l >= r && warps(l) >= w && (l == 255 || warps(l + 1) < w) }
	$1 > 0 && $1 < 256 { n += most($1, $2, warps($1)) && most($1, $3, warps($1) < 32 ? warps($1) : 32) }
	END { print n }' "$tmp/out" >"$tmp/n"
equal "$(cat "$tmp/n")" 255

it "kernels get the registers that are left, as the driver says"
for want in 16 24 32 40; do	# what the original is limited to
	sed "/^.visible .entry/,/^{/s/^{/.maxnreg $want\n{/" tests/ptx/nvcc-reduce.ptx >"$tmp/limited.ptx"
	gpuprobe -f 1 -- "$bin/gpuprobed" load "$tmp/limited.ptx"
	lines 1 '^image done .* kernels 2 .* fewer 0 '
	gpuprobe -- "$bin/gpuprobed" load "$tmp/limited.ptx"
	lines 1 '^image done .* kernels 2 .* fewer 2 '
done

it "launches are told with their kernels, if asked for"
gpuprobe -f 2 -- "$gpuprobed" end $vadd return
lines 3 '^launch context 1 frames 1 _Z4vaddPKfS0_Pfi$'
gpuprobe -- "$gpuprobed" end $vadd return
lines 0 '^launch'

# what images are; the simulated driver takes any if it runs no kernels
image() { SIM_KERNELS='' gpuprobe "$@" -- "$gpuprobed" load "$file"; }

it "containers are rewritten, whatever compresses them"
for mode in none size speed default archs specific; do
	file=tests/data/fatbin/$mode.fatbin
	image
	lines 1 '^image done sm_[79][50] kernels 1 sites 2 '
done

it "what cannot be rewritten is told, and why"
file=tests/data/fatbin/sass.fatbin
image
lines 1 '^image no-ptx sm_75 kernels 1 '
lines 1 '^why scale$'
sed 's/sm_75/sm_120/' $vadd >"$tmp/newer"
file=$tmp/newer image
lines 1 '^image newer sm_120 '
sed 's/^.version .*/.version 6.1/' $vadd >"$tmp/old"
file=$tmp/old image
lines 1 '^image old '
file=$vadd image -m 1
lines 1 '^image too-many sm_75 kernels 1 sites 3 '
sed '/^.visible/i .extern .func outside();' $vadd >"$tmp/linked"
file=$tmp/linked image
lines 1 '^image linked '
echo 'no PTX' >"$tmp/none"
file=$tmp/none image
lines 1 '^image bad '

it "what has probes already is read, and not changed"
run "$bin/ptxrw" --probe "$probe" $vadd "$tmp/there.ptx"
status 0
gpuprobe -- "$gpuprobed" end "$tmp/there.ptx" return
lines 1 '^image there sm_75 '
counts 96 1

nvrtc=$CUDA/lib64/libnvrtc.so.13
it "machine code of NVRTC is replaced by the PTX that it was made from"
if [ ! -e "$nvrtc" ]; then
	skip "no $nvrtc"
else
	LD_LIBRARY_PATH=$CUDA/lib64
	export LD_LIBRARY_PATH
	same 0 "$bin/nvrtc" "$nvrtc"
	lines 1 '^image done sm_75 kernels 1 '
	# the simulated driver has nothing that runs machine code
	fails 1 'cuModuleLoadData(&m, image): 209' "$bin/nvrtc" "$nvrtc" cubin
	gpuprobe -- "$bin/nvrtc" "$nvrtc" cubin
	status 0
	equal "$(cat "$tmp/said")" 'nvrtc: 192 of 192 right'
	lines 1 '^image done sm_75 kernels 1 '
	lines 1 '^slots 1 site 0 count 6 '
	unset LD_LIBRARY_PATH
fi

if [ ! -x "$bin/gpu" ]; then
	it "programs built by nvcc"
	skip "no nvcc"
	leave
fi
for kind in gpu gpu-static gpu-12; do
	it "programs built by nvcc compute what they did: $kind"
	for part in vadd reduce transpose histogram matmul streams graphs symbols dynamic_shared managed print divergence calls texture grid_sync; do
		same 0 "$bin/$kind" $part
		lines 1 '^bye$'
	done
	same 0 "$bin/$kind" vadd
	counts 313 1	# 10007 elements
done
