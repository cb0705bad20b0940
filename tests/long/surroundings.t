# shellcheck shell=sh disable=SC2086 # a word or none
# Each tool where its output or its surroundings fail: it neither crashes nor hangs, and says what is wrong.
away=$(mktemp -d "$O/tests/surroundings.XXXXXX") && chmod 777 "$away"	# where a tool without /tmp finds it
trap 'rm -rf "$away"; finish' EXIT

# in_it COMMAND...: to its end, which is no signal's, in time.  Its output goes through pipes: no limit of files is theirs
in_it() {
	{ { timeout -k 5 60 "$@" </dev/null; echo $? >"$tmp/rc"; } 2>&1 >&7 | cat >"$tmp/err"; } 7>&1 | cat >"$tmp/out"
	rc=$(cat "$tmp/rc")
	[ "$rc" -lt 124 ] || no "status $rc: $*"
}

# fine WHERE: it did as ever
fine() {
	[ "$rc" -eq 0 ] || no "$1: status $rc: $(tail -n 1 "$tmp/err")"
	grep -qE -- "$right" "$tmp/out" || no "$1: no line matches /$right/"
}

# refused WHERE REGEX: it said that on standard error, with status 1
refused() {
	[ "$rc" -eq 1 ] || no "$1: status $rc, not 1: $(tail -n 1 "$tmp/err")"
	grep -qE "^$tool: .*($2)" "$tmp/err" || no "$1: it does not say $2: $(tail -n 1 "$tmp/err")"
}

# fine_or WHERE REGEX: one of the two
fine_or() { if [ "$rc" -eq 0 ]; then fine "$1"; else refused "$@"; fi; }

# takes OPTION: does the tool?
takes() { "$tool" --help | grep -qE -- "^ .*$1\>"; }

# formats: of the output: words each, and the empty one
formats() { echo; ! takes --json || echo -j; ! takes --folded || echo --folded; }

outputs() {
	for as in '' $(formats); do
		while IFS=: read -r to why; do
			in_it sh -c "exec sh $away/$tool $as $to"
			refused "$as $to" "cannot write to standard output: $why"
		done <<-LIST
			>/dev/full:No space left on device
			>&-:Bad file descriptor
			1</dev/null:Bad file descriptor
			<&- >&-:Bad file descriptor
		LIST
	done
}

files() {
	for option in --pprof --chrome --csv --output; do
		takes $option || continue
		in_it sh "$away/$tool" $option /dev/full
		refused "$option /dev/full" 'cannot write to /dev/full: No space left on device'
		in_it sh "$away/$tool" $option /nonexistent/x
		refused "$option /nonexistent/x" 'cannot open /nonexistent/x: No such file or directory'
		in_it sh "$away/$tool" $option "$tmp"
		refused "$option of a directory" "cannot open $tmp: Is a directory"
		in_it sh -c "ulimit -Sf 0; exec sh $away/$tool $option $tmp/small"
		refused "$option, ulimit -Sf 0" "cannot write to $tmp/small: File too large"
		rm -f "$tmp/small"
	done
}

readers() {
	for as in '' $(formats); do
		{ timeout 60 sh "$away/$tool" $as -q </dev/null; echo $? >"$tmp/rc"; } 2>"$tmp/err" | head -c 1 >"$tmp/out"
		rc=$(cat "$tmp/rc")
		[ "$rc" -eq 0 ] || no "$as | head: status $rc: $(tail -n 1 "$tmp/err")"
		! grep -q "^$tool: " "$tmp/err" || no "$as | head: it says $(tail -n 1 "$tmp/err")"
	done
	for to in '<&-' '2>/dev/full' '2>&-' '2</dev/null' '<&- 2>&-'; do
		in_it sh -c "exec sh $away/$tool $to"
		fine "$to"
	done
}

# the limits of memory and files are not the command's, which removes them; the latter is also that of cudabt's files in memory
limits() {
	for most in 16 28 32 48; do
		in_it sh -c "ulimit -n $most; exec sh $away/$tool"
		fine_or "ulimit -n $most" 'Too many open files .*raise the limit, ulimit -n'
	done
	[ "$tool" = cudabt ] || for most in 40000 80000 200000; do	# bpftrace's own message
		in_it sh -c "ulimit -Sv $most; exec sh $away/$tool"
		fine_or "ulimit -Sv $most" 'Cannot allocate memory|out of memory'
	done
	in_it sh -c "ulimit -Sf 0; exec sh $away/$tool"
	if [ "$tool" = cudabt ]; then refused 'ulimit -Sf 0' 'File too large'; else fine 'ulimit -Sf 0'; fi
}

