# shellcheck shell=sh disable=SC2016,SC2086,SC2154 # inner shells; lists of words; rc, pid, tracer: the words'
# --attach inject: every way to a function, and out of it; what a program must not notice; programs that mean harm.
# The tools have no privileges here (as_who in lib.sh).  With ATTACH=session the counts are those of the kernel's probes.

attach="--attach ${ATTACH:-inject}"
public=$(mktemp -d) && chmod 777 "$public"	# where any user may write
trap 'rm -rf "$public"; finish' EXIT
INJECT_PLUGIN=$lib/libinject-plugin.so
export INJECT_PLUGIN

# what a tool cannot do here because it may not even read what is built
if ! $unprivileged test -r "$INJECT_PLUGIN"; then
	it "--attach inject as an ordinary user"
	skip "$lib cannot be read by others"
	leave
fi
if ! [ -e "$bin/inject" ]; then
	it "--attach inject"
	skip "$bin/inject is not built"
	leave
fi

# calls FUNCTION PROGRAM WORD...: its calls by function; calls_are N FUNCTION: so many in all processes
calls() {
	fn=$1
	shift
	run cudatrace $attach -jS -e "$fn" -- "$@"
}
calls_are() { sum "$1" "select(.func == \"$2\") | .calls"; }

# counts N PROGRAM WORD...: it calls cudaMalloc N times, and nothing is lost
counts() {
	n=$1
	shift
	calls cudaMalloc "$@"
	status 0
	calls_are "$n" cudaMalloc
	silent
}

# unchanged WORD...: the program prints the same and ends in the same way under a tool as without; it fails if it prints
# nothing
unchanged() {
	$unprivileged "$@" >"$public/plain" 2>"$public/plain.err" </dev/null 9>&-
	plain=$?
	run cudatrace $attach -q -e memory,cudaLaunchHostFunc,cudaLaunchKernel,cuLaunchKernel -o "$public/trace" -- "$@" </dev/null
	status $plain
	cmp -s "$public/plain" "$tmp/out" || no "$*: prints something else: $(diff "$public/plain" "$tmp/out" | head -n 5 | tr '\n' ';')"
	cmp -s "$public/plain.err" "$tmp/err" || no "$*: on standard error: $(diff "$public/plain.err" "$tmp/err" | head -n 5 | tr '\n' ';')"
	[ -s "$public/plain" ] || no "$*: prints nothing"
	[ -s "$public/trace" ] || no "$*: nothing was traced"
	rm -f "$public/trace"
}

# ---- without privileges

it "an ordinary user without any capability traces a command: text"
run cudatrace $attach -e memory --layer runtime -c "$bin/mem malloc 23 4096 free 7 fail 3"
status 0
lines 23 '^cudaMalloc\(\*devPtr=0x[0-9a-f]+, size=4096\) = 0$'
lines 7 '^cudaFree\(devPtr=0x[0-9a-f]+\) = 0$'
lines 3 'cudaMalloc\(devPtr=0x[0-9a-f]+, size=1125899906842624\) = cudaErrorMemoryAllocation \(2\)$'
lines 33 ''
silent

it "an ordinary user without any capability traces a command: JSON"
run cudatrace $attach -e memory -jc "$bin/mem malloc 23 4096 free 7 fail 3"
status 0
json 26 '.func == "cudaMalloc" and .layer == "runtime" and .latency_ns > 0 and .pid > 1' \
	23 '.func == "cudaMalloc" and .args.size == 4096 and .ret == 0' \
	7 '.func == "cudaFree"' \
	33 true
silent

if [ "$attach" = '--attach inject' ]; then
	it "it works where containers hide the kernel's types, tracefs and bpffs and refuse bpf() and perf_event_open()"
	if unshares -m; then
		run unshare -m sh -c 'mount -t tmpfs none /sys/kernel && mount -t tmpfs none /sys/fs && exec "$@"' - $unprivileged "$bin/contained" \
			cudatrace --attach inject -e cudaMalloc -jc "$bin/mem malloc 23 4096"
		status 0
		json 23 '.func == "cudaMalloc" and .args.size == 4096'
		silent
	fi

	it "it is taken by itself where tracing is not permitted and there is a command, which is said in one line"
	for tool in cudatrace cudamallocsnoop; do
		run $unprivileged "$bin/contained" $tool -jc "$bin/mem malloc 23 4096"
		status 0
		json 23 '.func == "cudaMalloc"'
		says '--attach inject'
		equal "$(grep -vc ': tracing' "$tmp/err")" 1
	done

	it "without a command it is not taken, nor with -p for a program without the library, nor with --list"
	run $unprivileged cudatrace -d 1
	[ "$rc" -ne 0 ] || no "status 0"
	says_not '--attach inject: tracing'
	run cudatrace --attach=inject -p $$
	status 1
	says "--attach inject: process $$: no resident library"
	run cudatrace --attach inject --list
	status 2
	says '--attach inject: running processes are traced without --list'

	it "tools without privileges leave no files"
	mkdir -m 777 "$public/files"
	run env TMPDIR="$public/files" HOME="$public/files" cudaleak --attach inject -qc "$bin/mem malloc 23 4096 free 7"
	status 0
	equal "$(ls -A "$public/files")" ''
