# shellcheck shell=sh disable=SC2016,SC2154 # the inner shell is to expand it; rc, bin, lib: the words'
# Programs that look like Python, with traps where an interpreter keeps its frames: hostile-python.c.

# hostile FLAG... -o FILE
hostile() {
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -g -O1 tests/workloads/hostile-python.c "$lib/libcudart.so.13" \
		-Wl,-rpath,"$lib" -pthread "$@"
}
hostile -o "$tmp/python"
hostile -DVERSION=0x0363abf0 -o "$tmp/python99"

# silent_but: nothing is said, except that stacks lack Python frames
silent_but() {
	sed -i '/call stacks\? .*incomplete: .* without all Python frames ([^)]*)$/d' "$tmp/err"
	silent
}

# trapped KIND: its calls are recorded all the same, in no time and little memory
trapped() {
	run timeout -s KILL 30 sh -c 'ulimit -v "${MEMORY:-4000000}"; exec "$@"' sh cudamallocsnoop -kjc "$tmp/python $1"
	status 0
	silent_but
	json 7 '.op == "alloc" and .size == 64' 0 '.latency_ns > 1000000000'
}

it "what looks like Python's frames is taken for them"
trapped none
json 7 '[.stack[]? | select(.sym == "victim" and .line == 41)] | length == 1'

it "also in a library that is called libpython"
hostile -shared -fPIC -Dmain=python_main -o "$tmp/libpython3.so"
echo 'int python_main(int, char **); int main(int argc, char **argv) { return python_main(argc, argv); }' >"$tmp/main.c"
${CC:-cc} "$tmp/main.c" "$tmp/libpython3.so" -Wl,-rpath,"$tmp" -o "$tmp/embeds"
run timeout 60 cudamallocsnoop -kjc "$tmp/embeds none"
status 0
json 7 '[.stack[]? | select(.sym == "victim" and .line == 41)] | length == 1'

it "frames that call each other in a circle end at the limit"
trapped frames
json 7 '[.stack[]? | select(.sym == "victim")] | length == 92'

it "so does a million of them"
trapped shared
json 7 '[.stack[]? | select(.sym == "victim")] | length == 92'

for trap in threads interps; do
	it "a list of $trap that is a circle is left"
	trapped $trap
	json 0 '[.stack[]? | select(.sym == "victim")] | length > 0'
done

for trap in pointers code; do
	it "$trap that lead nowhere end the stack"
	trapped $trap
	json 0 '[.stack[]? | select(.sym == "victim")] | length > 0'
done

it "a name of 2^60 characters is cut"
trapped strings
json 7 '[.stack[]? | select(.sym // "" | startswith("victim") and length < 300)] | length == 1'

it "a line table of 2^60 bytes is not read"
trapped lines
json 7 '[.stack[]? | select(.sym == "victim")] | length == 1'

it "of a version that there is not, stacks say that it is not supported"
run cudamallocsnoop -kjc "$tmp/python99 none"
status 0
json 7 '.op == "alloc" and ([.stack[]? | select(.sym == "victim")] | length == 0)' \
	7 '.op == "alloc" and .stack[-1].sym == "Python frames lost: Python 3.99 is not supported"' \
	1 '.incomplete_stacks == 7 and .incomplete_by == { python_unsupported: 7 }'

# hangs_with KIND: its third call hangs; the stack is that of a hung call, from before tracing began, in no time and little memory
hangs_with() {
	env SIM_LATENCY_US=cudaMalloc:3=-1 "$tmp/python" "$1" 9>&- & pid=$!
	pids="$pids $pid"
	until_true grep -q "^$pause " "/proc/$pid/syscall"
	run timeout -s KILL 30 sh -c 'ulimit -v "${MEMORY:-4000000}"; exec "$@"' sh cudamallocsnoop -kjp "$pid" -d 1
	status 0
	silent_but
	json 1 '.running and .func == "cudaMalloc" and .stack[0].sym == "main"'
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}

it "calls in flight: what looks like Python's frames is taken for them"
hangs_with none
json 1 '.running and ([.stack[] | select(.sym == "victim" and .line == 41)] | length == 1)'
for trap in frames ${LONG:+shared}; do
	it "calls in flight: $trap without an end do end"
	hangs_with "$trap"
	json 1 '.running and ([.stack[] | select(.sym == "victim")] | length == 92)' \
		1 '.running and .stack[-1].sym == "Python frames lost: too many Python frames"'
done
for trap in threads:'too many Python threads' pointers:'a Python frame cannot be read' \
	${LONG:+interps:'too many Python threads' code:'a Python frame cannot be read'}; do
	it "calls in flight: ${trap%%:*} that lead nowhere end the stack"
	hangs_with "${trap%%:*}"
	json 0 '[.stack[]? | select(.sym == "victim")] | length > 0' \
		1 ".running and .stack[-1].sym == \"Python frames lost: ${trap#*:}\""
done
it "calls in flight: a name of 2^60 characters is cut, a line table of 2^60 bytes is not read"
hangs_with strings
json 1 '.running and ([.stack[] | select(.sym // "" | startswith("victim") and length < 300)] | length == 1)'
hangs_with lines
json 1 '.running and ([.stack[] | select(.sym == "victim" and .line == null)] | length == 1)'

it "who makes new code at each call takes neither the tool's memory nor others' names"
chmod 755 "$tmp"
run timeout -s KILL 60 sh -c 'ulimit -v "${MEMORY:-4000000}"; exec "$@"' sh cudamallocsnoop -kjc "sh -c '
	setpriv --reuid 65534 --regid 65534 --clear-groups $tmp/python flood 20000 &
	setpriv --reuid 65533 --regid 65533 --clear-groups $tmp/python none 101; wait'"
status 0
says_not 'user 65533 has reached'
json 101 '.stack[]? | .sym == "victim" and .line == 41'
