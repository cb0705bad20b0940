# shellcheck shell=sh disable=SC2154 # the words'
# The BPF programs as the oldest and the newest clang compile them, which scripts/clangs fetches: the kernel's
# verifier takes them or not by how they are compiled.  CLANGS: of these versions in place of them.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# built VERSION: the tools with that clang's BPF objects, in $made; what has none in it is built already
built() {
	made=$O/clangs/built-$1
	rm -rf "$made"
	mkdir -p "$made"
	cp -a "$O"/common "$O"/tools "$O"/*.def "$made"
	grep -lE '^#include "[a-z]+\.skel\.h"$' tools/*.c common/*/*.c | while read -r source; do rm -f "$made/${source%.c}.o"; done
	run make -s -j2 "O=$made" "CLANG=${CLANGS_CACHE:-$O/clangs}/clang-$1" all
	status 0
}

# loads KIND TOOL [OPTION...]: the kernel takes the tool's programs; without a function to probe, as perf's
# probes take their time to be taken out
loads() {
	kind=$1 tool=$2
	shift 2
	run "$made/$tool" --attach "$kind" "$@" -q -c true
	[ "$rc" -eq 0 ] || no "$tool --attach $kind $*: status $rc"
	! grep -q 'cannot load' "$tmp/err" || no "$tool --attach $kind $*: $(grep -m 1 'cannot load' "$tmp/err")"
}

for version in ${CLANGS:-14 22}; do
	it "clang $version: it is had"
	why_not=$(scripts/clangs "$version" 2>"$tmp/err")
	if [ -n "$why_not" ]; then
		skip "$why_not"
		continue
	fi

	it "clang $version: every tool is built with it, without a warning"
	built "$version"
	[ ! -s "$tmp/err" ] || no "$(head -n 2 "$tmp/err")"
	for source in bpf/*.bpf.c; do
		grep -aq "clang version $version\." "$made/$(basename "$source" .c).o" ||
			no "$source is of another compiler"
	done

	it "clang $version: the probes that run in kernels can be put into PTX for the oldest GPU"
	sed 's/^\.version .*/.version 6.3/; s/^\.target .*/.target sm_75/' tests/ptx/operands.ptx >"$tmp/in.ptx"
	for source in gpu/*.gpu.c; do
		probe=$made/$(basename "$source" .gpu.c).ptx
		run "$bin/ptxrw" --probe "$probe" -S all --op all --limit 64 "$tmp/in.ptx" "$tmp/new.ptx"
		status 0
		[ ! -x "${CUDA:-/usr/local/cuda}/bin/ptxas" ] || run "${CUDA:-/usr/local/cuda}/bin/ptxas" -arch=sm_75 "$tmp/new.ptx" -o /dev/null
		status 0
	done

	it "clang $version: they count calls"
	run "$made/cudamallocsnoop" -jkc "$bin/mem malloc 23 4096 free 7"
	json 23 '.op == "alloc"'
	json 7 '.op == "free"'

	for kind in session multi perf; do
		it "clang $version: the kernel takes the programs of every tool, --attach $kind"
		for source in tools/*.c; do
			tool=$(basename "$source" .c)
			grep -q '^#include ".*\.skel\.h"$' "$source" || continue
			case $tool in
			cudaexporter)
				loads "$kind" "$tool" --once
				loads "$kind" "$tool" --web.listen-address 127.0.0.1:0 --kernels 3 --exemplars --collect.off-cpu
				continue ;;
			cudaleak) loads "$kind" "$tool" -C ;;
			ncclhang) loads "$kind" "$tool" -a ;;
			nccltop) loads "$kind" "$tool" -b ;;
			cudatop) loads "$kind" "$tool" --once ;;
			*) loads "$kind" "$tool" -k ;;
			esac
			loads "$kind" "$tool"
		done
	done
	rm -rf "$made"
done
