# shellcheck shell=sh disable=SC2154 # the words'
# cudabt with programs and names of files that nobody means well, and with a bpftrace that fails.

# program_ TEXT: a file of what printf makes of it
# shellcheck disable=SC2059
program_() { printf "$1" >"$tmp/p.bt"; }

# refused MESSAGE: the file is, with one line that begins so, and the place shown safely
refused() {
	fails 2 "$1" timeout 60 cudabt "$tmp/p.bt"
	! LC_ALL=C grep -q '[[:cntrl:]]' "$tmp/err" || no "control characters in the message"
	[ "$(wc -c <"$tmp/err")" -lt 2000 ] || no "a message of $(wc -c <"$tmp/err") bytes"
}

emit() { run timeout 60 cudabt --emit -l "$lib/libcudart.so.13" "$@"; }

it "a mistake is shown at its place, whatever stands before it"
program_ 'cuda:cudaMalloc { }\n\n\tcuda:cudaFree { @ = args.nonsense }\n'
refused "cudabt: $tmp/p.bt:3:27: cudaFree has no argument 'nonsense'; its arguments are devPtr"
says '  cuda:cudaFree { @ = args.nonsense }'
equal "$(sed -n 3p "$tmp/err")" "$(printf '%28s^' '')"

it "what has no end is refused where it begins"
program_ 'cuda:cudaMalloc { @ = "no end }\n'
refused "p.bt:1:23: unterminated string"
program_ '/* no end\ncuda:cudaMalloc { }\n'
refused "p.bt:1:1: unterminated comment"
program_ 'cuda:cudaMalloc { if (1) { @ = 1; }\n'
refused "p.bt:1:17: unmatched '{'"
program_ 'cuda:cudaMalloc /args.size { }\n'
refused "unterminated predicate"
program_ 'cuda:cudaMalloc { @ = errname(1 }'
refused "unmatched '('"
program_ ''
refused "no cuda: or cudaret: probe in the program"

it "zero bytes, control characters and what is not UTF-8 are refused, or passed on where they do no harm"
program_ 'cuda:cudaMalloc { @ = 1; \000 }\n'
refused "p.bt:1:26: NUL byte"
program_ 'cuda:cudaMal\033[31mloc { }\n'
refused "p.bt:1:13:"
program_ 'cuda:cudaMalloc /args.\377\376 / { }\n'
refused "p.bt:1:18: expected an argument name"
program_ '// \377\376 \033[31m\ncuda:cudaMalloc { @ = count(); }\n'
emit "$tmp/p.bt"
status 0
says_not p.bt	# what it says of others' libraries is not of the program

it "a program with a carriage return in each line is one"
program_ '// counts\r\ncuda:cudaMalloc\r\n/args.size == 64/\r\n{\r\n\t@ = count();\r\n}\r\n'
run cudabt -q "$tmp/p.bt" -c "$bin/mem malloc 7 64 malloc 3 128"
lines 1 '^@: 7$'

it "a program of 1 MiB is read, and not one of more"
{ printf 'cuda:cudaMalloc { @ = args.size; }\n//'; head -c 1048000 /dev/zero | tr '\0' x; } >"$tmp/p.bt"
emit "$tmp/p.bt"
status 0
[ "$(wc -c <"$tmp/out")" -gt 1048000 ] || no "it is cut"
head -c 1000 /dev/zero | tr '\0' x >>"$tmp/p.bt"
fails 1 'is larger than 1048576 bytes' cudabt "$tmp/p.bt"

it "names and types of the program's own are left alone"
# shellcheck disable=SC2016 # bpftrace's
program_ 'struct cudaOwn { int x; };\ncuda:cudaMalloc { @ = ((struct cudaOwn *)args.devPtr)->cudaX; @cudaY = $cudaZ; }\n'
emit "$tmp/p.bt"
status 0
# shellcheck disable=SC2016
lines 1 '^\{ @ = \(\(struct cudaOwn \*\)arg0\)->cudaX; @cudaY = \$cudaZ; \}$'
program_ 'cuda:cudaMalloc { @cudabt_func[1] = 1; }\n'
refused "p.bt:1:19: names that begin with cudabt are reserved"

