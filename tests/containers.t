# shellcheck shell=sh disable=SC2034,SC2154 # rc, pid, tracer: the words'
# Containers, and files that are not what their names say: what is probed is what a process has mapped.
# shellcheck source=/dev/null
. tests/own.sh

# A root for containers: the program, what it is linked with, and the two libraries.
lower=$tmp/lower
mkdir -p "$lower/cuda" "$lower/proc"
cp "$bin/mem" "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$lower/cuda"
for f in $(ldd "$bin/mem" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\// && $i !~ /\/tests\//) print $i }'); do
	mkdir -p "$lower$(dirname "$f")"
	cp -L "$f" "$lower$f"
done

# contained NAME WORD...: mem in a container over that layer, with namespaces and an overlay of its
# own, up to the word `wait`; $inner is its number here, and $tmp/NAME its standard output
contained() {
	name_of=$1
	shift
	mkdir -p "$tmp/$name_of.fs"
	rm -f "$tmp/$name_of.go"
	mkfifo "$tmp/$name_of.go"
	: >"$tmp/$name_of"	# an earlier one was ready
	# shellcheck disable=SC2016 # for the inner shell
	unshare -U -r -m -p -f --kill-child sh -c 'mount -t tmpfs none "$1" && cd "$1" && mkdir up work root &&
		mount -t overlay overlay -o "lowerdir=$2,upperdir=up,workdir=work" root &&
		mount -t proc proc root/proc && shift 2 && export LD_LIBRARY_PATH=/cuda && exec chroot root "$@"' \
		- "$tmp/$name_of.fs" "$lower" /cuda/mem "$@" <"$tmp/$name_of.go" >"$tmp/$name_of" 2>"$tmp/err" &
	unshared=$!
	pids="$pids $unshared"
	case $name_of in one) exec 5>"$tmp/one.go" ;; *) exec 6>"$tmp/$name_of.go" ;; esac
	until_true grep -q ready "$tmp/$name_of"
	inner=$(pgrep -P $unshared)
}

# was_ready NAME N: its program has come to the word `wait` so many times
was_ready() { [ "$(grep -c ready "$tmp/$1")" -ge "$2" ]; }