fi

it "README.md shows what an ordinary user sees without privileges"
if [ -z "${ATTACH:-}" ] && $unprivileged test -x "$O/examples/train"; then
	normal() { sed -E 's/0x[0-9a-f]+/X/g; s/[0-9][0-9:.]*/N/g; s:\(/[^()]*/:(:; s/N [mu]?s$/N s/'; }
	awk '/^## /{ on = /^## No root/ } /^```/{ block = !block; next } on && block && !/^(\$ |\.\.\.)/' README.md | normal >"$tmp/shown"
	(cd "$O/examples" && $unprivileged timeout 60 cudaleak -c './train 10') 2>&1 | normal | head -n "$(wc -l <"$tmp/shown")" >"$tmp/out"
	[ "$(wc -l <"$tmp/shown")" -ge 5 ] || no "it shows little"
	equal "$(diff "$tmp/shown" "$tmp/out")" ''
else
	skip "no examples that others can run"
fi

# ---- every way to a function

for way in inject inject-now inject-noplt inject-nopie; do
	case $way in
	inject) name_of='bound lazily' ;;
	inject-now) name_of='bound at once' ;;
	inject-noplt) name_of='by the GOT' ;;
	inject-nopie) name_of='of a program at a fixed address' ;;
	esac
	it "calls $name_of are counted, each once"
	counts 23 "$bin/$way" plt 23

	it "calls by pointers in static data are counted, each once, $name_of"
	calls cudaMallocHost "$bin/$way" data 23
	status 0
	calls_are 23 cudaMallocHost
	silent

	it "what dlsym(), dlvsym() and dlmopen() answer is counted, $name_of"
	counts 23 "$bin/$way" dlsym 23
	counts 29 "$bin/$way" dlvsym 29
	counts 31 "$bin/$way" dlmopen 31
done

it "the pointers that cuGetProcAddress and cudaGetDriverEntryPoint answer are counted"
for way in proc entry; do
	calls cuMemAlloc_v2 "$bin/inject" $way 23
	status 0
	calls_are 23 cuMemAlloc_v2
	silent
done

it "a runtime's call and the driver's call in it are one, and both below --tree"
calls memory "$bin/inject" plt 23
calls_are 23 cudaMalloc
calls_are 0 cuMemAlloc_v2
run cudatrace $attach --tree -e memory -jc "$bin/inject plt 23"
json 23 '.func == "cudaMalloc" and .depth == 0' 23 '.func == "cuMemAlloc_v2" and .depth == 1'

it "programs with the runtime linked in are seen by the driver's functions"
run cudatrace $attach --layer driver -jS -e memory -c "$bin/inject-static plt 23"
status 0
calls_are 23 cuMemAlloc_v2

if [ "$attach" = '--attach inject' ]; then
	it "of a runtime that is linked in a line says that only the driver's functions are seen, once for each program"
	run cudatrace $attach -jS -e cudaMalloc,cuMemAlloc -c "$bin/mem-static malloc 23 64; $bin/mem-static malloc 7 64; $bin/inject-static plt 3"
	calls_are 0 cudaMalloc
	calls_are 33 cuMemAlloc_v2
	says "/mem-static: the CUDA runtime is linked in: --attach inject sees only the driver calls that it makes"
	equal "$(grep -c 'mem-static: the CUDA runtime is linked in' "$tmp/err")" 1
	says "/inject-static: the CUDA runtime is linked in: "
	if [ -e "$bin/kern-stripped" ]; then
		run cudatrace $attach -jS -e memory -c "$bin/kern-stripped 5 3 23 7 11"
		says "/kern-stripped: the CUDA runtime is linked in: "
	fi

	it "where nothing was seen, it says that such a runtime has to load the driver first"
	run cudatrace $attach -jS -c true
	says 'the command used no CUDA library: nothing to trace; a runtime that is linked in is seen once it loads the driver'

	it "nothing is said where no call is missed by that"
	run cudatrace $attach --layer driver -jS -e memory -c "$bin/mem-static malloc 23 64"
	says_not 'linked in'
	run cudatrace $attach -qjS -e memory -c "$bin/mem-static malloc 23 64"
	says_not 'linked in'
	run cudatrace $attach -jS -e memory -- env LD_PRELOAD="$lib/libinject-preload.so" "$bin/inject" plt 23
	says_not 'linked in'
