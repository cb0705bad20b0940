# shellcheck shell=sh disable=SC2154 # the words'
# Names of functions are made by libiberty, which common/sym/demangle.c leaves, when it takes too long,
# by a jump out of a signal handler.
light

it "libiberty allocates nothing that such a jump would leave"
# shellcheck disable=SC2086 # words or none: with what libcommon.a is built
${CC:-cc} ${SANITIZE:-} -std=gnu11 -D_GNU_SOURCE -O1 -fno-builtin -iquote common tests/unit/demangle.c "$O/libcommon.a" \
	-lbpf -ldw -lelf -lz -liberty -o "$tmp/demangle" || no 'it cannot be built'
# what a C++ program may have, and what was made to be hard
nm -D --format=posix "$(${CXX:-c++} -print-file-name=libstdc++.so.6)" | sed 's/[ @].*//' >"$tmp/symbols"
run "$tmp/demangle" "$tmp/symbols" tests/fuzz/corpus/symbol/*
status 0
json 1 '.symbols > 5000 and .whole > 5000 and .late > 0 and .too_long > 0' 1 '.allocations == 0'

it "an allocation there would be seen"
run "$tmp/demangle" -a "$tmp/symbols"
status 0
json 1 '.allocations > .symbols'

it "symbols of Rust are named as in the source: v0, with generics, closures, back references, constants, Punycode; and legacy"
grep -v '^#' tests/unit/rust-names.tbl >"$tmp/table"
cut -f1 "$tmp/table" >"$tmp/symbols"
"$bin/rust-names" -c <"$tmp/symbols" >"$tmp/out" 2>"$tmp/err"
lines 73 .
cut -f2 "$tmp/table" >"$tmp/names"
cut -f1 "$tmp/out" | diff - "$tmp/names" >"$tmp/differ" || no "$(head -n 4 "$tmp/differ")"

it "libiberty, where it has a name for them, has the same one, but for what it leaves out or escapes"
awk -F '\t' '$2 != "-" && $1 != $2' "$tmp/out" >"$tmp/differ"
equal "$(wc -l <"$tmp/differ")" 4
equal "$(grep -cE "foo.cold|0x123456789abcdef01|'∂'|punycode{000}" "$tmp/differ")" 4
equal "$(awk -F '\t' '$2 != "-"' "$tmp/out" | wc -l)" 44

it "symbols of the installed Rust have the same names as libiberty's"
rust=$(rustc --print sysroot 2>/dev/null) && std=$(find "$rust/lib" -name 'libstd-*.so' | head -n 1)
if [ -n "${std:-}" ]; then
	nm --format=posix -D "$std" | awk '/^_R/ { print $1 }' | head -n 20011 >"$tmp/symbols"
	"$bin/rust-names" -c <"$tmp/symbols" >"$tmp/out" 2>"$tmp/err"
	equal "$(awk -F '\t' '$1 != $2' "$tmp/out" | wc -l)" 0
else
	skip "no rustc here"
fi

it "hostile symbols of Rust take less than 20 ms, and no more than 4 KiB"
awk 'function times(s, n,   r) { while (n-- > 0) r = r s; return r }
	BEGIN {
		print "_RIC0" times("T", 50000)
		print "_RIC0" times("R", 50000) "h"
		print "_R" times("Nv", 50000)
		print "_RINvC00TB5_B5_EE\n_RNvB_0\n_RIB_B_E\n_RXB_B_B_\n_RNvIB_hE0"	# each within itself
		print "_RMC0FGzzzzzzzzzz_Eu\n_RMIC0FGzzzzzzzzzz_EuEh"			# 2^59 lifetimes
		print "_RNvC3appu60000_" times("a", 60000)
		print "_RIC0" times("TB2_B2_E", 1009) "E"
		print "_RIC0TTTTThEEEEE" times("TB3_B3_B3_B3_B3_B3_B3_B3_E", 1009) "E"
	}' >"$tmp/symbols"
"$bin/rust-names" <"$tmp/symbols" >"$tmp/out" 2>"$tmp/err"
lines 13 .
lines 1 '^<u8>	-$'
equal "$(awk 'length($0) > 4096' "$tmp/out" | wc -l)" 0
[ "$(cat "$tmp/err")" -lt 20000 ] || no "$(cat "$tmp/err") us"

it "functions of a Rust program have their names in stacks as text, JSON and folded, and in profiles"
replayed cudamallocsnoop -kjc "$bin/rust 3"
json 3 '[.stack[].sym][:5] == ["app::has_no_hash(int)","core::fmt::pad","<app::Pool as app::Grow>::grow","app::leak","main"]'
replayed cudaleak -qc "$bin/rust 3"
lines 1 '^        app::leak\+0x'
lines 1 '^        <app::Pool as app::Grow>::grow\+0x'
lines 0 '_R|_ZN|\$|17h'
replayed cudaleak -q --folded -c "$bin/rust 3"
lines 1 ';app::leak;<app::Pool as app::Grow>::grow;core::fmt::pad;'
replayed cudaleak -q --pprof "$tmp/pprof" -c "$bin/rust 3"
zcat "$tmp/pprof" >"$tmp/out"
lines 1 '<app::Pool as app::Grow>::grow'

it "of long names of templates text has no arguments, and then no parameters: operators and namespaces stay; JSON has the whole name"
cat >"$tmp/long.cpp" <<'END'
#include <map>
#include <string>
extern "C" int cudaMalloc(void **, unsigned long);
namespace {
using table = std::map<std::string, std::map<std::string, std::string>>;
template <class T> struct maker {
	template <class F> __attribute__((noinline)) int operator()(F f, T *)
	{
		int r = cudaMalloc(f(), 4096);
		__asm__ volatile("");
		return r;
	}
	__attribute__((noinline)) bool operator<(const maker &) const
	{
		void *p;
		bool r = cudaMalloc(&p, 64);
		__asm__ volatile("");
		return r;
	}
};
}
int main() { static void *p; maker<table> m; m([] { return &p; }, nullptr); return m < m; }
END
# shellcheck disable=SC2086 # words
${CXX:-c++} -O1 "$tmp/long.cpp" -o "$tmp/long" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" || no "it does not build"
replayed cudatrace -qk -e cudaMalloc -c "$tmp/long"
lines 1 '^        int \(anonymous namespace\)::maker<\.\.\.>::operator\(\)<\.\.\.>\(main::\{lambda\(\)#1\}, std::map<\.\.\.>\*\)\+0x'
lines 1 '^        \(anonymous namespace\)::maker<\.\.\.>::operator<\(\(anonymous namespace\)::maker<\.\.\.> const&\) const\+0x'
replayed cudatrace -qkj -e cudaMalloc -c "$tmp/long"
json 2 '.stack[0].sym | length > 300 and (contains("...") | not)'

it "kernels of a Rust program have their names"
replayed cudalaunchtop -jqc "$bin/launches called _RINvCs4fqI2P2rA04_3app4fillfE 3 called _ZN3app5scale17h0123456789abcdefE 5"
json 1 '.kernel == "app::fill::<f32>" and .launches == 3' \
	1 '.kernel == "app::scale" and .launches == 5'
