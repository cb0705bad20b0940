# shellcheck shell=sh disable=SC2154 # the words'
# The tarball of make dist.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
version=$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' common/base/version.h)
tarball=cuda-bpf-tools-$version.tar.xz

if ! { [ -e .git ] && command -v git >/dev/null; }; then
	it "make dist says that it needs git"
	fails 1 'dist: no tarball without git' scripts/dist
	leave
fi

# dist DIR: into that directory
dist() {
	timeout 600 env O="$1" scripts/dist >"$tmp/out" 2>"$tmp/err"
	rc=$?
	status 0
}

it "make dist writes a tarball with all that git has, the revision, a skeleton for each BPF program and the PTX of each probe in kernels"
dist "$tmp/one"
xz -dc "$tmp/one/$tarball" | tar --quoting-style=literal -tf - | sed -n "s|^cuda-bpf-tools-$version/\(.*[^/]\)\$|\1|p" | sort >"$tmp/files"
{
	git -c core.quotePath=false ls-tree -r --name-only HEAD
	echo REVISION
	cat tools/*.c | sed -n 's|^#include "\(.*\)\.skel\.h"$|skel/ARCH/inject/\1.ld skel/ARCH/inject/\1.s skel/ARCH/inject/\1.tables.c|p' | tr ' ' '\n'
	git ls-tree -r --name-only HEAD bpf gpu |
		sed -n 's|^bpf/\([^/]*\)\.bpf\.c$|skel/ARCH/\1.skel.h|p; s|^gpu/\([^/]*\)\.gpu\.c$|skel/\1.ptx|p'
} >"$tmp/names"
for m in arch/*; do
	m=${m#*/}
	[ "$m" != "$machine" ] && [ ! -e "build-$m/.sysroot" ] || sed "s|^skel/ARCH/|skel/$m/|" "$tmp/names"
done | sort -u >"$tmp/expected"
equal "$(diff "$tmp/files" "$tmp/expected")" ''

it "its files are root's, none may be written by others, and no path of the build is in them"
xz -dc "$tmp/one/$tarball" | tar --numeric-owner -tvf - >"$tmp/out"
lines 0 '^.....[w].... |^........w. '
equal "$(awk '{ print $2 }' "$tmp/out" | sort -u)" 0/0
mkdir "$tmp/src"
tar -xf "$tmp/one/$tarball" -C "$tmp/src"
src=$tmp/src/cuda-bpf-tools-$version
for p in "$PWD" "${TMPDIR:-/tmp}/tmp\\."; do
	! grep -rlqe "$p/" "$src/skel" || no "$p"
done

it "the same commit gives the same bytes, whatever the umask"
(umask 077; dist "$tmp/two")
cmp "$tmp/one/$tarball" "$tmp/two/$tarball" >"$tmp/out" 2>&1 || no "$(cat "$tmp/out")"

# a PATH with all but clang and bpftool
mkdir "$tmp/path"
for d in /usr/bin /usr/sbin /bin /sbin; do
	find "$d/" -maxdepth 1 ! -type d ! -name 'clang*' ! -name 'bpftool*' ! -name 'llvm*' -exec ln -sf -t "$tmp/path" {} +
done
without() { run env PATH="$tmp/path" make -C "$src" --no-print-directory O=build BPFTOOL="$tmp/path/bpftool" "$@"; }

it "it builds without clang, bpftool and git, and the tools know the revision"
rm "$tmp/path/git"
timeout 600 env PATH="$tmp/path" make -s -j2 -C "$src" O=build BPFTOOL="$tmp/path/bpftool" all >"$tmp/out" 2>"$tmp/err"
rc=$?
status 0
lines 0 '^  BPF'
run "$src/build/cudaleak" -V
lines 1 "^revision $(git describe --always --tags --abbrev=12), "

it "a tool that was built so works"
run "$src/build/cudamallocsnoop" -qj -c "$bin/mem malloc 23 4096 free 7"
status 0
json 30 '.layer == "runtime"'
silent

it "a second make does nothing"
without -q all
status 0
[ "$rc" = 0 ] || { without -n all; lines 0 .; }	# says what it would do

it "a skeleton that is older than its sources is refused"
touch "$src/bpf/lib/cuda.bpf.h"
without all
status 2
says 'bpf/lib/cuda.bpf.h: newer than skel/'
says 'install clang and bpftool'