fi

for how in now lazy local deep; do
	it "a library that is loaded later is seen: $how"
	counts 23 "$bin/inject" plugin 23 "$INJECT_PLUGIN" $how
	counts 29 "$bin/inject-now" plugin 29 "$INJECT_PLUGIN" $how
done

it "a library that is loaded, unloaded and loaded again is seen each time"
counts 33 "$bin/inject" reopen 11

it "a runtime that is loaded late is seen"
counts 23 "$bin/mem-dlopen" load malloc 23 64

it "a library that is loaded late has names in call stacks, also when the program has ended"
for how in lazy local; do
	run cudatrace $attach -e cudaMalloc -jkc "$bin/inject plugin 23 $INJECT_PLUGIN $how"
	status 0
	json 23 '.stack[0].sym == "plugin_allocate" and .stack[-1].sym == "_start"'
	silent
done

it "so do libraries that take turns at one address, and whose files are gone"
run cudamallocsnoop $attach -jkc "$bin/nofp -n 29 reloaded >$public/truth"
status 0
python3 tests/stacks/compare.py native "$public/truth" "$tmp/out" >"$tmp/compared" || no "$(tail -n 1 "$tmp/compared")"
equal "$(tail -n 1 "$tmp/compared" | cut -d, -f1,2)" '29 stacks compared, 0 wrong'

it "Python's ctypes"
if [ -x /usr/bin/python3 ]; then
	counts 23 /usr/bin/python3 tests/workloads/inject_ctypes.py "$lib/libcudart.so.13" 23
	lines 0 '^cudaMemGetInfo'
else
	skip "no /usr/bin/python3"
fi

it "what is changed of a library is no more executable than before"
cat >"$public/maps.py" <<-'END2'
	import ctypes, sys
	at = ctypes.c_void_p()
	ctypes.CDLL(sys.argv[1]).cudaMalloc(ctypes.byref(at), ctypes.c_size_t(64))
	print(open("/proc/self/maps").read())
END2
if [ -x /usr/bin/python3 ]; then
	run cudatrace $attach -jc "/usr/bin/python3 $public/maps.py $lib/libcudart.so.13 >$public/maps"
	json 1 '.func == "cudaMalloc"'
	equal "$(grep -E 'libcuda(rt)?\.so' "$public/maps" | grep -c '^[^ ]* ..x')" 2	# their code
else
	skip "no /usr/bin/python3"
fi

it "launches of nvcc 13, whose function jumps into cudaLaunchKernel() past the linker, are seen as such, each once"
if [ -x "$bin/kern" ]; then
	run cudatrace $attach -jc "$bin/kern 7 5 23 3 11"
	status 0
	json 7 '.func == "cudaLaunchKernel" and .kernel == "scale" and .args.gridDim == [8,1,1]' \
		5 '.func == "cudaLaunchKernel" and .kernel == "fill<int>" and .args.gridDim == [4,1,1]'
	run cudalaunchtop $attach -jc "$bin/kern 7 5 23 3 11"
	json 1 '.kernel == "scale" and .launches == 7'
	silent
else
	skip "no nvcc here"
fi

it "arguments on the stack reach the function, and the tool"
unchanged "$bin/inject" args 3
run cudatrace $attach -o "$public/trace" -e cudaMemcpy2DAsync,cudaMemset3D,cudaMemcpy3D,cudaLaunchKernel,cuLaunchKernel -- "$bin/inject" args 3
status 0
lines 1 '^right$'
cp "$public/trace" "$tmp/out"
lines 3 '^cudaMemcpy2DAsync\(dst=0x[0-9a-f]+, dpitch=512, src=0x[0-9a-f]+, spitch=16, width=7, height=5, kind=cudaMemcpyHostToDevice, stream=0x0\) = 0$'
lines 3 '^cudaMemset3D\(.*value=90, .*\) = 0$'
lines 3 '^cudaMemcpy3D\(.*\) = 0$'
lines 3 '^cudaLaunchKernel\(.*gridDim=\{3, 5, 7\}, blockDim=\{11, 13, 2\}, .*sharedMem=17, stream=0x0\) = cudaErrorInvalidDeviceFunction \(98\)$'
lines 3 '^cuLaunchKernel\(.*gridDimX=3, gridDimY=5, gridDimZ=7, blockDimX=11, blockDimY=13, blockDimZ=2, sharedMemBytes=19, .*\) = '
rm -f "$public/trace"

