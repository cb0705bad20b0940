# shellcheck shell=sh disable=SC2034,SC2154 # rc, pid: the words'
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# static: the tools that can be linked so, but for LONG one; GnuTLS, which cudaexporter needs, has parts without an archive
static() {
	long || { echo cudamallocsnoop; return; }
	for source in tools/*.c; do basename "$source" .c; done | grep -vx cudaexporter
}

it "make static leaves programs that load nothing"
# shellcheck disable=SC2046 # words
run make -s -j2 "O=$O" $(long && echo static || echo "$O/static/cudamallocsnoop")
status 0
cp "$tmp/err" "$tmp/made"
for t in $(static); do
	[ -x "$O/static/$t" ] || no "no $t"
	readelf -ldW "$O/static/$t" >"$tmp/out"
	lines 0 'INTERP|NEEDED'
	readelf -SW "$O/static/$t" >"$tmp/out"
	lines 0 '\.symtab'
done

it "they are hardened like the others: tests/hardening.t"
# libbpf's, libelf's and zlib's archives have no notes for CET, and so they have none
for t in $(static); do
	readelf -hldW "$O/static/$t" >"$tmp/out"
	lines 1 '^ *Type: +DYN'
	lines 1 'FLAGS\).*BIND_NOW'
	lines 1 'FLAGS_1\).*NOW PIE'
	lines 1 '^ *GNU_RELRO'
	lines 1 '^ *GNU_STACK .* RW  '
done

it "they trace"
run "$O/static/cudamallocsnoop" -qj -c "$bin/mem malloc 23 4096 free 7"
status 0
json 23 '.op == "alloc"' 7 '.op == "free"'
silent

it "they know the users, and the linker has nothing to say about that"
run "$O/static/cudamallocsnoop" -qj -u nobody -c 'id -u'
lines 1 '^65534$'
says_not groups
[ ! -s "$tmp/made" ] || no "$(head -n 2 "$tmp/made")"

it "they need no file but themselves, and no environment"
root=$tmp/root
mkdir -p "$root/proc" "$root/sys"
cp "$O/static/cudamallocsnoop" "$root"
# the mounts are gone with their namespace
cat >"$tmp/alone" <<'EOF'
mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" || exit 111
exec env -i "$2" "$1" /cudamallocsnoop -j -p "$3"
EOF
if ! unshare -m sh -c "mount -t proc p $root/proc && mount -t sysfs s $root/sys" 2>"$tmp/err"; then
	skip "no mounts are allowed here"
else
	program "$bin/mem" wait malloc 23 4096 free 7
	tool unshare -m sh "$tmp/alone" "$root" "$(command -v chroot)" "$pid"
	go
	wait "$tracer"
	rc=$?
	status 0
	json 23 '.op == "alloc"' 7 '.op == "free"'
	equal "$(find "$root" -mindepth 2)" ''
fi

long || leave

it "without privileges they see calls that have not ended, too"
run "$O/static/cudatrace" --attach inject -qjS -e cudaLaunchHostFunc -- "$bin/inject" stuck 5
status 137
json 1 '.calls == 1 and .min_ns > 0'

it "they name the functions of a stack"
run "$O/static/cudaleak" -qj -c "$bin/deep 19 64"
status 0
json 1 '.count == 19 and ([.stack[].sym] | contains(["leak_1", "leak_10"]))'
silent

it "Linux 6.1 takes each tool's programs: its verifier has less stack, and refuses more loops"
KERNELS_LOADS=1 scripts/check-kernels 6.1 >"$tmp/out" 2>"$tmp/err"
rc=$?
if grep -q '^skip ' "$tmp/out"; then
	skip "$(sed -n 's/^skip [^:]*: //p' "$tmp/out")"
else
	status 0
	lines 0 FAIL
	lines 1 '^[1-9][0-9]* passed, 0 failed'
fi
