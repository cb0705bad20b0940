# shellcheck shell=sh disable=SC2016,SC2086,SC2154 # inner shells; lists of words; rc: the words'
# Programs whose libraries need static TLS start with an audit library, that of --attach inject or
# the resident one, wherever they start without.
public=$(mktemp -d) && chmod 777 "$public"
trap 'rm -rf "$public"; finish' EXIT
audit="LD_AUDIT=$O/inject/resident.so"
source=tests/workloads/static_tls.c
linked="$lib/libcudart.so.13 $lib/libcuda.so.1 -Wl,-rpath,$lib:$public -pthread -ldl"
if ! [ -e "$O/inject/resident.so" ] || ! $unprivileged test -r "$lib/libcudart.so.13"; then
	it "static TLS with audit libraries"
	skip "they are not built, or cannot be read by others"
	leave
fi

# builds NAME OPTION...: the program, or with -shared the library, $public/NAME
builds() {
	to=$public/$1
	shift
	$CC -O1 -o "$to" "$source" "$@" 2>"$tmp/cc" || no "cannot be built: $(head -n 1 "$tmp/cc")"
}
library() {
	so=$1
	shift
	builds "$so" -shared -fPIC -Wl,-soname,"$so" "$@"
}

# installed FILE: $file is where the linker finds that library; or the test is skipped
installed() {
	file=/usr/lib/$(cc -dumpmachine)/$1
	[ -e "$file" ] || { skip "no $1: run scripts/setup test"; return 1; }
}

# same FILE: the program's is the same as without a tool
same() { cmp -s "$public/plain.$1" "$tmp/$1" || no "$how: not '$(head -c 99 "$public/plain.$1")'"; }

# starts N WORD...: WORD... calls cudaMalloc N times; it prints the same, and ends the same, without
# an audit library, with the resident one, and under a tool, which counts the calls.  $ways: these
starts() {
	n=$1
	shift
	$unprivileged "$@" >"$public/plain.out" 2>"$public/plain.err" </dev/null 9>&-
	equal "$?" 0
	for how in $ways; do
		rm -f "$public/trace"
		case $how in
		resident) run $unprivileged env "$audit" "$@" ;;
		*) run cudatrace --attach inject -q -jSo "$public/trace" -e cudaMalloc -- "$@" ;;
		esac
		status 0
		same out
		same err
	done
	cp "$public/trace" "$tmp/out"
	sum "$n" 'select(.func == "cudaMalloc") | .calls'
}
ways='resident inject'

builds program $linked
for allocator in jemalloc.so.2 tcmalloc_minimal.so.4; do
	it "lib$allocator, preloaded: also by a shell's programs, and threads with small stacks"
	if installed "lib$allocator"; then
		starts 23 env LD_PRELOAD="$file" "$public/program" calls 23 thread 0x4000
		starts 23 env LD_PRELOAD="$file" sh -c '"$0" calls 11 && exec "$0" calls 12' \
			"$public/program"
	fi

	it "lib$allocator, linked"
	if installed "lib$allocator"; then
		builds allocates $linked -Wl,--no-as-needed "$file"
		starts 29 "$public/allocates" calls 29
	fi
done

for which in thread address; do
	it "-fsanitize=$which"
	echo 'int main(void) { return 0; }' >"$tmp/empty.c"
	if ! $CC -fsanitize=$which -o "$tmp/empty" "$tmp/empty.c" 2>/dev/null; then
		skip "no such sanitizer here"
		continue
	fi
	builds sanitized $linked -fsanitize=$which
	starts 31 env ASAN_OPTIONS=detect_leaks=0 "$public/sanitized" calls 31 thread 0x200000
done

for bytes in 1499 1000003 ${LONG:+101 997 2003 7001 65003}; do
	it "a library with $bytes bytes: preloaded, and linked before and after CUDA's"
	library libsize.so -DBYTES=$bytes
	builds before -Wl,--no-as-needed "$public/libsize.so" $linked
	builds after -Wl,--no-as-needed $linked "$public/libsize.so"
	starts 7 env LD_PRELOAD="$public/libsize.so" "$public/program" calls 7
	starts 11 "$public/before" calls 11
	starts 13 "$public/after" calls 13
done

it "a library that does not require static TLS, but the program requires it of the library"
library libshared.so -DSHARED=5003
builds uses $linked -DUSES=5003 "$public/libshared.so"
starts 19 "$public/uses" use calls 19
builds unused $linked -Wl,--no-as-needed "$public/libshared.so"
starts 19 "$public/unused" calls 19

it "--attach inject leaves as much for dlopen() as without it, the resident library 140 bytes less"
for bytes in 797 1523 1567; do
	[ $bytes -lt 1524 ] || ways=inject
	library liblate.so -DBYTES=$bytes
	starts 37 "$public/program" open "$public/liblate.so" calls 37
	grep -q '^loaded$' "$public/plain.out" || no "$bytes bytes: not even without it"
done
ways='resident inject'

it "arguments, comm and GLIBC_TUNABLES are the program's own, also of its children and scripts"
library libsize.so -DBYTES=7001
program=$public/program
script=$public/script
printf '#!%s names\n' "$program" >"$script"
chmod 755 "$script"
for own in '' glibc.malloc.perturb=3:glibc.rtld.nns=5 glibc.rtld.optional_static_tls=997; do
	set -- ${own:+GLIBC_TUNABLES=$own} LD_PRELOAD="$public/libsize.so"
	own=${own:-unset}
	for with in '' "$audit"; do
		run env -i "$@" $with "$program" names a '' 'b  c' exec "$program" names d
		status 0
		lines 1 "^comm program, GLIBC_TUNABLES $own: .* names a  b  c exec $program names d$"
		lines 1 "^comm program, GLIBC_TUNABLES $own: $program names d$"
		run env -i "$@" $with "$script" a 'b  c'
		status 0
		lines 1 "^comm script, GLIBC_TUNABLES $own: $program names $script a b  c$"
	done
done

it "if a program cannot be executed again, the message has the setting with which it starts"
builds needs $linked -Wl,--no-as-needed "$public/libsize.so"
run env "$audit" "$program" only "$public/needs" calls 3
status 127
says 'its libraries need more static TLS than the dynamic linker leaves with LD_AUDIT'
setting=$(sed -n 's/.*(set \(GLIBC_TUNABLES=[a-z._]*=[0-9]*\))$/\1/p' "$tmp/err")
run env "$setting" "$audit" "$program" only "$public/needs" calls 3
status 0
lines 1 '^3 calls$'
silent

long || leave

it "41 libraries with 1,009 bytes each"
libraries=
for i in $(seq 41); do
	library "libmany$i.so" -DBYTES=1009
	libraries="$libraries $public/libmany$i.so"
done
builds many $linked -Wl,--no-as-needed $libraries
starts 17 "$public/many" calls 17
