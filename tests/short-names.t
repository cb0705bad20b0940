# shellcheck shell=sh disable=SC2154 # the words'
# common/kernels/short_name.c: names of kernels made for reading.

# shorts FILE: the short names of its kernels, a line each, in $tmp/out; from names with and without parameters they are the same
shorts() {
	"$bin/short-names" <"$1" >"$tmp/three"
	awk -F '\t' '$1 != $2 || $2 != $3' "$tmp/three" >"$tmp/differ"
	[ ! -s "$tmp/differ" ] || no "$(head -n 3 "$tmp/differ")"
	cut -f1 "$tmp/three" >"$tmp/out"
}

# words: what types and families are called, as the code has it
words() {
	sed -n '/^static.* table\[/,/^};/p; /^static.* builtin\[/,/^};/p' common/kernels/name_items.c | grep -oE '[=" ][a-z0-9A-Z_]+' | tr -cd 'A-Za-z0-9_\n'
	echo chalf cbf16 cfloat cdouble
}

it "each of PyTorch's 1009 kernels has a short name of its own, and 95 % have at most 40 characters"
shorts tests/data/torch-kernels.txt
equal "$(sort -u "$tmp/out" | wc -l)" 1009
equal "$(awk 'length($0) > 40' "$tmp/out" | wc -l)" 50
equal "$(awk 'length($0) > 64' "$tmp/out" | wc -l)" 0

it "none of them has a namespace, a return type or parameters; half of them have no hash"
lines 0 ':|\(|\)|^void |anonymous| const|\.\.|…'
lines 609 '^[^#]*$'

it "brackets are closed, and no word is cut"
lines 1009 '^([A-Za-z0-9_]+ ){0,2}[A-Za-z0-9_]+(<[A-Za-z0-9_*,-]+>)?(#[0-9a-f]{5})?$'
# each part of a name is whole words of the kernel's, or stands for some
c++filt <tests/data/torch-kernels.txt | paste "$tmp/out" - | awk -F '\t' -v known="$(words | tr '\n' ' ')" '
	function ends(a, b) { return a !~ /[A-Za-z0-9]/ || b !~ /^[A-Za-z0-9]/ || (a ~ /[a-z0-9]/ && b ~ /^[A-Z]/) || b ~ /^[A-Z][a-z]/ }
	function whole(part, name,   at, from) {
		for (from = 1; at = index(substr(name, from), part); from += at) {
			at += from - 1
			if (ends(substr(name, at - 1, 1), substr(part, 1, 2)) && ends(substr(part, length(part)), substr(name, at + length(part), 2)))
				return 1
			at -= from - 1
		}
	}
	BEGIN { n = split(known, list, " "); for (i = 1; i <= n; i++) is[list[i]] }
	{ sub(/#.*/, "", $1); n = split($1, parts, /[^A-Za-z0-9_]+/) }
	{ for (i = 1; i <= n; i++) if (parts[i] !~ /^[TF]+$/ && !(parts[i] in is) && !whole(parts[i], " " $2)) print parts[i], $2 }' >"$tmp/cut"
[ ! -s "$tmp/cut" ] || no "$(head -n 3 "$tmp/cut")"

it "the operation comes first: kernels of PyTorch, CUTLASS, cuBLAS, cuDNN, CUB, Thrust, NCCL, Triton, and others"
grep -v '^#' tests/unit/short-names.tbl | cut -f2 >"$tmp/names"
grep -v '^#' tests/unit/short-names.tbl | cut -f1 >"$tmp/wanted"
"$bin/short-names" <"$tmp/names" | cut -f2 | diff "$tmp/wanted" - >"$tmp/diff" || no "$(cat "$tmp/diff")"

it "kernels that differ only in their namespace differ in a hash; the first one has none"
printf '%s\n' _ZN1a4fillIiEEvPi _ZN1b4fillIiEEvPi _ZN1a4fillIiEEvPi >"$tmp/names"
"$bin/short-names" <"$tmp/names" | cut -f1 >"$tmp/out"
lines 2 '^fill<int>$'
lines 1 '^fill<int>#[0-9a-f]{8}$'
