# shellcheck shell=sh
# --check: what this machine, its kernel and the user allow.

it "every tool says in thirteen lines that this machine can do everything, in text and JSON"
for t in tools/*.c; do
	t=$O/$(basename "$t" .c)
	! inside "${t##*/}" || continue
	run "$t" --check
	status 0
	lines 1 '^CHECK +VERDICT +WHAT$'
	lines 1 "^kernel +ok +Linux $(uname -r), $(uname -m)\$"
	lines 1 '^privileges +ok +may trace as root$'
	lines 1 '^return probes +(ok|limited) +(do not harm|kill) processes that have a seccomp filter'
	equal "$(wc -l <"$tmp/out")" 13
	silent
done
# but for whether all processes that use CUDA can be read; the others may change between two runs, on a busy machine
same_verdicts() {
	run cudaleak --check
	awk 'NR > 1' "$tmp/out" | sed -E 's/^CUDA .*/CUDA ok/' | sed -E 's/ (ok|limited|missing) .*/ \1/; s/  +/ /' >"$tmp/text"
	run cudaleak --check -j
	jq -r '"\(.check) \(.verdict)"' "$tmp/out" | sed 's/^CUDA .*/CUDA ok/' | diff - "$tmp/text" >"$tmp/diff"
}
same_verdicts || same_verdicts || same_verdicts || no "text and JSON differ: $(grep "^[<>]" "$tmp/diff" | tr "\n" " ")"
status 0
json 12 '.type == "check" and (.text | length) > 3' 0 '.verdict == "missing"'

it "the kinds of links are those that --attach takes"
run cudaleak --check
for kind in session multi perf; do
	cudaleak --attach $kind -qc true >"$tmp/err2" 2>&1
	grep -q 'does not support' "$tmp/err2" && says=needs || says=works
	lines 1 "^attaching .*$kind $says"
done

it "without root it says what is missing and what to do, and fails"
run setpriv --reuid 65534 --regid 65534 --clear-groups cudaleak --check
status 1
lines 1 '^privileges +missing +CAP_BPF and CAP_PERFMON are missing: run as root or grant them$'
lines 1 '^processes +limited +CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH are missing'
lines 1 '^return probes +limited +cannot be tried without the privileges above$'
lines 1 '^ring buffer +missing +cannot be tried'
silent

it "without CAP_BPF that alone is missing; capabilities are enough without root"
caps=cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore
run setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+perfmon \
	--ambient-caps=-all,+perfmon cudaleak --check
status 1
lines 1 '^privileges +missing +CAP_BPF is missing: run as root or grant it$'
caps=+$(echo "$caps,cap_bpf" | sed 's/cap_//g; s/,/,+/g')
run setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" cudaleak --check
lines 1 '^privileges +ok +may trace, without being root$'
lines 1 '^processes +ok '
lines 1 '^stacks +ok '

it "without BTF it says so and fails"
if unshares -m; then
	run unshare -m sh -c 'mount -t tmpfs tmpfs /sys/kernel/btf && exec cudaleak --check'
	status 1
	lines 1 '^BTF +missing +no /sys/kernel/btf/vmlinux: mount /sys'
fi

it "in a PID namespace it says so and fails"
if unshares -m -p -f; then
	run unshare -pf --mount-proc cudaleak --check
	status 1
	lines 1 '^processes +missing +running in a PID namespace'
fi

it "processes that use CUDA now are counted"
program "$bin/mem" malloc 1 64 wait
run cudaleak --check
lines 1 '^CUDA .*; ([2-9]|[1-9][0-9]+) processes use CUDA now|; 1 process uses CUDA now'
go

# selected N: that many of the processes that use CUDA now are
selected() { lines 1 "^CUDA .*; [0-9]+ process(es use| uses) CUDA now, $1 selected"; }

it "options that select processes say how many of those that use CUDA they select"
# a name that no other process has in its first 15 bytes, and a container's id that no other cgroup has
long=own$$_of_many_bytes id=$(printf %08x $$)0123456789abcdef
short=$(echo "$long" | cut -c1-15)
cp "$bin/mem" "$tmp/$long"
program env LD_LIBRARY_PATH="$lib" "$tmp/$long" malloc 1 64 wait
for filter in "--comm $long" "--comm $short --uid $(id -u)"; do
	# shellcheck disable=SC2086 # words
	run cudaleak --check $filter
	status 0
	selected 1
