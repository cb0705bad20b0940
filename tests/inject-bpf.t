# shellcheck shell=sh disable=SC2154 # rc: the words'
# The BPF programs as the traced program runs them: agent/bpf, tests/unit/inject_bpf.c, scripts/gen_inject.
# built for another machine than this: scripts/check-emulated
objdump=objdump
case $(readelf -h "$bin/inject-clock") in
*AArch64*) elf=arm64; ! command -v aarch64-linux-gnu-objdump >"$tmp/out" || objdump=aarch64-linux-gnu-objdump ;;
*) elf=x86 ;;
esac
libraries=$(find "$O/inject" -maxdepth 1 -name '*.so' | sort)

it "there is a library for each tool with probes of its own, and the resident one"
grep -H '^#include ".*\.skel\.h"$' tools/*.c | sed -E 's|^tools/(.*)\.c:#include "(.*)\.skel\.h"$|\1 \2|' >"$tmp/tools"
equal "$libraries" "$(awk -v in_="$O/inject/" '{ print in_ $1 ".so" } END { print in_ "resident.so" }' "$tmp/tools" | sort)"

it "a library has its tool's name, and the programs that the tool's skeleton has"
while read -r tool object; do
	strings "$O/inject/$tool.so" >"$tmp/strings"
	{ echo "$tool"; sed -nE 's/.*->name = "([a-z_]+)";$/\1/p' "$O/$object.skel.h" | grep -vE '^(LICENSE|.*_bpf)$'; } |
		grep -vxFf "$tmp/strings" >"$tmp/out" && no "$tool: no $(tr '\n' ' ' <"$tmp/out")"
done <"$tmp/tools"

for so in $libraries; do
	it "$(basename "$so") needs no other library, touches no vector register, and exports as little as it can"
	readelf -dW "$so" >"$tmp/out"
	lines 0 NEEDED
	$objdump -d --no-show-raw-insn --no-addresses "$so" >"$tmp/out"
	[ "$(wc -l <"$tmp/out")" -gt 10000 ] || no "$objdump does not disassemble it"
	lines 0 '%([xyz]mm|st|k)[0-9]|[[:space:],{[][bhsdqvz][0-9]{1,2}($|[],} .])'	# x86-64's, arm64's
	nm -D --defined-only "$so" | awk '$2 ~ /^[A-Z]$/ && $NF !~ /^(la_|inject_run$|inject_instance$)/' >"$tmp/out"
	lines 0 .
	readelf -lW "$so" >"$tmp/out"
	lines 0 'RWE|TEXTREL'
	lines 1 '^ *GNU_RELRO'
	# a C library has little static thread-local storage for libraries of LD_AUDIT, and resident.so has the tools'
	most=$(sed -n 's/.*INSTANCE_TLS = \([0-9]*\).*/\1/p' agent/inject/instance.h)
	case $so in */resident.so) most=$((most + 16)) ;; esac
	[ $(($(awk '$1 == "TLS" { print $6 }' "$tmp/out"))) -le "$most" ] || no "thread-local: $(grep TLS "$tmp/out")"
done

it "calls are counted in the memory of the real BPF object, by any number of threads; no address is read that cannot be"
run "$bin/inject-bpf"
status 0
lines 1 '^0 failures$'
silent

it "their clock is the kernel's, which is seldom asked where it is the processor's counter"
run "$bin/inject-clock" 0
status 0
lines 1 '^0 wrong$'
lines 1 '^always asked$'
silent
if [ $elf = x86 ] && grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource; then
	run "$bin/inject-clock"
	status 0
	lines 1 '^0 wrong$'
	lines 1 '^seldom asked$'
	silent
fi

# checked [SED]: what the check says of a BPF object whose symbols are listed so
checked() {
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/readelf" <<-END
		#!/bin/sh
		$(command -v readelf) "\$@" | case \$2 in *.bpf.o) sed "$1" ;; *) cat ;; esac
	END
	chmod +x "$tmp/bin/readelf"
	run env PATH="$tmp/bin:$PATH" scripts/gen_inject check "$O/cudaleak.bpf.o" "$O/inject/cudaleak.programs.o" "$O/inject/cudaleak.so" 4096
}

it "a variable that is not where the BPF object has it, or is of another size, is an error of the build"
if [ -e "$O/cudaleak.bpf.o" ]; then
	checked ''
	status 0
	checked '/ lost$/s/ 104 / 112 /'
	status 1
	says 'lost: 104 bytes, 112 in the BPF object'
	checked '/ share_users$/s/\(: \)0*\([0-9a-f]\)/\1fff\2/'
	status 1
	says 'share_users: not where the BPF object has it'
	checked '/ share_users$/d'
	status 1
	says 'share_users: not in the BPF object'
else
	skip "built without BPF objects"
fi
