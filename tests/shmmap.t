# shellcheck shell=sh disable=SC2154
# The memory that a tool shares with its probes in other programs: common/shmmap, in tests/unit/shmmap*.c.
shm() {
	run "$bin/shmmap" "$@"
	status 0
}

it "arrays and hashes do what the kernel's do, also when they are full, and iterating gives each key once"
shm types
silent

it "what cannot be a map, and a head that makes no sense, are refused"
shm view
silent

it "threads' elements go to the next thread with all storage zeroed, also after exec, and 32,768 fit"
shm threads
silent

it "a tool's BPF object becomes memory with all its maps: programs change its data, but not what is read-only"
for object in "$O"/cuda*.bpf.o; do
	case $object in
	*/cudaexporter.*) continue ;;
	esac
	shm object "$object"
	silent
done

it "an object with a section alone becomes memory, and one with 49 maps is refused"
echo 'unsigned long long number = 1009;' >"$tmp/section.c"
{
	echo '#include <linux/bpf.h>'
	echo '#include <bpf/bpf_helpers.h>'
	for i in $(seq 49); do
		echo "struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, int); __type(value, int); } m$i SEC(\".maps\");"
	done
} >"$tmp/large.c"
if command -v "${CLANG:-clang}" >/dev/null; then
	for part in section large; do
		"${CLANG:-clang}" -g -O2 -target bpf -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$tmp/$part.c" -o "$tmp/$part.o"
		shm $part "$tmp/$part.o"
		silent
	done
else
	skip "no clang"
fi

it "of 12 threads in 5 processes that insert the same key, one does"
shm same
silent

it "processes that are killed anywhere stop nobody, and lose two elements each at most"
shm killed
lines 1 '^104 killed: '

it "signal handlers may insert, delete and write records in the middle of the same"
shm signals
silent

it "records come in their order, whatever their sizes; discarded ones do not; a full buffer refuses more"
shm ring
silent

long || leave

it "what they insert, delete and add up at the same time is exact, and every element is found again"
shm storm
silent

it "every record of six threads in two processes is read or was refused"
shm writers
lines 1 '^[1-9][0-9]{4,} records, [0-9]+ refused$'

it "records of writers that are killed are skipped, and no others"
shm writers-killed
lines 1 '^153 killed: [1-9]'