done
for filter in "--comm own$$" "--comm $long --uid 4321" '--uid 4321'; do
	# shellcheck disable=SC2086 # words
	run cudaleak --check $filter
	status 0
	selected 0
done
run cudaleak --check
lines 0 ' selected'
root=$(grep -s ' cgroup2 ' /proc/mounts | cut -d' ' -f2 | head -n 1)
group=$root/cbtcheck$$/docker-$id.scope
if [ -n "$root" ] && mkdir -p "$group/below" 2>/dev/null; then
	echo "$pid" >"$group/below/cgroup.procs"
	for filter in "--cgroup /cbtcheck$$" "--cgroup $group/below" "--container $id" "--cgroup / --comm $short"; do
		# shellcheck disable=SC2086 # words
		run cudaleak --check $filter
		selected 1
	done
	run cudaleak --check --container "$id"
	lines 1 "^cgroups +ok +$id has the id $(stat -c %i "$group")\$"
	echo "$pid" >"$root/cgroup.procs"
	run cudaleak --check --container "$id"
	selected 0
	rmdir "$group/below" "$group" "$root/cbtcheck$$"
fi
go

# a tool of another test that traces all processes would kill the program whose text moves: its breakpoints move, too
it_alone "with -p it names text that the program has moved, and the mapping that stays after probes"
cat >"$tmp/move.py" <<-'END'
	import ctypes, sys, threading, time
	libc = ctypes.CDLL(None)
	libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
	library = ctypes.CDLL(sys.argv[1])
	for line in open("/proc/self/maps"):
	    if sys.argv[1] in line and "r-xp" in line and len(sys.argv) > 2:
	        start, end = (int(word, 16) for word in line.split()[0].split("-"))
	        size = ctypes.c_size_t(end - start)
	        with open(sys.argv[1], "rb") as f:
	            f.seek(int(line.split()[2], 16))
	            text = f.read(end - start)
	        # the kernel may still be removing the breakpoints of a tool that has ended: they would be copied
	        while ctypes.string_at(start, len(text)) != text:
	            time.sleep(.01)
	        to = ctypes.c_void_p(libc.mmap(None, size, 3, 0x22, -1, ctypes.c_long(0)))
	        ctypes.memmove(to, start, end - start)
	        libc.mprotect(to, size, 5)
	        libc.mremap(to, size, size, 3, ctypes.c_void_p(start))
	def calls():
	    at = ctypes.c_void_p()
	    while True:
	        library.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(13))
	        library.cudaFree(at)
	        time.sleep(.01)
	threading.Thread(target=calls, daemon=True).start()
	print("ready", flush=True)
	sys.stdin.readline()
END
program python3 "$tmp/move.py" "$lib/libcudart.so.13"
run cudaleak --check -p "$pid"
lines 1 '^hazards +ok +none that the mappings show$'
tool cudaleak --attach perf -p "$pid"
until_true grep -qF '[uprobes]' "/proc/$pid/maps"
stop
run cudaleak --check -p "$pid"
status 0
lines 1 "^hazards +limited +process $pid: \[uprobes\] is mapped until it ends: CRIU cannot dump it"
go
program python3 "$tmp/move.py" "$lib/libcudart.so.13" move
run cudaleak --check -j -p "$pid,$$"
status 0
json 1 'select(.check == "hazards") | .text | startswith("process '"$pid"': '"$lib"'/libcudart.so.13: its text was moved") and (contains("process '$$'") | not)'
go
fails 1 'no process' cudaleak --check -p "none$$"

it "a cgroup that does not exist is missing; without one, it says where they are"
run cudaleak --check --cgroup /nonexistent
status 1
lines 1 '^cgroups +missing +--cgroup /nonexistent: '
run cudaleak --check
lines 1 "^cgroups +(ok +of version 2 at ${root:-/}|limited +none of version 2 are mounted)"

it "bpftrace is for cudabt alone: without it the other tools work"
run env PATH=/nowhere "$O/cudaleak" --check
status 0
lines 1 '^bpftrace +limited +not found: only cudabt needs it'
