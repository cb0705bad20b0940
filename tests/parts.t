# shellcheck shell=sh disable=SC2016,SC2154 # Markdown; the words'
# What each tool is linked with, and what make builds and installs of some tools: make TOOLS=..., make EXPORTER=no.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
tools=$(basename -s .c tools/*.c)

for t in $tools; do
	readelf -dW "$O/$t" | sed -n "s/.*(NEEDED).*\[lib\(.*\)\.so.*\]/\1 $t/p"
done >"$tmp/linked"
# named: without those of new-tool
named() { while read -r t; do ! grep -qw "$t" README.md || echo "$t"; done; }
# of LIBRARY...: the tools that need one of them
of() { for l; do awk -v l="$l" '$1 == l { print $2 }' "$tmp/linked"; done | sort -u; }

it "no tool is linked with a library that it does not need"
equal "$(of microhttpd gnutls yaml-0 seccomp crypt)" cudaexporter
equal "$(of jansson)" ncclhang
equal "$(of zstd lz4)" cudamemtime
equal "$(of ncursesw tinfo | named)" 'cudalaunchtop
cudaleak
cudatop
nccltop'
for t in $tools; do if [ "$t" = cudaexporter ] || "$t" --help | grep -q -- ' --pprof FILE'; then echo "$t"; fi; done >"$tmp/pprof"
equal "$(of protobuf-c)" "$(cat "$tmp/pprof")"
equal "$(awk '{ print $1 }' "$tmp/linked" | sort -u | grep -vxE 'bpf|dw|elf|z|c|microhttpd|gnutls|yaml-0|seccomp|crypt|jansson|zstd|lz4|ncursesw|tinfo|protobuf-c')" ''

it "README.md says which library which tool needs"
# row LIBRARY: the tools of its row
row() { sed -n "s/^| $1[ ,|].*| //p" README.md | grep -oE '`(cuda|nccl)[a-z]+`' | tr -d '`' | sort; }
equal "$(row ncurses)" "$(of ncursesw | named)"
equal "$(row protobuf-c)" "$(of protobuf-c | named)"
equal "$(row jansson)" "$(of jansson)"
equal "$(row zstd)" "$(grep -lE '^#include "gpuprobe/' tools/*.c tools/*/*.c | sed -E 's|tools/||; s|[/.].*||' | sort -u | named)"
equal "$(row libmicrohttpd)" "$(of microhttpd)"

# would WORD...: the commands with which make would build all from the beginning, in the same words on each machine
would() {
	run make -n V=1 "O=$tmp/o" "$@" all
	sed -i '/json-schema/d' "$tmp/out"	# it is of all tools
}
# compiled: the sources among them
compiled() { grep -oE ' -c [a-z0-9_/.]+\.c ' "$tmp/out" | sort -u | cut -d' ' -f3; }
# includes HEADER...: which of these libraries' headers they include
includes() { compiled | xargs cat | sed -nE 's|^#include <([a-z0-9_-]+)[/.].*|\1|p' | sort -u | grep -xE "$1"; }
some='microhttpd|gnutls|yaml|seccomp|crypt|jansson|zstd|lz4|curses'

it "make EXPORTER=no builds the other tools, and needs no library of cudaexporter's"
would EXPORTER=no
status 0
lines 0 'microhttpd|gnutls|yaml|-lseccomp|-lcrypt|tools/cudaexporter|/cudaexporter\b'
for t in $tools; do [ "$t" = cudaexporter ] || grep -q -- "-o $tmp/o/$t\$" "$tmp/out" || no "no $t"; done
equal "$(includes "$some")" 'curses
jansson
lz4
zstd'

it "make TOOLS='cudaleak cudalaunchtop' builds these, their probes and what is in all programs"
would TOOLS='cudaleak cudalaunchtop'
status 0
lines 0 'gpuprobe\.so|ptxas|agent/gpuprobe|nccl\.bpf|export\.bpf|tools/(cudatop|nccl|cudaexporter|cudamem)|jansson|zstd|lz4|microhttpd'
grep -oE -- "-o $tmp/o/[^.]*(\.so)?\$" "$tmp/out" | sed "s|.*$tmp/o/||" | sort >"$tmp/made"
equal "$(cat "$tmp/made")" 'cudalaunchtop
cudaleak
inject/cudalaunchtop.so
inject/cudaleak.so
inject/resident.so
libcudagputime.so'
equal "$(includes "$some")" curses

it "a tool with neither screen, profile nor probes in kernels needs no library for them, nor protoc-c"
would TOOLS=ncclhang
status 0
equal "$(includes "$some")" jansson
lines 0 'curses|protobuf|protoc|zstd|lz4|libcudagputime|libcudagpuprobe'

it "a tool that is not there is named"
fails 2 "TOOLS: 'cudasnoop': no such tool" make -n "O=$tmp/o" TOOLS='cudaleak cudasnoop'

# installed WORD...: what make installs of what is built, but shell completion, in $tmp/out
installed() {
	rm -rf "$tmp/dest"
	run make -s "O=$O" "DESTDIR=$tmp/dest" PREFIX=/usr "$@" install
	status 0
	(cd "$tmp/dest/usr" && find . ! -type d) | sed 's|^\./||' | grep -vE 'completion|fish|zsh|man8' | sort >"$tmp/out"
}

it "make install TOOLS=... installs these tools, and what they load into programs"
installed TOOLS='cudaleak nccltop'
equal "$(cat "$tmp/out")" 'bin/cudaleak
bin/nccl-top
bin/nccltop
lib/cuda-bpf-tools/inject/cudaleak.so
lib/cuda-bpf-tools/inject/nccltop.so
lib/cuda-bpf-tools/inject/resident.so
share/cuda-bpf-tools/json-schema.json
share/man/man7/cuda-bpf-tools.7'
installed TOOLS=cudamemtime
equal "$(cat "$tmp/out")" 'bin/cudamemtime
lib/cuda-bpf-tools/cudagpuprobe-ptxas
lib/cuda-bpf-tools/cudagpuprobe-ptxas-blackwell
lib/cuda-bpf-tools/libcudagpuprobe.so
share/cuda-bpf-tools/json-schema.json
share/man/man7/cuda-bpf-tools.7'
installed EXPORTER=no
lines 0 'exporter|prometheus'
lines 1 '^bin/cudatop$'

long || leave

it "two of them are built where the others' headers and libraries are missing"
mkdir "$tmp/without"
for h in microhttpd.h gnutls/gnutls.h gnutls/x509.h gnutls/crypto.h yaml.h seccomp.h crypt.h jansson.h zstd.h lz4.h \
	protobuf-c/protobuf-c.h; do
	mkdir -p "$tmp/without/$(dirname $h)"
	echo "#error $h" >"$tmp/without/$h"
done
for l in microhttpd gnutls yaml seccomp crypt jansson zstd lz4 protobuf-c; do
	echo "ASSERT(0, lib$l)" >"$tmp/without/lib$l.so"
done
run make -s -j2 "O=$tmp/o" TOOLS='cudatop nccltop' PROTOC_C=false CFLAGS="-O0 -I$tmp/without" LDFLAGS="-L$tmp/without" all
status 0
run "$tmp/o/cudatop" --version
lines 1 '^cudatop '