# ---- every way out of a function, and other threads and processes

# never_return N WORD...: N calls of cudaLaunchHostFunc do not, and N of cudaMalloc beside them do
never_return() {
	n=$1
	shift
	calls cudaMalloc,cudaLaunchHostFunc "$bin/inject" "$@"
	status 0
	calls_are "$n" cudaMalloc
	json 1 ".type == \"lost\" and .lost == $n"
	says "$n calls never returned"
}

# "thread exited during the call", as cudatrace says without -S
it "calls that threads end in, one after the other, each of which may have what the one before left"
calls cudaMalloc,cudaLaunchHostFunc "$bin/inject" thread-exit 503
status 0
calls_are 503 cudaMalloc
sum 503 'if .func == "cudaLaunchHostFunc" then .calls elif .type == "lost" then .lost else 0 end'
run cudatrace $attach -je cudaLaunchHostFunc -- "$bin/inject" thread-exit 1
json 1 '.func == "cudaLaunchHostFunc" and .ret == null and .args.fn != "0x0" and .args.fn != null'

it "a call that is left by longjmp()"
never_return 23 jump 23

it "… hides none of the later ones, which are deeper in the stack"
run env SIM_LATENCY_US=cudaMalloc=200000 cudatrace $attach -e cudaMalloc -Sjc "$bin/jump 3 5"
calls_are 5 cudaMalloc
json 1 '.type == "lost" and .lost == 3'

# alone, as a tool that traces all has return probes in this program, too, and these end it
it_alone "a call that a C++ exception goes through"
if [ "$attach" = '--attach inject' ]; then
	never_return 23 throw 23
else
	skip "the kernel's return probes end such a program"
fi

it "a thread that ends without a word"
calls cudaMalloc,cudaLaunchHostFunc "$bin/inject" thread-gone 23
status 0
calls_are 23 cudaMalloc

it "a program that is killed inside of a call"
run env SIM_LATENCY_US=cudaMalloc:24=-1 cudatrace $attach -jS -e cudaMalloc -- "$bin/inject" killed 23
status 0
calls_are 24 cudaMalloc
calls cudaMalloc,cudaLaunchHostFunc "$bin/inject" stuck 23
status 137
calls_are 23 cudaMalloc
calls_are 1 cudaLaunchHostFunc

it "2,003 threads at a time"
counts 2003 "$bin/inject" threads 2003

it "4,001 threads one after the other"
counts 4001 "$bin/inject" sequence 4001

it "fork(): before, in the child, in the child's child, and after"
counts 92 "$bin/inject" fork 23
run cudatrace $attach -je cudaMalloc -- "$bin/inject" fork 23
json 92 '.func == "cudaMalloc"'
equal "$(jq -cs 'group_by(.pid) | map(length) | sort' "$tmp/out")" '[23,23,46]'

it "fork() inside of a call"
counts 46 "$bin/inject" fork-inside 23

it "vfork(), posix_spawn() and exec() in the same process"
counts 69 "$bin/inject" vfork 23
counts 69 "$bin/inject" spawn 23
counts 46 "$bin/inject" exec 23
counts 69 sh -c '"$0" plt 23; "$0" plt 23 & "$0" plt 23; wait' "$bin/inject"

it "calls in a signal's handler, at any time"
calls cudaGetDevice "$bin/inject" signal 100003
status 0
made=$(grep -xE '[0-9]+' "$tmp/out")
grep '^{' "$tmp/out" >"$tmp/rows"
got=$(jq -s 'map(select(.func == "cudaGetDevice") | .calls) | add' "$tmp/rows")
[ "$got" -ge 100003 ] && [ "$got" -le $((100003 + made)) ] || no "$got calls of 100003 and $made"

# ---- what the program must not notice

