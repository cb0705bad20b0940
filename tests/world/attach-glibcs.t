# shellcheck shell=sh disable=SC2086,SC2154 # lists of words; rc: the words'
# --attach inject with other C libraries than this machine's: programs that are linked with those of Debian's releases, which
# scripts/pythons fetches with its interpreters: 2.31 (bullseye), 2.36, 2.41, and sid's.
cache=${PYTHONS_CACHE:-$O/pythons}
work=$tmp/work
mkdir "$work" && chmod 755 "$tmp" "$work"

cat >"$work/cuda.c" <<'EOF'
int cudaMalloc(void **p, unsigned long n) { *p = (void *)(n + 4096); return 0; }
int cudaMallocHost(void **p, unsigned long n) { *p = (void *)(n + 4096); return 0; }
int cudaFree(void *p) { return p == (void *)1; }
EOF
# without the start files of this machine's C library
cat >"$work/program.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
int cudaMalloc(void **p, unsigned long n);
int cudaMallocHost(void **p, unsigned long n);
extern int puts(const char *s);
int (*const by_data)(void **p, unsigned long n) = cudaMallocHost;
int main(void)
{
	int (*by_name)(void *p) = (int (*)(void *))dlsym(RTLD_DEFAULT, "cudaFree");
	void *p;

	for (int i = 0; i < 23; i++)
		cudaMalloc(&p, 64);
	for (int i = 0; i < 7; i++)
		by_data(&p, 64);
	for (int i = 0; i < 13; i++)
		by_name(p);
	puts("done");
	return 0;
}
__asm__(".globl _start\n"
	"_start: xor %ebp, %ebp\n\tmov (%rsp), %rsi\n\tlea 8(%rsp), %rdx\n\tand $-16, %rsp\n\tlea main(%rip), %rdi\n"
	"xor %ecx, %ecx\n\txor %r8d, %r8d\n\txor %r9d, %r9d\n\tpush %rax\n\tpush %rsp\n"
	"call *__libc_start_main@GOTPCREL(%rip)\n\thlt\n");
EOF

# linked LIBRARIES OPTION...: $work/program, with the C library in that directory
linked() {
	libraries=$1
	shift
	more=
	[ ! -e "$libraries/libdl.so.2" ] || more=$libraries/libdl.so.2
	$CC -w -O1 -fPIC "$@" -nostartfiles -nostdlib "$work/program.c" "$work/libcudart.so.13" $more "$libraries/libc.so.6" \
		-Wl,--dynamic-linker="$libraries/ld-linux-x86-64.so.2" -Wl,-rpath,"$work:$libraries" -o "$work/program"
}

$CC -shared -fPIC -nostdlib -Wl,-soname,libcudart.so.13 "$work/cuda.c" -o "$work/libcudart.so.13"
$CC -shared -fPIC -O1 -nostdlib -DBYTES=7001 tests/workloads/static_tls.c -o "$work/libsize.so"
for which in this-machine: bullseye:3.9 bookworm:3.11 trixie:3.13 sid:3.14; do
	root=${which#*:}
	there=${root:+$cache/$root/usr}/lib/x86_64-linux-gnu
	[ -z "$root" ] || [ -e "$there/libc.so.6" ] || scripts/pythons "$root" >"$tmp/fetched" 2>&1
	it "the C library of ${which%:*}: functions bound lazily and at once, by data, by dlsym()"
	if ! [ -e "$there/libc.so.6" ] || ! $unprivileged test -r "$there/libc.so.6"; then
		skip "no such C library here"
		continue
	fi
	for options in '-pie -Wl,-z,lazy' '-pie -Wl,-z,now' '-no-pie -Wl,-z,lazy' '-no-pie -Wl,-z,now'; do
		linked "$there" $options || { no "it cannot be linked"; break; }
		run cudatrace --attach inject -jS -e memory -- "$work/program"
		status 0
		lines 1 '^done$'
		for calls in cudaMalloc:23 cudaMallocHost:7 cudaFree:13; do
			lines 1 "\"func\":\"${calls%:*}\",.*\"calls\":${calls#*:},"
		done
		silent
	done

	it "the C library of ${which%:*}: a library with 7,001 bytes of static TLS"
	if [ "${which%:*}" = bullseye ]; then
		skip "glibc 2.31 has no tunable for it"
		continue
	fi
	linked "$there" -pie || { no "it cannot be linked"; continue; }
	run env LD_PRELOAD="$work/libsize.so" cudatrace --attach inject -jS -e memory -- "$work/program"
	status 0
	lines 1 '^done$'
	lines 1 '"func":"cudaMalloc",.*"calls":23,'
	silent
done
