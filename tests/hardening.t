# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # objdump's; rc: the words'
# How the tools are compiled and linked, read from what was built: scripts/harden.mk.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CFLAGS LDFLAGS HARDEN
tools=$(basename -s .c tools/*.c)
object=common/base/escape.o
# compile ARGUMENT...: that object elsewhere
compile() {
	rm -rf "$tmp/o"
	run make -s "O=$tmp/o" "$@" "$tmp/o/$object"
	status 0
	! grep -v '^  [A-Z]' "$tmp/err" >"$tmp/warned" || no "$*: $(head -n 1 "$tmp/warned")"
}
# calls REGEX: what the object calls
calls() { readelf -sW "$tmp/o/$object" | grep -qE "UND $1\$"; }

case $(basename "$O") in sanitize) leave ;; esac

for t in $tools; do
	it "$t is position-independent, bound and made read-only before it starts, and its stack cannot be run"
	readelf -hldW "$O/$t" >"$tmp/out"
	lines 1 '^ *Type: +DYN'
	lines 1 'FLAGS\).*BIND_NOW'
	lines 1 'FLAGS_1\).*NOW PIE'
	lines 1 '^ *GNU_RELRO'
	lines 1 '^ *GNU_STACK .* RW  '

	it "$t guards its stack and the C library's copies"
	readelf --dyn-syms -W "$O/$t" >"$tmp/out"
	lines 1 'UND __stack_chk_fail@'
	lines 1 'UND __vsnprintf_chk@'
done

it "each flag is passed, also those that some compilers and linkers have by default"
run make -n "O=$tmp/n" all
grep -- ' -c tools/cudaleak\.c' "$tmp/out" >"$tmp/compile"
grep -- "libcommon.a .* -o $tmp/n/cudaleak" "$tmp/out" >"$tmp/link"
for flag in -fstack-protector-strong -fstack-clash-protection -fcf-protection -fPIE \
	'-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3'; do
	grep -qe "$flag" "$tmp/compile" || no "no $flag"
done
for flag in -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack; do
	grep -qe " $flag " "$tmp/link" || no "no $flag"
done

it "every object is ready for CET"
find "$O/tools" "$O/common" -name '*.o' -exec readelf -n {} + | awk '/^File: / { o = $2; objects[o] }
	/x86 feature: IBT, SHSTK/ { delete objects[o] }
	END { for (o in objects) print o }' >"$tmp/out"
lines 0 .

it "a tool has CET if what it is linked with has"
# Debian 12's Scrt1.o and crti.o have not, nor have libbpf's, libelf's and zlib's archives
for start in Scrt1.o crti.o crtn.o; do
	readelf -n "$(${CC:-cc} -print-file-name=$start)" | grep -q 'IBT, SHSTK' || echo $start
done >"$tmp/without"
if [ -s "$tmp/without" ]; then
	skip "the C library's $(paste -sd' ' "$tmp/without") have not"
else
	for t in $tools; do
		readelf -n "$O/$t" | grep -q 'IBT, SHSTK' || no "$t has not"
	done
fi

it "a large frame is touched page by page"
objdump -d "$O/tools/cudabt/bt_files.o" >"$tmp/out"
grep -qE 'or[bql] +\$0x0,' "$tmp/out" || no "it is not"

it "HARDEN= leaves it out"
compile HARDEN=
! calls '__[a-z_]+_chk(_fail)?' || no "it is there"

it "a flag that the compiler does not know is left out, and no other"
cat >"$tmp/cc" <<'END'
#!/bin/sh
case " $* " in *' -fcf-protection '*) echo 'unknown: -fcf-protection' >&2; exit 1 ;; esac
exec cc "$@"
END
chmod +x "$tmp/cc"
compile "CC=$tmp/cc"
calls __stack_chk_fail || no "no stack protector"

long || leave

it "CFLAGS leave the hardening in place, and FORTIFY out where it can do nothing"
compile
calls __stack_chk_fail || no "by default no stack protector"
calls '__[a-z]+_chk' || no "by default no FORTIFY"
run make -n "O=$tmp/o" -W common/base/escape.c "$tmp/o/$object"
lines 1 -D_FORTIFY_SOURCE=3
compile CFLAGS='-g -O0'
calls __stack_chk_fail || no "-O0: no stack protector"
! calls '__[a-z]+printf_chk' || no "-O0: FORTIFY"
compile CFLAGS='-O2 -Wp,-D_FORTIFY_SOURCE=2 -fno-stack-protector'
calls '__[a-z]+_chk' || no "a distribution's FORTIFY is lost"
! calls __stack_chk_fail || no "a distribution's -fno-stack-protector is lost"
compile CFLAGS='-O1 -fsanitize=address'
! calls '__[a-z]+printf_chk' || no "sanitizer: FORTIFY"
