# shellcheck shell=sh disable=SC2154 # the words'
# Names of functions are made by libiberty, which common/sym/demangle.c leaves, when it takes too long,
# by a jump out of a signal handler.

it "libiberty allocates nothing that such a jump would leave"
# shellcheck disable=SC2086 # words or none: with what libcommon.a is built
${CC:-cc} ${SANITIZE:-} -std=gnu11 -D_GNU_SOURCE -O1 -fno-builtin -iquote common tests/unit/demangle.c "$O/libcommon.a" \
	-lbpf -ldw -lelf -lz -liberty -o "$tmp/demangle" || no 'it cannot be built'
# what a C++ program may have, and what was made to be hard
nm -D --format=posix "$(${CXX:-c++} -print-file-name=libstdc++.so.6)" | sed 's/[ @].*//' >"$tmp/symbols"
run "$tmp/demangle" "$tmp/symbols" tests/fuzz/corpus/symbol/*
status 0
json 1 '.symbols > 5000 and .whole > 5000 and .late > 0 and .too_long > 0'
json 1 '.allocations == 0'

it "an allocation there would be seen"
run "$tmp/demangle" -a "$tmp/symbols"
status 0
json 1 '.allocations > .symbols'