it "a file that is none is refused"
mkfifo "$tmp/fifo"
fails 1 'is not a regular file' timeout 60 cudabt "$tmp/fifo"
fails 1 'is not a regular file' cudabt "$tmp"
fails 1 'a\x0ab.bt' cudabt "$tmp/$(printf 'a\nb.bt')"

it "a program of the current directory does not stand in for an included one, and must be named as such"
mkdir "$tmp/here"
echo 'cuda:cudaFree { @theirs = count(); }' | tee "$tmp/here/failures.bt" >"$tmp/here/other.bt"
run env -C "$tmp/here" cudabt --emit -l "$lib/libcudart.so.13" failures.bt
status 0
lines 0 theirs
fails 1 'other.bt is not an included program; to run the one in this directory, name it ./other.bt' \
	env -C "$tmp/here" cudabt --emit -l "$lib/libcudart.so.13" other.bt
run env -C "$tmp/here" cudabt --emit -l "$lib/libcudart.so.13" ./other.bt
status 0
lines 1 theirs

it "a library that was deleted or replaced is probed all the same"
mkdir -p "$tmp/gone/lib" "$tmp/gone/bin"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$tmp/gone/lib/"
cp "$bin/mem" "$tmp/gone/bin/"
program "$tmp/gone/bin/mem" wait malloc 13 4096
rm "$tmp/gone/lib/libcudart.so.13"
cp "$lib/libcudart.so.13" "$tmp/gone/lib/"
tool cudabt -e 'cuda:cudaMalloc { @ = count(); }' -p "$pid"
go
wait "$tracer"
lines 1 '^@: 13$'

it "a name that its owner gives to another file while bpftrace starts does not move the probes there"
mkdir -p "$tmp/mine/lib" "$tmp/roots/lib" "$tmp/path"
for dir in mine roots; do
	mkdir -p "$tmp/$dir/bin"
	cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$tmp/$dir/lib/"
	cp "$bin/mem" "$tmp/$dir/bin/"
done
# a size that nobody else allocates, as every process is seen
mine=$((1000000 + $$)) roots=$((20000000 + $$))
cat >"$tmp/path/bpftrace" <<END
#!/bin/sh
mv '$tmp/mine/lib/libcudart.so.13' '$tmp/mine/lib/kept'
ln -s '$tmp/roots/lib/libcudart.so.13' '$tmp/mine/lib/libcudart.so.13'
exec '$(command -v bpftrace)' "\$@"
END
chmod +x "$tmp/path/bpftrace"
program "$tmp/mine/bin/mem" wait malloc 13 $mine
tool env "PATH=$tmp/path:$PATH" cudabt -l "$tmp/mine/lib/libcudart.so.13" \
	-e 'cuda:cudaMalloc { @[args.size] = count(); }'
[ -L "$tmp/mine/lib/libcudart.so.13" ] || no "the name was not exchanged"
"$tmp/roots/bin/mem" malloc 7 $roots
go
stop
lines 1 "^@\\[$mine\\]: 13\$"
lines 0 $roots

# alone: any other tracer, a test's too, might open it
it_alone "what another user's file names is not opened: neither to attach nor to name the functions of a stack"
away=$(mktemp -d) && chmod 755 "$away"
trap 'rm -rf "$away"; finish' EXIT
mkdir "$away/lib" "$away/bin"
cp "$lib/libcuda.so.1" "$away/lib/"
cp "$bin/mem" "$away/bin/"
mkfifo -m 666 "$away/fifo"
# the name of the debug file begins where the library lies, or its descriptor: up from there to the root
printf '%s\0\0\0\0\0\0\0\0' "../../../../../../../../..$away/fifo" >"$tmp/link"
objcopy -R .note.gnu.build-id --add-section .gnu_debuglink="$tmp/link" \
	"$lib/libcudart.so.13" "$away/lib/libcudart.so.13"
chown -R 65534 "$away"
theirs="setpriv --reuid 65534 --regid 65534 --clear-groups $away/bin/mem"
# no_reader: nobody has it open, or waits for a writer
no_reader() {
	python3 -c 'import errno, os, sys
try:
	os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK)
except OSError as e:
	sys.exit(e.errno != errno.ENXIO)
