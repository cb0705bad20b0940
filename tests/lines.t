# shellcheck shell=sh disable=SC2086,SC2154 # words, of lib.sh too
# Source lines and inlined functions of native frames, against addr2line; functions of stripped files.
light

chmod 755 "$tmp"
prog=$tmp/inlined

# build FLAG...: the program
build() {
	rm -f "$prog"
	${CXX:-g++} -std=gnu++17 -D_GNU_SOURCE -w -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-Wl,--build-id "$@" tests/workloads/inlined.cpp "$lib/libcudart.so.13" "$lib/libcuda.so.1" \
		-Wl,-rpath,"$lib" -o "$prog" || no "it cannot be built"
	chmod 755 "$prog"
	cp "$prog" "$tmp/with"	# with everything, for addr2line
}

# split: takes the debug information out of the program, into $tmp/debug; $path: where that belongs
split() {
	objcopy --only-keep-debug "$prog" "$tmp/debug"
	strip "$prog"
	path=$(readelf -n "$prog" | sed -nE 's|.*Build ID: (..)(.*)|.build-id/\1/\2.debug|p')
}

# of_tool: what it says of each frame in the program but _start, which has no debug information, "FUNCTION FILE:LINE"
of_tool() {
	jq -r --arg p "$prog" '.stack[] | select(.file == $p and .sym != "_start") | "\(.sym) \(.source):\(.line)"' "$tmp/out"
}
# of_addr2line: the same for the frames that are no inlined ones, by their symbols and offsets
of_addr2line() {
	jq -r --arg p "$prog" '.stack[] | select(.file == $p and .sym != "_start" and (.inlined | not)) |
		"\(.sym | sub("\\(.*"; "")) \(.off)"' "$tmp/out" |
	while read -r sym off; do
		at=$(nm -C "$tmp/with" | awk -v s="$sym" '{ n = $0; sub(/^[^ ]+ . /, "", n); sub(/\(.*/, "", n) }
			n == s { print $1; exit }')
		addr2line -Cife "$tmp/with" "$(printf '0x%x' $((0x$at + off - 1)))"
	done | sed 's/ (discriminator .*//' | paste -d' ' - -
}
# as_addr2line WORD: the frames are those of addr2line, and there are inlined ones.  The tool is run, or replayed
as_addr2line() {
	$1 cudamallocsnoop -jk --lines -c "$prog"
	status 0
	silent
	of_tool >"$tmp/tool"
	of_addr2line >"$tmp/addr2line"
	diff "$tmp/tool" "$tmp/addr2line" >"$tmp/diff" || no "$(grep '^[<>]' "$tmp/diff" | head -n 4 | tr '\n' ' ')"
	equal "$(wc -l <"$tmp/tool")" 25
}

# $tmp/inside DIR COMMAND...: with DIR's content in /usr/lib/debug and nothing else there
cat >"$tmp/inside" <<'END'
#!/bin/sh
exec unshare -m sh -c 'mount -t tmpfs -o mode=755 none /usr/lib/debug && cp -a "$1/." /usr/lib/debug && shift &&
	exec "$@"' sh "$@"
END
chmod 755 "$tmp/inside"
mkdir "$tmp/d"
if ! mkdir -p /usr/lib/debug || ! "$tmp/inside" "$tmp/d" true 2>/dev/null; then
	it "separate debug files"
	skip "no mount namespaces here"
	spaces=
else
	spaces=yes
fi

for flags in '' -gdwarf-4 -gz ${LONG:+-g3 -O3}; do
	it "the lines and inlined functions are those of addr2line: -O2 $flags"
	build $flags
	as_addr2line replayed
done

it "without .debug_aranges, as clang leaves it out, they are as well"
build
objcopy --remove-section .debug_aranges "$prog"
as_addr2line replayed

it "text, folded, and what is said where nothing is known"
build
replayed cudamallocsnoop -k --lines -c "$prog"
lines 5 '^        device::allocate\(unsigned long\) \(inlined\) \(/.*/inlined\) at inlined\.h:12$'
lines 3 '^        int many<int>\(int\) \(inlined\) \(/.*\) at inlined\.h:24$'
lines 5 '^        allocate_all \(inlined\) \(/.*\) at inlined\.cpp:1[46]$'
lines 5 '^        step\(\)\+0x[0-9a-f]+ \(/.*\) at inlined\.cpp:21$'
replayed cudaleak --lines --folded -c "$prog"
lines 1 ';main;step\(\);allocate_all_\[i\];int many<int>\(int\)_\[i\];device::allocate\(unsigned long\)_\[i\];\[device\] 12288$'
strip "$prog"
replayed cudamallocsnoop -jk --lines -c "$prog"
json 5 '.stack[0] | .sym == null and .source == null and .line == null' 0 'any(.stack[]; .inlined)'

if long; then
	it "every tool that has call stacks has the lines"
	build
	for words in 'cudaleak -j' 'cudamemcpysize -jk copy' 'cudasynclatency -jk wait' 'cudalaunchtop -jk launch' 'cudatrace -jk copy'; do
		arg=${words##* }
		[ "$arg" != -j ] || arg=copy
		run ${words% [a-z]*} --lines -c "$prog $arg"
		jq -se "any(.[]; .stack? // [] | any(.inlined and (.source | endswith(\"inlined.cpp\")) and .sym == \"call\"))" \
			"$tmp/out" >/dev/null || no "$words: no lines"
	done
fi

it "--lines gives call stacks without -k; every frame has the same keys, and others only with --lines"
build
replayed cudamallocsnoop -j --lines -c "$prog"
json 5 '.stack | length > 0 and all(keys == ["file", "inlined", "kind", "line", "off", "source", "sym"])' \
	5 '.stack | any(.inlined and .off == null) and all(.kind == "native" and (.inlined | type) == "boolean")'
replayed cudamallocsnoop -jk -c "$prog"
json 5 '.stack | length > 0 and all(keys == ["file", "kind", "line", "off", "sym"])'

it "--lines without native frames, or without call stacks, is refused"
fails 2 '--stack python has no native frames' cudamallocsnoop --stack python --lines -c true
fails 2 '--totals cannot be combined with' cudaleak -C --lines -c true

if [ "$spaces" ]; then
	it "functions of a stripped program are named by its debug file, and lines are those of addr2line"
	build
	split
	mkdir -p "$tmp/d/${path%/*}"
	cp "$tmp/debug" "$tmp/d/$path"
	run cudamallocsnoop -jk -c "$prog"
	json 5 '.stack[0].sym == null'
	run "$tmp/inside" "$tmp/d" cudamallocsnoop -jk -c "$prog"
	json 5 '.stack[0].sym == "step()" and .stack[1].sym == "main"'
	mkdir "$tmp/bin"
	printf '#!/bin/sh\nexec %s %s %s "$@"\n' "$tmp/inside" "$tmp/d" "$O/cudamallocsnoop" >"$tmp/bin/cudamallocsnoop"
	chmod 755 "$tmp/bin/cudamallocsnoop"
	before=$PATH PATH=$tmp/bin:$PATH
	as_addr2line run
	PATH=$before

	it "a debug file with another build id is not used"
	build -DOTHER=1 -g1
	split
	mkdir -p "$tmp/d/${path%/*}"
	printf 'int main(void) { return 0; }' | ${CC:-cc} -g -xc - -o "$tmp/debug"
	cp "$tmp/debug" "$tmp/d/$path"
	run "$tmp/inside" "$tmp/d" cudamallocsnoop -jk --lines -c "$prog"
	status 0
	json 5 '.stack[0] | .sym == null and .source == null'

	it "the process's own root directory is looked into: a debug file beside the program, of its owner"
	build
	split
	cat >"$tmp/own" <<-END
		mount -t tmpfs -o mode=755 none /usr/lib/debug && mkdir -p /usr/lib/debug/${path%/*} &&
			cp "$tmp/debug" /usr/lib/debug/$path && cp "$prog" /usr/lib/debug/inlined &&
			cp "$prog" "$tmp/elsewhere" && chown "\$1" /usr/lib/debug/$path && exec "\$2"
	END
	run cudamallocsnoop -jk --lines -c "unshare -m sh $tmp/own 0 /usr/lib/debug/inlined"
	json 5 '.stack | any(.sym == "step()" and (.source | endswith("inlined.cpp")))' \
		5 '.stack | any(.inlined and .sym == "allocate_all")'

	it "one on another file system, or of another user, is not: others who map the file would get its names"
	run cudamallocsnoop -jk --lines -c "unshare -m sh $tmp/own 0 $tmp/elsewhere"
	json 5 '.stack[0].sym == null'
	run cudamallocsnoop -jk --lines -c "unshare -m sh $tmp/own 12345 /usr/lib/debug/inlined"
	json 5 '.stack[0].sym == null'

	it "a link in the process's root directory leads nowhere outside of it"
	mkdir -p "$tmp/out-of/${path%/*}"
	cp "$tmp/debug" "$tmp/out-of/$path"
	cat >"$tmp/chrooted" <<-END
		root=/usr/lib/debug
		mount -t tmpfs -o mode=755 none \$root && mkdir -p \$root/usr/lib || exit
		for f in \$(ldd "$prog" | grep -oE '/[^ ]+'); do
			mkdir -p "\$root\${f%/*}" && cp -L "\$f" "\$root\$f" || exit
		done
		cp "$prog" \$root/ && cp -a "$tmp/out-of" \$root/ && \$1 && exec chroot \$root /inlined
	END
	run cudamallocsnoop --attach session -jk -c "unshare -m sh $tmp/chrooted 'ln -s /out-of /usr/lib/debug/usr/lib/debug'"
	json 5 '.stack[0].sym == "step()"'
	run cudamallocsnoop --attach session -jk -c "unshare -m sh $tmp/chrooted 'ln -s $tmp/out-of /usr/lib/debug/usr/lib/debug'"
	json 5 '.stack[0].sym == null'
fi

# in_time SECONDS: what ran since $began took no longer
in_time() { [ $(($(date +%s) - began)) -le "$1" ] || no "it took $(($(date +%s) - began)) s"; }

it "a file that debug information names is not opened, be it a FIFO"
build
mkfifo "$tmp/fifo"
printf '%s\0%020d' "$tmp/fifo" 0 >"$tmp/link"
objcopy --dump-section .debug_abbrev="$tmp/section" "$prog"
# names (DW_AT_name, DW_FORM_strp) are said to be in the other file (DW_FORM_strp_sup)
LC_ALL=C sed 's/\x03\x0e/\x03\x1d/g' "$tmp/section" >"$tmp/abbrev"
! cmp -s "$tmp/section" "$tmp/abbrev" || no "nothing is named so"
objcopy --add-section .gnu_debugaltlink="$tmp/link" --update-section .debug_abbrev="$tmp/abbrev" "$prog"
began=$(date +%s)
run cudamallocsnoop -jk --lines -c "$prog"
status 0
silent
in_time 5
json 5 '.stack | any(.sym == "step()" and .line > 0) and any(.inlined and .sym == "?")'

if long; then
	it "debug information that is wrong, or is larger than memory when unpacked, costs lines, not the tool"
	build
	for section in .debug_info .debug_abbrev .debug_line .debug_aranges .debug_str .debug_rnglists; do
		for seed in 1 ${LONG:+2 3 4 5 6 7}; do
			cp "$tmp/with" "$prog"
			objcopy --dump-section "$section=$tmp/section" "$prog" 2>/dev/null
			awk -v seed=$seed -v size="$(wc -c <"$tmp/section")" 'BEGIN {
				srand(seed); for (i = 0; i < 40; i++) print int(rand() * size), int(rand() * 256) }' |
			while read -r at byte; do
				# shellcheck disable=SC2059 # the byte
				printf "\\$(printf %o "$byte")" | dd of="$tmp/section" bs=1 seek="$at" conv=notrunc 2>/dev/null
			done
			objcopy --update-section "$section=$tmp/section" "$prog"
			run cudamallocsnoop -qjk --lines -c "$prog"
			status 0
			json 5 '.stack | any(.sym == "step()")'
		done
	done
	cp "$tmp/with" "$prog"
	head -c 900000000 /dev/zero >"$tmp/zeros"
	objcopy --update-section .debug_str="$tmp/zeros" "$prog" "$tmp/large"
	objcopy --compress-debug-sections=zlib "$tmp/large" "$prog"
	rm "$tmp/zeros" "$tmp/large"
	began=$(date +%s)
	run cudamallocsnoop -qjk --lines -c "$prog"
	status 0
	json 5 '.stack | any(.sym == "step()")'
	in_time 8
fi
