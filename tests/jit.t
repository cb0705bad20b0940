# shellcheck shell=sh disable=SC2086,SC2154 # words, of lib.sh too
# Names of generated code, from the maps that programs write of it themselves: tests/workloads/jit.c.
light

jit=$tmp/jit
${CC:-cc} -iquote "arch/$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')" -std=gnu11 -D_GNU_SOURCE -w -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	tests/workloads/jit.c "$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$lib" -o "$jit"
chmod 755 "$tmp" "$jit"

# stacks: of each allocation, the functions between allocate() and run()
stacks() {
	jq -r '.stack | map(.sym // "?") | .[index("allocate") + 1:index("run")] | join(" ")' "$tmp/out"
}
traces() { run cudamallocsnoop -j --unwind fp -c "$jit $*"; }
text() { run cudamallocsnoop --unwind fp -c "$jit $*"; }
# without names, and with everything else
nameless() {
	traces "$@"
	status 0
	equal "$(stacks)" '? ?'
}

it "generated code has the names of the map, as text, JSON and folded"
traces names
status 0
silent
equal "$(stacks)" 'inner outer'
json 1 '.stack[1] | .kind == "jit" and .off == "0x10" and .file == null and .line == null'
text names
lines 1 '^        inner\+0x10 \[jit\]$'
lines 1 '^        outer\+0x10 \[jit\]$'
run cudaleak --folded --unwind fp -c "$jit names"
lines 1 ';main;run;outer;inner;allocate;\[device\] 4096$'

it "without a map there are addresses"
nameless none

it "what is added to the map later has a name from then on"
traces late
equal "$(stacks)" "? ?
inner outer"
traces names twice
equal "$(stacks)" "inner outer
inner outer
added_inner added_outer"

it "of functions at the same addresses, the newest has its name; the others keep theirs"
traces names again
equal "$(stacks)" "inner outer
new_inner new_outer"

it "of entries that overlap, the newest holds, and the distance is from its own start"
traces overlap
equal "$(stacks)" 'inner outer'
json 1 '.stack[1].off == "0x18" and .stack[2].off == "0x10"'

it "names are escaped and cut, sizes can be 0 and 2^64 - 1, and other lines are passed over"
text odd
status 0
silent
lines 1 '^        all \\x1b\[31m\\xe2\\x80\\xae\\xff\\x01;"<&%n\+0x10 \[jit\]$'
lines 1 '^        x{1000,1024}\+0x10 \[jit\]$'
! LC_ALL=C grep -q "$(printf '\033')" "$tmp/out" || no "an escape sequence"
traces odd
json 1 '.stack[2].sym | startswith("all \u001b[31m")'

it "a map that is a FIFO, a directory or a sparse file does not hold up anything"
for word in fifo dir sparse; do
	began=$(date +%s)
	nameless $word
	silent
	[ $(($(date +%s) - began)) -lt 5 ] || no "$word: it takes $(($(date +%s) - began)) s"
done

it "a map that is a link, another name of a file, or somebody else's is not read"
printf '1 ffffffffffffff secret\n' >"$tmp/secret"
nameless link "$tmp/secret"
traces hard "$tmp/secret"
if grep -q perf- "$tmp/err"; then
	traces none	# /tmp is another file system
fi
equal "$(stacks)" '? ?'
nameless theirs

it "a map that is mounted on its name, which only another user may read, is not read"
chmod 600 "$tmp/secret"
if ! setpriv --reuid 65534 --clear-groups unshare -Urm true 2>/dev/null; then
	skip "no user namespaces here"
else
	# shellcheck disable=SC2016 # of the shell that runs it
	echo 'touch /tmp/perf-$$.map && mount --bind "$1" /tmp/perf-$$.map && exec "$2" none' >"$tmp/mounts"
	run cudamallocsnoop --attach session -j --unwind fp -u 65534 -c "exec unshare -Urm sh $tmp/mounts $tmp/secret $jit"
	status 0
	equal "$(stacks)" '? ?'
	rm -f "/tmp/perf-$(jq -r .pid "$tmp/out" | head -n 1).map"
fi

it "of a map with two million lines the last ones are read"
if [ -n "${SANITIZE:-}" ]; then
	skip "with sanitizers they are not read within the second that it may take"
else
	traces huge same same
	status 0
	silent
	equal "$(stacks | tail -n 1)" 'inner outer'
fi

it "a program of another user's, and its names stay when it has ended"
run cudaleak -j --unwind fp -u 65534 -c "$jit names"
status 0
json 1 '[.stack[].sym] | contains(["inner", "outer"])'

it "in another PID namespace and root, the map is that of its own number there"
if ! unshare -pmf true 2>/dev/null; then
	skip "no PID namespaces here"
else
	cp "$jit" "$O/tests/bin/jit-inside"
	# another /tmp, with what is built where it was: that may be below /tmp
	cat >"$tmp/inside" <<-END
		exec 3<"$O" && mount -t tmpfs none /tmp && mkdir -p "$O" && mount --no-canonicalize --bind /proc/self/fd/3 "$O" &&
		exec 3<&- "$O/tests/bin/jit-inside" names
	END
	run cudamallocsnoop -j --unwind fp -c "unshare -pmf sh $tmp/inside"
	rm "$O/tests/bin/jit-inside"
	equal "$(stacks)" 'inner outer'
fi
