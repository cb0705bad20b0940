# shellcheck shell=sh
# The fuzzers: what they have found before, and a few seconds each of what they find now.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
FUZZ_SECONDS=${FUZZ_SECONDS:-2}
export FUZZ_SECONDS
clang=${CLANG:-clang}

# unlimited COMMAND...: run, for as long as it takes
unlimited() {
	"$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
}

if ! echo 'int main(void) { return 0; }' | "$clang" -fsanitize=fuzzer-no-link,address -xc - -o "$tmp/try" 2>"$tmp/err"; then
	it "the fuzzers"
	skip "$clang has no -fsanitize=fuzzer: $(head -n 1 "$tmp/err")"
else
	it "the fuzzers are built without a warning"
	unlimited make -j2 "O=$O" CLANG="$clang" fuzz-built
	status 0
	equal "$(cat "$tmp/out" "$tmp/err" | grep -v -e '^  [A-Z]* ' -e " is up to date[.]$")" ''

	for source in tests/fuzz/*.c tests/fuzz/*.py; do
		fuzzer=$(basename "${source%.*}")
		[ "$fuzzer" != fuzz ] || continue
		it "$fuzzer: nothing is found by its committed inputs, nor in $FUZZ_SECONDS seconds"
		unlimited tests/fuzz/run "$fuzzer"
		status 0
		lines 1 "^fuzz: $fuzzer: [1-9][0-9]* runs.*, nothing found"
		equal "$(tail -n 1 "$tmp/out")" '1 passed, 0 failed, 0 skipped'
		[ "$(find "tests/fuzz/corpus/$fuzzer" "$O/fuzz/seeds/$fuzzer" -type f 2>/dev/null | wc -l)" -gt 2 ] || no "no inputs"
	done

	it "what a fuzzer finds is kept and named, with status 1"
	mkdir -p "$tmp/o/fuzz"
	cat >"$tmp/broken.c" <<-END
		int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)
		{
			return size > 1 && data[0] == 'x' ? data[size] : 0;
		}
	END
	"$clang" -g -fsanitize=fuzzer,address "$tmp/broken.c" -o "$tmp/o/fuzz/fuzz-broken"
	FUZZ_SECONDS=60 O=$tmp/o unlimited tests/fuzz/run broken
	status 1
	kept=$(sed -n 's/^fuzz: broken: .*, FOUND: \([^ ,]*\), see .*/\1/p' "$tmp/out")
	equal "$(head -c 1 "$kept")" x
	equal "$(tail -n 1 "$tmp/out")" '0 passed, 1 failed, 0 skipped'
fi

it "the committed inputs are small"
bytes=$(find tests/fuzz/corpus -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
[ "$bytes" -lt 400000 ] || no "$bytes bytes"
find tests/fuzz/corpus -type f -size +8k >"$tmp/out"
lines 0 ''