sys.exit(1)' "$away/fifo" || no "the file that it names was opened"
}
for p in '@[args.size] = count();' '@[args.size, ustack] = count();'; do
	# shellcheck disable=SC2086 # a list of words
	$theirs loop 1000000000 '(' malloc 1 $roots free 1 sleep 10 ')' & other=$!
	pids="$pids $other"
	# shellcheck disable=SC2016 # sh -c is to expand it
	until_true grep -q "$away/lib/libcudart" "/proc/$other/maps"
	program "$bin/mem" wait malloc 13 $mine
	begun=$(date +%s)
	tool timeout -s KILL 60 cudabt -e "cuda:cudaMalloc { $p }"
	no_reader
	go
	sleep .1
	kill -INT "$(pgrep -P "$tracer")"
	wait "$tracer"
	rc=$?
	status 0
	[ $(($(date +%s) - begun)) -lt 20 ] || no "it took $(($(date +%s) - begun)) s"
	no_reader
	[ "$p" = "${p#*ustack}" ] || says 'are not named: bpftrace would read files of user '	# of the first one
	kill -9 "$other"
	# the count of a key with a stack is lines further down
	equal "$(awk -v size="$mine" '/^@\[/ { mine = index($0, size) } mine && sub(/.*\]: /, "") { n += $0 } END { print n }' "$tmp/out")" 13
	grep -q "^@\[$roots" "$tmp/out" || no "their calls are not seen"
done

it "a probe that no file has a function of is named, after the program"
program "$bin/mem-drv" wait	# of other processes' files some have every function
run cudabt --emit -p "$pid" -e 'cuda:cuMemAlloc { @ = count(); } cuda:cudaMalloc { @ = sum(1); }'
go
status 0
says "cudabt: -e: line 1: no file has a function of this probe"

it "--emit says whose names it has to trust"
cp -r "$tmp/roots" "$tmp/theirs"
emit_theirs() { run cudabt --emit -l "$1" -e 'cuda:cudaMalloc { @ = count(); }'; }
emit_theirs "$tmp/theirs/lib/libcudart.so.13"
says_not "can replace $tmp/"	# of other processes' files others are said to be
chown 65534 "$tmp/theirs/lib"
emit_theirs "$tmp/theirs/lib/libcudart.so.13"
says "user 65534 can replace $tmp/theirs/lib/libcudart.so.13"
chown 0 "$tmp/theirs/lib"
chmod 777 "$tmp/theirs"
emit_theirs "$tmp/theirs/lib/libcudart.so.13"
says "user 65534 can replace $tmp/theirs/lib/libcudart.so.13"
chmod 755 "$tmp/theirs"
mkdir "$tmp/links"
ln -s "$tmp/theirs/lib" "$tmp/links/lib"
emit_theirs "$tmp/links/lib/libcudart.so.13"
says_not "can replace $tmp/"
chown -h 65534 "$tmp/links/lib"
emit_theirs "$tmp/links/lib/libcudart.so.13"
says "user 65534 can replace $tmp/"

it "without bpftrace it says what to install, and --emit works"
fails 1 'bpftrace not found: install it' env "PATH=$O" cudabt -e 'cuda:cudaMalloc { }'
run env "PATH=$O" cudabt --emit -l "$lib/libcudart.so.13" -e 'cuda:cudaMalloc { @ = count(); }'
status 0
lines 1 "^uprobe:.*$lib/libcudart.so.13\"?:cudaMalloc"

it "what a traced program calls itself does nothing to a terminal, and leaves JSON whole"
COMM=$(printf '\033[31m\t\302\2332"')
export COMM
for j in '' -j; do
	# shellcheck disable=SC2016,SC2086 # its shell's; an option or none
	run cudabt -q $j -e 'cuda:cudaMalloc { printf("<%s>\n", comm); @[comm] = count(); }' \
		-c "$bin/mem rename \"\$COMM\" malloc 13 64"
	status 0
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$tmp/out" || no "$j: control characters"
	[ -n "$j" ] || lines 13 '^<\\x1b\[31m	\\xc2\\x9b2">$'
	[ -n "$j" ] || lines 1 '^@\[.*\]: 13$'
	[ -z "$j" ] || json 13 '.type == "printf"'
done