it "registers, the stack and the modes of floating point, at the entry and at the return"
unchanged "$bin/inject_registers"
lines 1 '^same$'
unchanged "$bin/inject_registers-now"
lines 1 '^same$'

it "the same where the returns are not looked at"
for program in inject_registers inject_registers-now; do
	run cudatrace $attach --enter-only -q -o "$public/trace" -- "$bin/$program"
	status 0
	lines 1 '^same$'
	[ -s "$public/trace" ] || no "$program: nothing was traced"
done

it "errno, signals, limits, alignment, the status at the end"
unchanged "$bin/inject" same 3
status 43

it "open files"
unchanged "$bin/inject" fds 3

it "the environment, but for the dynamic linker's words"
unchanged "$bin/inject" environ 1

it "addresses of functions are those that they were, however they are asked for"
unchanged "$bin/inject" pointers
unchanged "$bin/inject-nopie" pointers
unchanged "$bin/inject" weak

if [ "$attach" = '--attach inject' ]; then	# no stack does with the kernel's return probes
# alone, as backtrace() ends where a tool that traces all has put a return probe
it_alone "backtrace() in a callback of CUDA goes through to main()"
for way in inject inject-now inject-noplt; do
	run cudatrace $attach -q -e cudaLaunchHostFunc,cuLaunchHostFunc -o "$public/trace" -- "$bin/$way" backtrace
	status 0
	equal "$(grep -E '^(stack_|part_|main$|__libc_start_main)' "$tmp/out" | tr '\n' ' ')" \
		'stack_callback stack_outer part_backtrace main __libc_start_main '
done

# alone, as gdb 13 does not hear of libraries that are loaded where a tool has probes, which one that traces all has in every
# program; it is told to read them
it_alone "so does gdb's"
if command -v gdb >"$tmp/gdb"; then
	run env HOME="$public" cudatrace $attach -q -e cudaLaunchHostFunc,cuLaunchHostFunc -o "$public/trace" -- gdb -nx -batch \
		-ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' -ex 'break stack_callback' -ex run -ex sharedlibrary -ex bt \
		--args "$bin/inject" backtrace
	equal "$(sed -n 's/^#.* in \(stack_outer\|part_backtrace\|main\) .*/\1/p' "$tmp/out" | tr '\n' ' ')" \
		'stack_outer part_backtrace main '
else
	skip "no gdb here"
fi

fi

it "the tool's own stacks go through to main(), by unwind tables and frame pointers"
for how in dwarf fp; do
	run cudatrace $attach -k --unwind $how -e cudaLaunchHostFunc -c "$bin/inject backtrace >/dev/null"
	status 0
	equal "$(sed -n 's/^ *\(stack_outer\|part_backtrace\|main\)+0x.*/\1/p' "$tmp/out" | tr '\n' ' ')" 'stack_outer part_backtrace main '
done

it "a program's own LD_PRELOAD works, and its calls are counted once"
run cudatrace $attach -qjS -e memory -- env LD_PRELOAD="$lib/libinject-preload.so" "$bin/inject" plt 23
calls_are 23 cudaMalloc
says 'own preloaded library: 23 calls'

it "a program's own LD_AUDIT works beside the tool's"
run env LD_AUDIT="$lib/libinject-other.so" cudatrace $attach -qjS -e cudaMalloc -- "$bin/inject" plt 23
status 0
calls_are 23 cudaMalloc
says 'own audit library: cudaMalloc'

it "two tools at once on one command count the same"
run cudatrace $attach -q -o "$public/outer" -jS -e cudaMalloc -- \
	cudamallocsnoop $attach -qjc "$bin/inject plt 23"
status 0
json 23 '.func == "cudaMalloc"'
cp "$public/outer" "$tmp/out"
calls_are 23 cudaMalloc

if [ "$attach" = '--attach inject' ]; then
	it "the same tool twice is refused, as both would be one library, and the command is not started"
	run cudatrace $attach -q -o "$public/outer" -- cudatrace $attach -q -- "$bin/inject" plt 23
	status 1
	says 'cudatrace: --attach inject: this tool is part of a command that the same tool traces already'
	lines 0 .

	it "what a tool that has ended left in the environment is replaced"
	run cudatrace $attach -q -o "$public/outer" -- sh -c 'echo "LD_AUDIT=$LD_AUDIT CUDA_BPF_TOOLS_INJECT=$CUDA_BPF_TOOLS_INJECT"'
	left=$(cat "$tmp/out")
	case $left in *inject/cudatrace.so*=cudatrace=?*) ;; *) no "the environment is $left" ;; esac
	run env $left cudatrace $attach -jS -e cudaMalloc -- "$bin/inject" plt 23
	status 0
	calls_are 23 cudaMalloc
	silent
