# shellcheck shell=sh disable=SC2034,SC2154 # name, rc: the words'
# The tools built with ASan and UBSan, mostly on input that is not what it should be.
# `make sanitize` runs each tool's own test with them.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
export ASAN_OPTIONS=exitcode=99
export LSAN_OPTIONS="suppressions=$PWD/tests/sanitize.supp:print_suppressions=0"

sound() {
	case $rc in 99|124|128|129|1[3-9]*) no "status $rc${1:+ of $1}" ;; esac
	says_not Sanitizer
	says_not 'runtime error'
}

it "builds with ASan and UBSan"
SECONDS_=900 run make -s -j2 "O=$O" sanitized
status 0
PATH=$O/sanitize:$PATH
grep -q __asan "$O/sanitize/cudaleak" || no 'cudaleak is built without ASan'

for kind in session multi perf; do
	it "--attach $kind: threads, children, executions, failures"
	run cudamallocsnoop -qjk --attach $kind -c "$bin/mem thread '(' malloc 23 4096 ')' join \
		fork '(' malloc 5 64 fail 2 free 3 ')' forkexec '(' host 3 64 ')' free 7 badfree 1"
	sound
	status 0
	json 33 '.op == "alloc"'
	json 11 '.op == "free"'
done

it "every kind of report of leaks"
for options in -q -qj -qa -qC -qs3 --folded; do
	run cudaleak $options -c "$bin/deep 19 4096"
	sound "$options"
	status 0
done

it "tools that measure inside kernels, and what they keep of each access and launch"
for tool in cudamemtime cudakerneltime; do
	for options in -j "--csv $tmp/csv" "--chrome $tmp/chrome"; do
		# shellcheck disable=SC2086 # words
		run env SIM_KERNELS=1 $tool -q $options -c "$bin/gpuprobed end tests/ptx/nvcc-vadd.ptx return >$tmp/said"
		sound "$tool $options"
		status 0
		[ -s "$tmp/out" ] || no "$tool $options: nothing is printed"
	done
done

for tool in cudamallocsnoop:malloc cudaleak:malloc cudatrace:malloc cudamemcpysize:copy cudalaunchtop:launch \
	cudasynclatency:sync; do
	it "${tool%:*}: call stacks, in every form that it has"
	for options in '--stack all -j' '--stack native' '--unwind fp -j' '--lines' '--folded'; do
		# shellcheck disable=SC2086 # words
		run ${tool%:*} -q $options -c "$bin/nofp -n 23 -c ${tool#*:} plain >$tmp/truth"
		sound "$options"
		status 0
		# what frame pointers tell of a program without any ends before main
		case $options in --unwind*) named='"sym":' ;; *) named='[^/]main[^/]' ;; esac
		grep -q "$named" "$tmp/out" || no "$options: no stack"
	done
done

it "call stacks through Python"
if [ -x /usr/bin/python3 ]; then
	for options in '--stack all -j' '--stack python' '--lines' '--folded'; do
		# shellcheck disable=SC2086 # words
		run cudaleak -q $options -c "env CUDA_LIB=$lib /usr/bin/python3 tests/workloads/python/cases.py -n 3 nesting >$tmp/truth"
		sound "$options"
		status 0
		grep -q three_exact "$tmp/out" || no "$options: no Python frame"
	done
else
	skip "no Python here"
fi

for tool in cudatrace 'cudatrace -S' 'cudatrace -k' 'cudatrace --tree' cudaleak 'cudaleak -j' cudamallocsnoop 'cudamallocsnoop -k' \
	cudamemcpysize 'cudamemcpysize -k' cudalaunchtop 'cudalaunchtop -x' cudasynclatency 'cudasynclatency -k'; do
	it "$tool: programs that write what they want into the memory of --attach inject"
	if [ -e "$bin/inject_hostile" ]; then
		for mode in records values fields; do
			# shellcheck disable=SC2086 # words
			run $tool -q --attach inject -- "$bin/inject_hostile" $mode 7
			sound "$mode"
			status 43
		done
	else
		skip "x86-64 only"
	fi
done

it "mistakes on the command line"
for options in '-p 0' '-p 1,' '-p 99999999' '-p x' '-m 1q' '-m 99999999999999999999' '-d -1' '-d' \
	'--lay driver x' '--layer nothing' '--attach' '-Z' '--list=x' '-c /nonexistent' '-l /dev/null' \
	'-l /proc/self/mem' '-l /' "-l $tmp/nothing" '-A -F' "-c $(head -c 300 /dev/zero | tr '\0' x)"; do
	# shellcheck disable=SC2086 # two words
	run cudamallocsnoop -d1 $options
	sound "$options"
	[ "$rc" -ne 0 ] || no "status 0 of $options"
done

it "the names of kernels that come again, in another form too"
cat >"$tmp/cudart.c" <<'END'
void __cudaRegisterFunction(void **h, void *stub, char *fun, const char *name) { }
int cudaLaunchKernel(void *func) { return 0; }
END
cat >"$tmp/main.c" <<'END'
int main(void)
{
	char mangled[] = "_Z5firstv", plain[] = "first()";	/* in memory, as the runtime's are */

	__cudaRegisterFunction(0, 0x1000, 0, mangled);
	__cudaRegisterFunction(0, 0x2000, 0, plain);
	cudaLaunchKernel(0x1000);
	cudaLaunchKernel(0x2000);
	return 0;
}
END
${CC:-cc} -w -shared -fPIC -o "$tmp/libcudart.so.13" "$tmp/cudart.c"
${CC:-cc} -w -o "$tmp/main" "$tmp/main.c" "$tmp/libcudart.so.13" -Wl,-rpath,"$tmp"
for tool in cudalaunchtop cudatrace; do
	run $tool -qjc "$tmp/main; $tmp/main"
	sound
	status 0
	equal "$(jq -r .kernel "$tmp/out" | sort -u)" first
done

it "libraries that are damaged"
# the headers, the tables they lead to, and the ends of both
cat >"$tmp/damage.py" <<'EOF'
import random, struct, sys
whole = open(sys.argv[1], "rb").read()
sections = struct.unpack_from("<Q", whole, 0x28)[0]
random.seed(11)
for i in range(48):
    d = bytearray(whole)
    if i < 12:
        d = d[:[0, 1, 15, 63, 64, 65, 200, 4096, sections - 1, sections + 1, len(d) // 2, len(d) - 1][i]]
    elif i < 24:
        d[random.randrange(16, 64)] = random.choice((0, 1, 127, 128, 255))
    else:
        for _ in range(i - 20):
            at = sections + random.randrange(64 * 30) if i % 2 else random.randrange(64, 12000)
            if at < len(d):
                d[at] = random.randrange(256)
    open("%s/%d.so" % (sys.argv[2], i), "wb").write(d)
EOF
mkdir "$tmp/damaged"
python3 "$tmp/damage.py" "$lib/libcudart.so.13" "$tmp/damaged"
for f in "$tmp"/damaged/*.so; do
	run cudaleak --list -l "$f"
	sound "$f"
done

it "a reader that goes away, and one signal after another"
cudamallocsnoop -qc "$bin/mem loop 300 '(' malloc 1 64 ')'" 2>"$tmp/err" | head -n 3 >"$tmp/out"
lines 3 ''
rc=0
sound
for signal in INT TERM HUP; do
	program "$bin/mem" malloc 5 64 wait malloc 23 64
	tool cudaleak -p "$pid"
	stop $signal
	sound
	go
done