it "-j: names that are not ASCII are what they are, also with what looks like bpftrace's way to write them"
export COMM
COMM=$(printf 'gr\303\266\303\237e\\uff')
bt_() { run cudabt -q "$@" -c "$bin/mem rename \"\$COMM\" malloc 13 64"; }
bt_ -je 'cuda:cudaMalloc { printf("<%s>", comm); }'
json 13 '.type == "printf" and .data == "<größe\\uff>"'
bt_ -je 'cuda:cudaMalloc { printf("\\uffffffc3"); }'
json 13 '.data == "\\uffffffc3"'

it "-j: they are as keys of maps too"
if bpftrace -qf json -e 'BEGIN { @["a\\b"] = 1; exit(); }' 2>/dev/null | grep -qF 'a\\\\b'; then
	skip "this version of bpftrace escapes the keys of maps twice"
else
	bt_ -je 'cuda:cudaMalloc { @[comm] = count(); }'
	json 1 '.type == "map" and .data["@"]["größe\\uff"] == 13'
fi

it "no empty lines at the start and the end, and none for empty maps; of several within, one"
bt_ -e 'cuda:cudaFree { @a[1] = count(); @b[1] = count(); } cuda:cudaMalloc { @c[1] = count(); @d[1] = count(); }'
equal "$(cat "$tmp/out")" "$(printf '@c[1]: 13\n@d[1]: 13')"
bt_ -e 'BEGIN { printf("\n\n1\n\n\n2\n"); } cuda:cudaMalloc { printf("x"); }'
equal "$(cat "$tmp/out")" "$(printf '1\n\n2\nxxxxxxxxxxxxx')"

it "a program that compares a function's name with one that no file has is no reason for warnings"
echo 'int cudaLaunchKernel() { return 0; } int cudaMemcpyAsync() { return 0; }' >"$tmp/few.c"
${CC:-cc} -w -shared -fPIC -o "$tmp/libcudart.so.13" "$tmp/few.c"
echo 'int cudaLaunchKernel(void *, long, int, long, int, void *, long, void *), cudaMemcpyAsync(); int main() {
	for (int i = 0; i < 7; i++) cudaLaunchKernel(0, 0, 0, 0, 0, 0, 0, 0);
	for (int i = 0; i < 5; i++) cudaMemcpyAsync(0, 0, 0, 0, (void *)8); return 0; }' >"$tmp/few-main.c"
${CC:-cc} -w -o "$tmp/few" "$tmp/few-main.c" "$tmp/libcudart.so.13" -Wl,-rpath,"$tmp"
run cudabt default-stream.bt -c "$tmp/few"
# of the program: of what it cannot do on this machine it warns without a place
! grep -E '^stdin:.*WARNING' "$tmp/err" || no "$(grep -m 1 WARNING "$tmp/err")"
lines 1 '^@default\[few, [0-9]+, cudaLaunchKernel\]: 7$'
lines 1 '^@other\[few, [0-9]+, cudaMemcpyAsync\]: 5$'

it "output that nobody reads: a signal ends bpftrace, a second one the tool, which says what it left out"
mkfifo "$tmp/unread"
exec 7<>"$tmp/unread"
# so long that it is enough where bpftrace loses most of them, on a busy machine
line=$(head -c 400 /dev/zero | tr '\0' x)
cudabt -q -e "cuda:cudaMalloc { printf(\"%s $line\\n\", comm); }" \
	-c "$bin/mem malloc 100003 64; echo over >$tmp/over; sleep 1000" >"$tmp/unread" 2>"$tmp/err" & tracer=$!
pids="$pids $tracer"
until_true grep -q over "$tmp/over"
kill -TERM "$tracer"
until_true grep -q 'standard output is not being read: discarded the last output of bpftrace' "$tmp/err"
again() {
	! kill -TERM "$tracer" || ps -o stat= -p "$tracer" | grep -q Z
}
until_true again
wait "$tracer"
exec 7<&-
grep -q 'standard output is not being read: discarded the last [0-9]* bytes' "$tmp/err" || no 'nothing is said of bytes'

