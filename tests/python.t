# shellcheck shell=sh disable=SC2154 # bin, tmp: the words'
# What is known of Python's versions: tests/unit/python.c.  python-lines.tbl has, for each version, a line table
# and the lines that the interpreter itself has for each code unit.
light

it "the line of each instruction is Python's own, from 3.8 to 3.15"
while read -r version first table lines; do
	# beyond the last range there is no line
	"$bin/python" "$version" "$first" "$table" >"$tmp/got"
	echo "$lines" | tr , '\n' >"$tmp/want"
	awk 'NR == FNR { got[NR] = $1; last = $1; n = NR; next }
		(FNR <= n ? got[FNR] : last) != $1 { print FNR ": " (FNR <= n ? got[FNR] : last) ", not " $1; exit 1 }' \
		"$tmp/got" "$tmp/want" >"$tmp/wrong" || no "$version: $(cat "$tmp/wrong")"
done <tests/unit/python-lines.tbl
equal "$(cut -d' ' -f1 tests/unit/python-lines.tbl | sort -u | wc -l)" 8

it "versions before 3.13 have a layout, others none without the process's own word"
for version in 0308 0309 030a 030b 030c; do
	"$bin/python" layout $version >"$tmp/out" || no "no $version"
done
for version in 0207 0307 030d 030e 0310; do
	! "$bin/python" layout $version >"$tmp/out" || no "$version: $(cat "$tmp/out")"
done

it "a build without a GIL has a layout of its own; a version that there is not has none"
for version in 030d:2 030e:8 030f:8; do
	"$bin/python" layout "${version%:*}" 0 >"$tmp/out"
	lines 1 ' version 92 kind 2$'
	"$bin/python" layout "${version%:*}" 1 >"$tmp/out"
	lines 1 " version 108 kind ${version#*:}\$"
done
for gil in 0 1; do
	! "$bin/python" layout 0310 $gil >"$tmp/out" || no "3.16: $(cat "$tmp/out")"
done

it "code objects of one name share it, 2,560 of a process are kept, 2,048 in the kernel, and a user has half of all memory"
run "$bin/python-codes"
status 0
cat >"$tmp/want" <<'END2'
walk 3 a.py, the same for both
no other process has it, no other number
5 lines: 6
three: 3 known, 2 names, 0 removed, 0 bytes
the same number: 3 known, 2 names, 1 removed, 0 bytes
dropped: 0 known, 2 names, 4 removed, 203 bytes
many: 2560 known, 2 names, 521 removed, 20480 bytes
the oldest is not known, the next one is
all dropped: 0 known, 2 names, 2569 removed, 0 bytes
one user has half of the memory
the last has none
END2
cmp -s "$tmp/want" "$tmp/out" || no "$(diff "$tmp/want" "$tmp/out")"

# evaluates BRANCH...: a function that leaves for its part elsewhere so many times; that part's addresses in $part
evaluates() {
	cat >"$tmp/eval.c" <<-END2
		__attribute__((cold, noinline)) int rare(int n) { return n * 7; }
		int evaluate(const int *p)
		{
			int all = 0;

			for (; *p; p++) {
				$(for n; do echo "if (*p == $n) all ^= rare(*p + all) * $n;"; done)
				all += *p;
			}
			return all;
		}
	END2
	gcc -O2 -shared -fPIC "$tmp/eval.c" -o "$tmp/eval.so"
	# shellcheck disable=SC2046 # words
	run "$bin/python" eval "$tmp/eval.so" $(nm -S "$tmp/eval.so" | awk '$4 == "evaluate" { print $1, $2 }')
	status 0
	part=$(nm -S "$tmp/eval.so" | awk '$4 == "evaluate.cold" { print $1, $2 }')
	part=$(printf '%x to %x' "0x${part% *}" "$((0x${part% *} + 0x${part#* }))")
}