fi

# ends_all WORD...: a process of the command, which writes its number, ends with the tool
export number="$public/number"
ends_all() {
	rm -f "$number"
	tool cudatrace $attach "$@"
	until_true test -s "$number"
	sleeper=$(cat "$number")
	stop TERM
	until_true eval "! kill -0 $sleeper" || kill "$sleeper"
}

it "at a signal processes of the command end that use no CUDA, or none yet"
sleeps='sh -c "echo \$\$ >$number; exec sleep 1000"'
ends_all -c "$sleeps; true"
ends_all -c "$sleeps & wait"
ends_all -c "$bin/mem malloc 3 64; ($sleeps; true); true"
ends_all -- sh -c 'echo $$ >$number; exec sleep 1000'

it "the command's status is the tool's, and its output comes through"
run cudatrace $attach -qo "$public/trace" -c "$bin/mem malloc 3 64 exit 7; echo status \$?; exit 19"
status 19
lines 1 '^status 7$'
lines 1 ''

# ---- what it cannot do is said before the command starts

# refused PROGRAM WHY: the program is not started, and why is said
refused() {
	run cudatrace $attach -- "$1"
	[ "$rc" -ne 0 ] || no "status 0"
	lines 0 .
	says "$2"
}

if [ "$attach" = '--attach inject' ]; then
	printf '#include <stdio.h>\nint main(void) { puts("ran"); return 0; }\n' >"$public/ran.c"

	it "a static program"
	if $CC -static -o "$public/static" "$public/ran.c" 2>/dev/null; then
		refused "$public/static" static
	else
		skip "no static C library"
	fi

	it "a program of musl's"
	$CC -o "$public/musl" "$public/ran.c" -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
	refused "$public/musl" musl

	it "a setuid program"
	if [ "$(id -u)" -eq 0 ]; then
		$CC -o "$public/setuid" "$public/ran.c"
		chmod 4755 "$public/setuid"
		run setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all cudatrace --attach inject -- "$public/setuid"
		[ "$rc" -ne 0 ] || no "status 0"
		lines 0 .
		says setuid
		# there it has no other user
		run $unprivileged cudatrace --attach inject -- "$public/setuid"
		status 0
		lines 1 '^ran$'
	else
		skip "not root"
	fi
fi

# ---- programs that mean harm

# survives TOOL MODE SEED: it ends with the program's status, and prints no control characters
survives() {
	began=$(date +%s)
	run $1 $attach -- "$bin/inject_hostile" $2 $3
	status 43
	says 'inject_hostile: has the memory'
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$tmp/out" || no "$1, $2: control characters in the output"
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$tmp/err" || no "$1, $2: control characters in what it says"
	took=$(($(date +%s) - began))
	[ "$took" -le 60 ] || no "$1, $2: it took $took s"
}

if [ "$attach" = '--attach inject' ]; then
	for mode in silent garbage lies ${LONG:+bytes} fields threads ring records values names holes seal flood; do
		it "a tool survives a hostile program: $mode"
		survives cudatrace $mode 1
	done

	it "after them the next program is traced as ever"
	run cudatrace --attach inject -qjS -e cudaMalloc -c "$bin/inject_hostile lies; $bin/inject_hostile garbage; $bin/inject plt 23"
	status 0
	calls_are 83 cudaMalloc
fi

it "a child does not inherit the memory, and is traced"
run cudatrace --attach inject -jS -e cudaMalloc -- "$bin/inject_hostile" worker
status 43
says 'inject_hostile: is traced, its child ended with status 0'
! grep -q 'has its parent' "$tmp/err" || no "the child has its parent's memory"
json 1 '.func == "cudaMalloc" and .calls == 26'

if [ "$(id -u)" -eq 0 ]; then
	it "a child that runs as another user is not traced, which the tool says"
	run cudatrace --attach=inject -u root -jS -e cudaMalloc -- "$bin/inject_hostile" worker
	status 43
	says 'inject_hostile: is traced, its child ended with status 0'
	! grep -q 'has its parent' "$tmp/err" || no "the child has its parent's memory"
	json 1 '.func == "cudaMalloc" and .calls == 23'
	says 'refused 1 process of other users'
fi

# ---- programs that take rights from themselves