environments() {
	in_it env -i "PATH=$PATH" sh "$away/$tool"
	fine 'env -i'
	in_it env LC_ALL=nonsense LANG=x TERM=nonsense COLUMNS=20 LINES=-1 TMPDIR=/nonexistent HOME=/nonexistent TZ=nonsense sh "$away/$tool"
	fine 'an odd locale, TERM, TMPDIR'
	mkdir "$away/gone"
	in_it sh -c "cd $away/gone && rmdir $away/gone && exec sh $away/$tool"
	fine 'a working directory that is gone'
	unshares -m || return
	in_it unshare -m sh -c "for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro t \$d; done; exec sh $away/$tool"
	fine 'read-only /tmp'
	in_it unshare -m sh -c "umount -l /proc; exec sh $away/$tool"
	refused 'no /proc' 'cannot read /proc/self/status: No such file or directory .mount -t proc'
	in_it unshare -m sh -c "mount -t tmpfs t /sys; exec sh $away/$tool"
	fine_or 'no /sys' 'cannot read /sys/[a-z/]*: No such file or directory .mount -t sysfs|/sys is not mounted'
}

# a tool, a line of its text, options that give it, and a command
cat >"$tmp/tools" <<LIST
cudabounds|accesses of warps checked|--keep-registers|SIM_KERNELS=1 $bin/lanes copy 7 13 96 3
cudabt|23|-e "cuda:cudaMalloc { @ = count(); }"|$bin/mem malloc 23 4096
cudacoalesce|copy||SIM_KERNELS=1 $bin/lanes copy 7 13 96 3
cudaexporter|cuda_memory_allocations_total.* 23$|--once|$bin/mem malloc 23 4096
cudakerneltime|copy|--keep-registers|SIM_KERNELS=1 $bin/lanes copy 7 13 96 3
cudalaunchtop|mem_kernel||$bin/mem launch 101
cudaleak|16 allocations not freed||$bin/mem malloc 23 4096 free 7
cudamallocsnoop|cudaMalloc||$bin/mem malloc 23 4096 free 7
cudamemcpysize|HtoD||$bin/mem copy 23 4096 h2d
cudamemtime|copy||SIM_KERNELS=1 $bin/lanes copy 7 13 96 3
cudasynclatency|cudaDeviceSynchronize||$bin/mem sync 23
cudatop|mem|-b|$bin/mem launch 101
cudatrace|cudaMalloc||$bin/mem malloc 23 4096 free 7
ncclhang|ncclAllReduce|-w 300ms|SIM_NCCL_DIR=$away $bin/nccl 3 init watchdog allreduce 5 10 late-rank 1 2000 allreduce 1 7 mark sync
ncclsnoop|ncclAllReduce||SIM_NCCL_DIR=$away $bin/nccl 1 init allreduce 23 1 destroy
nccltop|ncclAllReduce||SIM_NCCL_DIR=$away $bin/nccl 1 init allreduce 23 1 destroy
LIST

it "each tool is here"
equal "$(cut -d'|' -f1 "$tmp/tools" | paste -sd' ')" "$(basename -s .c tools/*.c | LC_ALL=C sort | paste -sd' ')"

while IFS='|' read -r tool right options command; do
	echo "exec $tool $options \"\$@\" -c 'ulimit -Sv unlimited; ulimit -Sf unlimited; $command >/dev/null'" >"$away/$tool"
	if [ "$tool" = cudabt ] && ! command -v bpftrace >/dev/null; then
		it "$tool: all of this"
		skip "no bpftrace here"
		continue
	fi
	it "$tool: its output cannot be written, which it says, with status 1"
	outputs
	files
	it "$tool: its output is not read; its standard input or error is closed, or full"
	readers
	it "$tool: few descriptors, little memory, no files"
	limits
	it "$tool: odd environments"
	environments
done <"$tmp/tools"