it "the part of a function that the compiler has put elsewhere is found by the jumps to it, if there are some"
evaluates 3 5 7 11
equal "$(cat "$tmp/out")" "$part: 0110"
evaluates 3
equal "$(cat "$tmp/out")" ''

it "an interpreter is found in a library of any name: by its section, without it by its symbols, and in a program"
cat >"$tmp/embed.c" <<'END'
#include <dlfcn.h>

int main(int argc, char **argv)
{
	void *h = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);

	((void (*)(void))dlsym(h, "Py_Initialize"))();
	return ((int (*)(const char *))dlsym(h, "PyRun_SimpleString"))(argv[2]);
}
END
${CC:-cc} -O1 "$tmp/embed.c" -o "$tmp/embed" -ldl
code="import ctypes
rt = ctypes.CDLL('$lib/libcudart.so.13')
def grow(n):
 for i in range(n): rt.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(300))
grow(7)"
printf %s "$code" >"$tmp/grow.py"
printf %s "exec(open('$tmp/grow.py').read())" >"$tmp/code"
python=$(ldconfig -p | awk '/libpython3\.[0-9]*\.so\.1\.0/ { print $NF; exit }')
if [ -z "$python" ]; then
	skip "no libpython here"
else
	cp "$python" "$tmp/libengine.so"
	objcopy --rename-section .PyRuntime=.other "$python" "$tmp/libsymbols.so"
	cp "$(readlink -f /usr/bin/python3)" "$tmp/engine"
	for words in "embed $tmp/libengine.so" "embed $tmp/libsymbols.so"; do
		run cudaleak -jq --stack python -c "env PYTHONHOME=/usr $tmp/$words \"\$(cat $tmp/code)\""
		json 1 '.count == 7 and [.stack[].sym][:2] == ["grow", "<module>"]'
		silent
	done
	run cudaleak -jq --stack python -c "env PYTHONHOME=/usr $tmp/engine $tmp/grow.py"
	json 1 '.count == 7 and [.stack[].sym] == ["grow", "<module>"]'
	silent
fi

# old NAME LINE...: a library of that name with the functions of an old interpreter, which allocates
old() {
	of=$1
	shift
	{
		cat <<-'END'
			extern int cudaMalloc(void **p, unsigned long size);
			const char *Py_GetVersion(void) { return ""; }
			void Py_Initialize(void) {}
			int PyRun_SimpleString(const char *s)
			{
				void *p;

				for (int i = 0; i < 5; i++)
					cudaMalloc(&p, 100);
				return 0;
			}
		END
		printf '%s\n' "$@"
	} >"$tmp/old.c"
	${CC:-cc} -w -O1 -shared -fPIC "$tmp/old.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/$of"
}

it "an interpreter that is too old, by any name, is the reason for missing frames"
old libtwo.so 'void *PyString_FromString(const char *s) { return 0; }'
old libthree.so
old libseven.so 'long _PyRuntime[512] = { 1 };'
while read -r name says; do
	run cudaleak -jq --stack python -c "$tmp/embed $tmp/$name ''"
	json 1 ".count == 5 and [.stack[].sym] == [\"Python frames lost: Python $says is not supported\"]" \
		1 '.incomplete_stacks == 5 and .incomplete_by == { python_unsupported: 5 }'
	says '5 call stacks are incomplete: 5 without all Python frames (unsupported version)'
done <<-END
	libtwo.so 2
	libthree.so 3.7 or older
	libseven.so 3.7 or older
END

it "a library that only uses the interpreter is none"
${CC:-cc} -w -O1 -shared -fPIC -x c - -o "$tmp/libext.so" <<END
const char *Py_GetVersion(void);
void Py_Initialize(void) {}
int PyRun_SimpleString(const char *s) { return Py_GetVersion == 0; }
END
run "$bin/python" try "$tmp/libext.so"
lines 1 ': none$'
for file in libtwo.so libengine.so; do
	[ ! -e "$tmp/$file" ] || "$bin/python" try "$tmp/$file"
done >"$tmp/out"
lines 0 ': none$'