for tool in cudatrace 'cudatrace -k' cudaleak 'cudamallocsnoop -k' cudalaunchtop cudasynclatency; do
	it "a program lives on under a seccomp filter that allows what it needs itself: $tool"
	run $tool --attach inject -c "exec $bin/inject_rights filter >/dev/null"
	status 0
done

it "its calls are counted, also those of a thread that it makes then"
run cudatrace --attach inject -jS -e cudaMalloc -- "$bin/inject_rights" filter
status 0
json 1 '.func == "cudaMalloc" and .calls == 99'

it "it may load another library"
run cudatrace --attach inject -jS -e cudaMalloc -- "$bin/inject_rights" load
status 0
json 1 '.func == "cudaMalloc" and .calls == 100'

it "one that has the filter before it loads CUDA is not traced"
run cudatrace --attach inject -jS -e cudaMalloc -- "$bin/inject_rights" early
status 0
json 0 '.calls > 0'

# told_by ATTACH MODE TEXT: the program is told to go on once the tool has said that
told_by() {
	how=$1
	shift
	mkfifo -m 666 "$public/$1"
	tool cudatrace $how -jS -e cudaMalloc -c "$bin/inject_rights $1 <$public/$1"
	exec 3<>"$public/$1"
	until_true grep -q "$2" "$tmp/err"
	echo >&3
	exec 3>&-
	wait "$tracer"
	rc=$?
}

it "what it forks then lives, and is not traced, which the tool says"
told_by '--attach inject' fork 'has a seccomp filter now'
status 0
json 1 '.func == "cudaMalloc" and .calls == 99'
says '13 calls missed: the process is under a seccomp filter of its own'

it "also where it forks before the tool has seen the filter"
run cudatrace --attach inject -jS -e cudaMalloc -- "$bin/inject_rights" at-once
status 0
json 1 '.func == "cudaMalloc" and .calls == 99'
says '13 calls missed: the process is under a seccomp filter of its own'

if [ "$(id -u)" -eq 0 ]; then
	it "a process that becomes another user is not traced any more, which the tool says"
	told_by --attach=inject user 'runs as another user now'
	status 0
	json 1 '.func == "cudaMalloc" and .calls == 1'
	says '14 calls missed'	# one is the runtime's: it makes a context current to the new thread
fi

it "thousands of threads that have ended, as a program has it, keep the tool from no other program"
run cudatrace --attach inject -qjS -e cudaMalloc -c "$bin/inject_hostile ended & sleep .2
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do $bin/mem malloc 23 64; done; kill \$!"
json 1 '.func == "cudaMalloc" and .calls == 322'	# 23 are its own

# confined: the tool's process that runs the probes' programs for other threads; once it is there, $confined
confined() {
	read -r children <"/proc/$tracer/task/$tracer/children"
	for confined in $children; do
		grep -q '^Seccomp:.2' "/proc/$confined/status" && return
	done
	return 1
}
# status_has LINE...: of that process
status_has() {
	tr -s '\t ' '  ' <"/proc/$confined/status" >"$tmp/status"
	for line; do
		grep -qx "$line" "$tmp/status" || no "$line: $(grep "^${line%%:*}" "$tmp/status")"
	done
}