# failing_bpftrace STATUS COMMAND: with a bpftrace that ends by COMMAND, it has that status, and the command
# is ended
failing_bpftrace() {
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bpftrace"
	chmod +x "$tmp/bpftrace"
	run env "PATH=$tmp:$PATH" cudabt -qe 'cuda:cudaMalloc { }' -c "$bin/mem malloc 1 64; sleep 1000"
	status "$1"
	says "bpftrace exited with status $1; --emit prints the script that it was given"
}

it "bpftrace's own failure is passed on"
failing_bpftrace 7 'exit 7'
# shellcheck disable=SC2016 # the script's own
failing_bpftrace 139 'kill -s SEGV $$'
fails 1 'bpftrace exited with status 1' cudabt -qe 'cuda:cudaMalloc { nonsense(args.size); }' \
	-c "$bin/mem malloc 1 64; sleep 1000"
grep -qE "Unknown function: '?nonsense'?" "$tmp/err" || no "the reason is missing"

# ---- What takes seconds

long || leave

# in_directory NAME: mem and its libraries in a directory of that name, which is what the program's
# library is called then; 7 calls of it are seen
in_directory() {
	mkdir -p "$tmp/$1/lib" "$tmp/$1/bin"
	cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$tmp/$1/lib/"
	cp "$bin/mem" "$tmp/$1/bin/"
	(cd "$tmp/$1" && run cudabt -qe 'cuda:cudaMalloc { @ = count(); }' -c 'bin/mem malloc 7 64')
	lines 1 '^@: 7$'
	lines 1 .
	says_not 'exited with status'
}

it "a path with unusual characters is quoted in the script"
# shellcheck disable=SC2016 # that is the point
for dir in 'a b' 'a,b' 'a;b' 'a(b)' "a'b" 'a#b' 'a{b,c}' 'a$1b' 'a%sb' '-x' 'a&b'; do
	in_directory "$dir"
	run cudabt --emit -l "$tmp/$dir/lib/libcudart.so.13" -e 'cuda:cudaMalloc { @ = count(); }'
	grep -qF "$tmp/$dir/lib/libcudart.so.13" "$tmp/out" || no "'$dir' is not in the script"
	cp "$tmp/out" "$tmp/p.bt"
	taken "$tmp/p.bt" || no "bpftrace does not take '$dir'"
done

it "a path that a script cannot carry is not in it, and its calls are seen all the same"
for dir in 'a"b' 'a\b' 'a:b' 'a*b' 'a[b]' "$(printf 'a\nb')" "$(printf 'a\033[31mb')" "$(printf 'a\377b')" \
	"\":f { system(\"touch ran\"); } uprobe:\""; do
	in_directory "$dir"
	run cudabt --emit -l "$tmp/$dir/lib/libcudart.so.13" -e 'cuda:cudaMalloc { @ = count(); }'
	says 'skipping '
	says ': a script cannot name it'
	! grep -qF "$tmp/" "$tmp/out" || no "'$dir' is in the script"
	! LC_ALL=C grep -q '[[:cntrl:]]' "$tmp/err" || no "control characters in the message"
done
[ -z "$(find "$tmp" -name ran)" ] || no "a command was run"

it "programs that would make endless work are refused soon"
awk 'BEGIN { for (i = 0; i < 130000; i++) printf "cuda:*{}" }' >"$tmp/p.bt"
refused 'expands to a script that is too large'
awk 'BEGIN { for (i = 0; i < 140000; i++) printf "cuda:*,"; print "cuda:*{}" }' >"$tmp/p.bt"
refused 'expands to a script that is too large'
awk 'BEGIN { printf "cuda:*{"; for (i = 0; i < 1000000; i++) printf "x"; print "}" }' >"$tmp/p.bt"
refused 'expands to a script that is too large'
awk 'BEGIN { printf "cuda:"; for (i = 0; i < 1000000; i++) printf "?"; print "{}" }' >"$tmp/p.bt"
refused 'no CUDA function matches'
awk 'BEGIN { printf "cuda:cudaMalloc{"; for (i = 0; i < 100000; i++) printf "errname("
	for (i = 0; i < 100000; i++) printf ")"; print "}" }' >"$tmp/p.bt"
refused 'nested too deeply'
awk 'BEGIN { printf "cuda:cudaMalloc{"; for (i = 0; i < 900000; i++) printf "{"; print "" }' >"$tmp/p.bt"
refused "unmatched '{'"