mkdir "$tmp/try.fs"
# shellcheck disable=SC2016 # for the inner shell
why_not=$(unshare -U -r -m -p -f sh -c 'mount -t tmpfs none "$1" && cd "$1" && mkdir up work root &&
	mount -t overlay overlay -o "lowerdir=$2,upperdir=up,workdir=work" root' - "$tmp/try.fs" "$lower" 2>&1) &&
	why_not=

# contains TITLE: a test that needs such containers; false, and skipped, if there are none here
contains() {
	it "$1"
	[ -z "$why_not" ] || skip "$why_not"
	[ -z "$why_not" ]
}

# Few functions, as perf events take their time to be closed
few='--enter-only --layer runtime -e cudaMalloc,cudaFree'

# ---- overlayfs

# shellcheck disable=SC2086 # words
for kind in $kinds ${LONG:+perf}; do
	if contains "--attach $kind -p: of two containers that share a layer, one's calls alone"; then
		contained one malloc 1 64 wait malloc 23 4096 free 7 wait
		first=$inner
		contained other malloc 1 64 wait malloc 11 64 wait
		tool cudatrace $few --attach "$kind" -jp "$first"
		echo >&6
		until_true was_ready other 2
		echo >&5
		until_true was_ready one 2
		stop
		json 23 ".pid == $first and .func == \"cudaMalloc\"" \
			7 ".pid == $first and .func == \"cudaFree\"" \
			30 true
		silent
		exec 5>&- 6>&-
	fi

	if contains "--attach $kind: all processes: two containers that share a layer, each call once"; then
		contained one malloc 1 64 wait malloc 23 4096 free 7 wait
		first=$inner
		contained other malloc 1 64 wait malloc 11 64 wait
		tool cudatrace $few --attach "$kind" -j
		echo >&5
		echo >&6
		until_true was_ready one 2
		until_true was_ready other 2
		stop
		json 23 ".pid == $first and .func == \"cudaMalloc\"" 30 ".pid == $first" \
			11 ".pid == $inner"
		silent_of $first $inner
		exec 5>&- 6>&-
	fi
done

if contains "all processes: a container that starts later, from a layer that is probed already, each call once"; then
	contained one malloc 1 64 wait malloc 5 64 wait
	tool cudamallocsnoop -j
	contained other malloc 11 64 wait malloc 7 64 wait
	echo >&6
	until_true was_ready other 2
	stop
	json 18 ".pid == $inner"
	silent_of "$inner"
	exec 5>&- 6>&-
fi

if contains "a library that is copied up while it is probed is probed on"; then
	contained one malloc 1 64 wait malloc 23 4096 free 7 wait
	tool cudamallocsnoop -jp "$inner"
	touch "/proc/$inner/root/cuda/libcudart.so.13" "/proc/$inner/root/cuda/libcuda.so.1"
	echo >&5
	until_true was_ready one 2
	stop
	json 30 '.layer == "runtime"' 30 true
	exec 5>&-
fi

if contains "a library that was copied up after it was mapped: said, and the calls are seen in the other one"; then
	contained one malloc 1 64 wait malloc 23 4096 free 7 wait
	touch "/proc/$inner/root/cuda/libcudart.so.13"
	tool cudamallocsnoop -jp "$inner"
	echo >&5
	until_true was_ready one 2
	stop
	says "libcudart.so.13 was modified on its overlay file system after process $inner mapped it: calls to it are missed until the program is restarted"
	json 23 '.func == "cuMemAlloc_v2"' 30 true
	exec 5>&-
fi

if contains "both libraries copied up after they were mapped: said, not passed over"; then
	contained one malloc 1 64 wait malloc 23 4096 free 7 wait
	touch "/proc/$inner/root/cuda/libcudart.so.13" "/proc/$inner/root/cuda/libcuda.so.1"
	run timeout 10 cudamallocsnoop -d 1 -jp "$inner"
	says "libcudart.so.13 was modified on its overlay file system after process $inner mapped it"
	says "libcuda.so.1 was modified on its overlay file system after process $inner mapped it"
	status 3
	exec 5>&-
fi

# ---- Names that mislead

# in_memory PROCESS FILE N: what this process has mapped of it has N breakpoints, at the places in
# $tmp/places: offsets in the file
in_memory() {
	found=0
	while read -r range rights from _ _ path; do
		case $rights in *x*) ;; *) continue ;; esac
		[ "$path" = "$2" ] || continue
		while read -r offset; do
			at=$((0x${range%-*} + offset - 0x$from))
			[ $at -lt $((0x${range#*-})) ] || continue
			byte=$(dd "if=/proc/$1/mem" bs=1 skip=$at count=1 2>/dev/null | od -An -tx1)
			[ "$byte" != ' cc' ] || found=$((found + 1))
		done <"$tmp/places"
	done <"/proc/$1/maps"
	[ $found -eq "$3" ]
}

# another program has this one mapped; nothing of it says that it were CUDA's
cp "$lib/libcudart.so.13" "$tmp/innocent.so"
cudatrace --list --enter-only -e cudaMalloc,cudaFree -j -l "$tmp/innocent.so" |
	jq -r 'select(.file | endswith("innocent.so")).offset' >"$tmp/places"
LD_PRELOAD=$tmp/innocent.so sleep 1000 & sleeper=$!
pids="$pids $sleeper"

it "where a file is probed, it shows in the memory of who has it mapped"
until_true grep -q innocent "/proc/$sleeper/maps"
equal "$(wc -l <"$tmp/places")" 2
tool cudatrace --enter-only -e cudaMalloc,cudaFree -l "$tmp/innocent.so"
until_true in_memory $sleeper "$tmp/innocent.so" 2
stop
until_true in_memory $sleeper "$tmp/innocent.so" 0

for link in absolute relative; do
	it "a symbolic link of a chroot that leads, $link, to the host's file: that one is not probed"
	jail=$tmp/$link
	mkdir -p "$jail"
	cp -r "$lower/." "$jail"
	program env LD_LIBRARY_PATH=/cuda chroot "$jail" /cuda/mem malloc 1 64 wait malloc 23 4096 free 7
	for f in libcudart.so.13 libcuda.so.1; do
		case $link in
		absolute) ln -sf "$tmp/innocent.so" "$jail/cuda/$f" ;;
		relative) ln -sf "../../../../../../..$tmp/innocent.so" "$jail/cuda/$f" ;;
		esac
	done
	tool cudamallocsnoop -j
	in_memory $sleeper "$tmp/innocent.so" 0 || no "$found breakpoints in the host's file"
	traced=$pid
	go
	until_true grep -qc "\"pid\":$traced,.*cudaFree" "$tmp/out"
	in_memory $sleeper "$tmp/innocent.so" 0 || no "$found breakpoints in the host's file"
	stop
	json 23 ".pid == $traced and .func == \"cudaMalloc\"" 30 ".pid == $traced"
done

it "a FIFO that takes a library's name keeps nobody waiting"
mkdir "$tmp/pipe"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$tmp/pipe"
program env LD_LIBRARY_PATH="$tmp/pipe" "$bin/mem" malloc 1 64 wait malloc 23 4096 free 7
for f in libcudart.so.13 libcuda.so.1; do
	rm "$tmp/pipe/$f"
	mkfifo "$tmp/pipe/$f"
done
tool cudamallocsnoop -jkp "$pid"
go
wait "$tracer"
json 23 '.func == "cudaMalloc" and .stack[0].sym == "do_malloc"' 30 true

# ---- Files without a name, and without sections

# in_memory_file NAME COMMAND...: with libcudart from a memfd of that name
${CC:-cc} -x c -o "$tmp/memfd" - <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
int main(int argc, char **argv)	/* NAME FILE COMMAND... */
{
	int fd = memfd_create(argv[1], 0), from = open(argv[2], O_RDONLY);
	char name[32];

	while (sendfile(fd, from, NULL, 1 << 20) > 0)
		;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	setenv("LD_PRELOAD", name, 1);
	return execvp(argv[3], argv + 3);
}
END
# names that no other process has
for name_of in libcudart.so.13.$$ ${LONG:+x$$}; do
	it "a library inside a memfd with the name ${name_of%"$$"}"
	set -- "$tmp/memfd" "$name_of" "$lib/libcudart.so.13" env LD_LIBRARY_PATH="$lib" "$bin/mem"
	program "$@" malloc 1 64 wait malloc 23 4096 free 7
	grep -q "/memfd:$name_of" "/proc/$pid/maps" || no 'it is not mapped'
	for who in "-p $pid" ''; do
		# shellcheck disable=SC2086 # words
		run cudamallocsnoop $who --list -j
		json 1 ".func == \"cudaFree\" and (.file | startswith(\"/memfd:$name_of\"))"
	done
	tool cudamallocsnoop -jp "$pid"
	go
	wait "$tracer"
	json 23 '.func == "cudaMalloc" and .size == 4096' 30 '.layer == "runtime"' 30 true
	run cudamallocsnoop -jc "$* malloc 23 4096 free 7"
	json 30 '.layer == "runtime"' 30 true
done

# bare FILE: without section headers (their place, number and names in the ELF header)
bare() {
	dd if=/dev/zero "of=$1" bs=1 seek=40 count=8 conv=notrunc 2>/dev/null
	dd if=/dev/zero "of=$1" bs=1 seek=60 count=4 conv=notrunc 2>/dev/null
}

it "libraries without section headers"
mkdir "$tmp/bare"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$tmp/bare"
bare "$tmp/bare/libcudart.so.13"
bare "$tmp/bare/libcuda.so.1"
run cudamallocsnoop -jc "env LD_LIBRARY_PATH=$tmp/bare $bin/mem malloc 23 4096 free 7"
json 23 '.func == "cudaMalloc" and .size == 4096' 30 '.layer == "runtime"' 30 true
run cudamallocsnoop --layer driver -jc "env LD_LIBRARY_PATH=$tmp/bare $bin/mem malloc 23 4096 free 7"
json 30 '.layer == "driver"' 30 true

it "a program without section headers, the runtime in it: its calls are seen in the driver"
cp "$bin/mem-static" "$tmp/bare"
bare "$tmp/bare/mem-static"
run cudamallocsnoop -jc "env LD_LIBRARY_PATH=$lib $tmp/bare/mem-static malloc 23 4096 free 7"
json 23 '.func == "cuMemAlloc_v2"' 30 true

# ---- Numbers of processes

it "-p with a number of the container's own, one or two namespaces down, is explained"
if unshare -U -r -p -f unshare -p -f true 2>/dev/null; then
	# numbers that nobody has here: of the last, those behind $last in the inner one, and 50 before them in the outer one
	last=$(($(cat /proc/sys/kernel/pid_max) - 113 - $$ % 1009))
	taken_near() { for n in $(seq $(($1 - 49)) $(($1 - 43))) $(seq "$1" $(($1 + 5))); do [ ! -e "/proc/$n" ] || return 0; done; false; }
	while taken_near $last; do last=$((last - 7)); done
	# shellcheck disable=SC2016 # for the inner shells
	program unshare -U -r -m -p -f --kill-child sh -c 'mount -t proc proc /proc && echo $(($1 - 50)) >/proc/sys/kernel/ns_last_pid &&
		shift && unshare -m -p -f --kill-child sh -c "$@"' - $last \
		'mount -t proc proc /proc && echo $1 >/proc/sys/kernel/ns_last_pid && shift && "$@"; exit' - \
		$last "$bin/mem" malloc 1 64 wait malloc 23 4096 free 7
	mem=$(pgrep -P "$pid")
	while next=$(pgrep -P "$mem"); do mem=$next; done
	numbers=$(sed -n 's/^NSpid://p' "/proc/$mem/status")
	equal "$(echo "$numbers" | wc -w)" 3
	for number in $(echo "$numbers" | cut -f 3-); do
		fails 1 "pid $number: No such process; in a PID namespace (container), process $mem has PID $number: use -p $mem" \
			cudamallocsnoop -p "$number"
	done
	tool cudamallocsnoop -jp "$mem"
	go
	wait "$tracer"
	json 30 ".pid == $mem" 30 true
else
	skip 'no namespaces can be made here'
fi

it "-p with a container's number that another process has here is explained too"
if unshare -U -r -p -f true 2>/dev/null; then
	# its second one is a thread of the kernel here
	program unshare -U -r -m -p -f --kill-child sh -c '"$@"; exit' - "$bin/mem" malloc 1 64 wait
	mem=$(pgrep -P "$(pgrep -P "$pid")")
	fails 3 'process 2 has no CUDA functions to trace' cudamallocsnoop -p 2
	says "in a PID namespace (container), process "
	grep -oE 'use -p [0-9 or]+' "$tmp/err" | grep -qw "$mem" || no "it does not name $mem"
	exec 3>&-
else
	skip 'no namespaces can be made here'
fi

it "the tool in a mount namespace of its own works"
if unshares -m; then
	run unshare -m cudamallocsnoop -jc "$bin/mem malloc 23 4096 free 7"
	status 0
	json 30 true
fi

# in_namespace UNSHARE-OPTIONS WHY: says why no other process can be traced there; a command can, with a line that says how
in_namespace() {
	# shellcheck disable=SC2086 # words
	run unshare $1 -p -f --mount-proc cudamallocsnoop -jc "$bin/mem malloc 23 4096 free 7"
	status 0
	json 30 true
	says "$2"
	says 'using --attach inject'
	for how in '--attach session -c true' '-p 1' ''; do
		# shellcheck disable=SC2086 # words
		fails 1 "$2" unshare $1 -p -f --mount-proc cudamallocsnoop $how
	done
}

it "in a pid namespace it says why not, and traces a command"
! unshares -m -p -f || in_namespace -m 'running in a PID namespace (container): kernel PIDs cannot be resolved'

it "in a user namespace it says why not, and traces a command"
! unshares -U -r -m -p -f || in_namespace '-U -r -m' 'running in a user namespace (rootless container?)'