# confined_tool OPTION...: a tool that has seen a process end, for which it needs that process
confined_tool() {
	tool cudatrace "$@" -jS -e cudaMalloc -c "$bin/mem malloc 23 4096; exec sleep 1000"
	until_true confined
}
none=0000000000000000
if [ "$attach" = '--attach inject' ]; then
	it "where the tool is root, its process that runs probes over the programs' memory has no privileges, and is nobody else's"
	if [ "$(id -u)" -eq 0 ]; then
		for user in 0:0 65534:65534; do
			confined_tool --attach=inject -u $user
			own=$(awk '/^Uid:/ { print $2 }' "/proc/$confined/status")
			[ "$own" -ge 1879048192 ] || no "its user is $own"
			status_has "Uid: $own $own $own $own" "Gid: $own $own $own $own" 'Groups: ' 'NoNewPrivs: 1' 'Seccomp: 2' \
				"CapInh: $none" "CapPrm: $none" "CapEff: $none" "CapBnd: $none" "CapAmb: $none"
			grep -q '^Max core file size *0 *0' "/proc/$confined/limits" || no "$(grep core "/proc/$confined/limits")"
			! $unprivileged kill -STOP "$confined" 2>/dev/null || no "the command's user may stop it"
			stop TERM
			calls_are 23 cudaMalloc
			silent
		done
	else
		skip "not root"
	fi

	it "nor has it any where the tool is an ordinary user"
	confined_tool --attach inject
	status_has 'NoNewPrivs: 1' 'Seccomp: 2' "CapInh: $none" "CapPrm: $none" "CapEff: $none" "CapAmb: $none"
	stop TERM
	calls_are 23 cudaMalloc

	it "without privileges, the files of a program in another root are found: /proc/PID/maps has its root before their names"
	if unshares -rm; then
		mkdir "$public/root"
		run cudamallocsnoop --attach inject -jk -c "unshare -rm sh -c 'mount --rbind / $public/root &&
			exec chroot $public/root $bin/mem malloc 23 4096'"
		json 23 '.stack[0].sym == "do_malloc"'
		silent
	fi

	it "nor where a user namespace has no other user to become"
	if unshares -r; then
		tool unshare -r cudatrace --attach=inject -jS -e cudaMalloc -c "$bin/mem malloc 23 4096; exec sleep 1000"
		until_true confined
		status_has 'NoNewPrivs: 1' 'Seccomp: 2' "CapInh: $none" "CapPrm: $none" "CapEff: $none" "CapBnd: $none" "CapAmb: $none"
		stop TERM
		calls_are 23 cudaMalloc
	fi

	it "root's tool reports calls in flight by it"
	if [ "$(id -u)" -eq 0 ]; then
		shows_in_flight 'cudasynclatency --attach=inject' cudaDeviceSynchronize 'sync 2'
		silent
	else
		skip "not root"
	fi

	it "a system call that it does not need kills it, and the tool goes on with another one"
	run "$bin/each" "$lib/each-calls.so" open socket connect ptrace process_vm_readv kill execve fork setresuid executable crash
	status 0
	lines 11 '^[a-z_]+: no answer$'
	lines 11 '^memory: returned$'
	equal "$(grep -c 'cannot read what the command.s threads are doing' "$tmp/err")" 1
fi

it "a tool that is stopped holds up no program that forks, and says what it missed"
mkfifo -m 666 "$public/go"
tool cudatrace --attach inject -jS -e cudaMalloc -c \
	"$bin/mem malloc 3 64 wait loop 97 '(' fork '(' malloc 1 64 ')' join ')' malloc 5 64 <$public/go >$public/ready; : >$public/ended"
exec 3<>"$public/go"
until_true grep -q ready "$public/ready"
kill -STOP "$tracer"
echo >&3
exec 3>&-
until_true [ -e "$public/ended" ]
kill -CONT "$tracer"
wait "$tracer"
rc=$?
status 0
json 1 '.func == "cudaMalloc" and .calls == 8' 1 '.lost == 97'
says '97 calls missed: the tool has not answered the process'

long || leave

# beside_hostile N: so many programs that make three calls, four at a time, while hostile ones run
beside_hostile() {
	rm -f "$public/enough"
	SECONDS_=900 run cudatrace --attach inject -q -k -o /dev/null -c "
		for mode in bytes fields values words; do
			(seed=0; while [ -d $public ] && [ ! -e $public/enough ]; do seed=\$((seed + 1)); $bin/inject_hostile \$mode \$seed; done) &
		done
		seq $1 | xargs -P 4 -I '{}' $bin/mem malloc 3 64 free 1 >/dev/null; rc=\$?
		: >$public/enough; wait; exit \$rc"
	status 0
	! grep -q 'has read another' "$tmp/err" || no "a process has read another one"
}

it "10,007 programs beside hostile ones end as they do without them, and none is read"
beside_hostile 10007

it "40,009 threads one after the other"
counts 40009 "$bin/inject" sequence 40009

if [ "$attach" = '--attach inject' ]; then
	for tool in cudaleak cudamallocsnoop cudamemcpysize cudalaunchtop cudasynclatency 'cudatrace -S' 'cudatrace -k' 'cudaleak -j'; do
		it "$tool survives hostile programs"
		for seed in 1 2 3; do
			for mode in bytes fields threads ring records values all; do
				survives "$tool" $mode $seed
			done
		done
	done
fi

it "a process cannot have another one's probes read what it chooses"
run cudatrace --attach inject -q -e cudaMalloc -o "$public/trace" -- "$bin/inject_hostile" words
status 43
says 'inject_hostile: has the memory'
! grep -q 'has read another' "$tmp/err" || no "it has read another process"
