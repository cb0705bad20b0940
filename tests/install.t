# shellcheck shell=sh disable=SC2086,SC2154 # $unprivileged is words; rc: the words'
# make install, and what a build reads and writes.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
dest=$tmp/dest
tools=$(basename -s .c tools/*.c)
hyphen() { echo "$1" | sed -E 's/(snoop|size|top|latency)$/-\1/'; }

it "make install puts programs, pages and completions where they belong"
run make -s "O=$O" "DESTDIR=$dest" PREFIX=/usr install
status 0
for t in $tools; do
	for n in $(printf '%s\n' "$t" "$(hyphen "$t")" | sort -u); do
		printf '%s\n' "bin/$n" "share/man/man8/$n.8" "share/bash-completion/completions/$n" \
			"share/fish/vendor_completions.d/$n.fish"
	done
	echo "share/zsh/site-functions/_$t"
done >"$tmp/programs"
{
	(cd scripts/bt && ls ./*.bt) | sed 's|^\.|share/cuda-bpf-tools/bt|'
	(cd etc && find prometheus grafana kubernetes -type f ! -name gputime.yaml) | sed 's|^|share/cuda-bpf-tools/|'
	printf 'share/cuda-bpf-tools/gputime/%s\n' gputime.conf gputime.yaml
	echo lib/systemd/system/cudaexporter.service
	echo share/cuda-bpf-tools/json-schema.json
	printf 'lib/cuda-bpf-tools/%s\n' libcudagpuprobe.so libcudagputime.so cudagpuprobe-ptxas cudagpuprobe-ptxas-blackwell
	echo lib/cuda-bpf-tools/inject/resident.so
	for t in $tools; do
		! "$t" --help | grep -q -- '|inject' || echo "lib/cuda-bpf-tools/inject/$t.so"
	done
} >>"$tmp/programs"
echo share/man/man7/cuda-bpf-tools.7 | sort - "$tmp/programs" >"$tmp/expected"
(cd "$dest/usr" && find . ! -type d) | sed 's|^\./||' | sort >"$tmp/out"
equal "$(cat "$tmp/out")" "$(cat "$tmp/expected")"
equal "$(find "$dest" ! -type d ! -path "$dest/usr/*")" "$dest/etc/default/cudaexporter"
grep -q '^ExecStart=/usr/bin/cudaexporter ' "$dest/usr/lib/systemd/system/cudaexporter.service" || no "the unit runs another program"
grep -rl /usr/local "$dest/usr/share/cuda-bpf-tools" "$dest/usr/lib" >"$tmp/out"
lines 0 ''
find "$dest/usr/share/cuda-bpf-tools" "$dest/usr/lib" "$dest/etc" -type f ! -perm 644 ! -name cudagpuprobe-ptxas >"$tmp/out"
lines 0 ''
find "$dest" -xtype l >"$tmp/out"
lines 0 ''

it "a program works under its hyphenated name, and names itself so"
run "$dest/usr/bin/cudamalloc-snoop" -j -c "$bin/mem malloc 23 4096"
status 0
json 23 '.op == "alloc"'
says "cudamalloc-snoop: tracing"
fails 2 "cudamalloc-snoop: unknown option '--nonsense'" "$dest/usr/bin/cudamalloc-snoop" --nonsense
says "Try 'cudamalloc-snoop --help'"

it "it finds its library for --attach inject where that is installed, also as an ordinary user"
chmod 755 "$tmp"
if [ -e "$O/inject/cudamallocsnoop.so" ] && $unprivileged test -x "$bin/mem"; then
	for n in cudamallocsnoop cudamalloc-snoop; do
		run "$dest/usr/bin/$n" --attach inject -jc "$bin/mem malloc 23 4096"
		status 0
		json 23 '.op == "alloc"'
		silent
	done
	mv "$dest/usr/lib/cuda-bpf-tools/inject" "$tmp/away"
	fails 1 "--attach inject: there is no cudamallocsnoop.so in " "$dest/usr/bin/cudamallocsnoop" --attach inject -- true
	mv "$tmp/away" "$dest/usr/lib/cuda-bpf-tools/inject"
else
	skip "no library, or it cannot be read by others"
fi

it "the pages can be read under both names"
for page in "$dest"/usr/share/man/man[78]/*; do
	run mandoc -T html "$page"
	status 0
	lines 1 'id="NAME"'
done

it "bash completes both names"
cat >"$tmp/complete" <<'EOF'
for name in cudamallocsnoop cudamalloc-snoop; do
	. "$1/$name"
	COMP_WORDS=($name --attach m) COMP_CWORD=2
	f=$(complete -p $name | sed 's/.*-F \([^ ]*\).*/\1/')
	$f && echo "$name ${COMPREPLY[*]}"
done
EOF
run bash "$tmp/complete" "$dest/usr/share/bash-completion/completions"
equal "$(cat "$tmp/out")" 'cudamallocsnoop multi
cudamalloc-snoop multi'
silent

it "zsh and fish complete both names"
zsh=$dest/usr/share/zsh/site-functions/_cudamallocsnoop
equal "$(head -n 1 "$zsh")" '#compdef cudamallocsnoop cudamalloc-snoop'
for n in cudamallocsnoop cudamalloc-snoop; do
	run fish --no-config -c "source $dest/usr/share/fish/vendor_completions.d/$n.fish; complete -C'$n --attach m' | string split -f1 \t"
	equal "$(cat "$tmp/out")" multi
done

long || leave

it "make install keeps options that the administrator has changed, and make uninstall, too"
echo 'ARGS="--by=pod"' >"$dest/etc/default/cudaexporter"
run make -s "O=$O" "DESTDIR=$dest" PREFIX=/usr UNITDIR=/lib/systemd/system install
status 0
equal "$(cat "$dest/etc/default/cudaexporter")" 'ARGS="--by=pod"'
[ -e "$dest/lib/systemd/system/cudaexporter.service" ] || no "UNITDIR is not heeded"
run make -s "O=$O" "DESTDIR=$dest" PREFIX=/usr UNITDIR=/lib/systemd/system uninstall
status 0
equal "$(find "$dest" ! -type d ! -path '*/usr/lib/*')" "$dest/etc/default/cudaexporter"

it "make uninstall leaves no file"
run make -s "O=$O" "DESTDIR=$dest" PREFIX=/usr SYSCONFDIR=/etc2 install
status 0
[ -e "$dest/etc2/default/cudaexporter" ] || no "SYSCONFDIR is not heeded"
rm "$dest/etc/default/cudaexporter"
run make -s "O=$O" "DESTDIR=$dest" PREFIX=/usr SYSCONFDIR=/etc2 uninstall
status 0
equal "$(find "$dest" ! -type d)" ''

it "in a folder whose name has a space BPF programs are built, and make says that the tests cannot run there"
mkdir "$tmp/a b"
tar -cf - --exclude="$O" --exclude='./build*' --exclude=./.git . | tar -xf - -C "$tmp/a b"
run make -s -C "$tmp/a b" O=build build/inode.skel.h build/inject/cudasynclatency.s
status 0
silent
for target in check check-all check-roots sanitize fuzz bench; do
	fails 2 "the tests cannot run in '$tmp/a b', which has a space" make -C "$tmp/a b" $target
done

# A copy, as others may be at work in the tree.
src=$tmp/src out=$tmp/o
mkdir "$src" "$tmp/empty"
tar -cf - --exclude=./.git --exclude=./build --exclude="./${O#"$PWD"/}" . | tar -xf - -C "$src"
files() { (cd "$src" && find . -type f -exec cksum {} + | sort); }
files >"$tmp/before"
there() { run make -C "$src" --no-print-directory "O=$out" CUDA=/nonexistent SIM_OWN_HEADERS=1 "$@"; }

it "builds elsewhere, without CUDA, without the running kernel's BTF"
cat >"$tmp/build" <<'EOF'
[ ! -d /sys/kernel/btf ] || mount --bind "$1" /sys/kernel/btf || exit 111
PATH=/usr/bin:/bin:/usr/sbin:/sbin exec make -s -j2 -C "$2" "O=$3" CUDA=/nonexistent SIM_OWN_HEADERS=1 all tests-built
EOF
SECONDS_=600
if unshare -m true 2>/dev/null; then
	run unshare -m sh "$tmp/build" "$tmp/empty" "$src" "$out"
else
	rc=111
fi
if [ "$rc" -eq 111 ]; then
	skip "no mounts are allowed here"
	there -s -j2 all tests-built
fi
SECONDS_=300
status 0
equal "$(grep -v '^  [A-Z]* ' "$tmp/out")" ''

it "and works"
run "$out/cudamallocsnoop" -qj -c "$out/tests/bin/mem malloc 23 4096 free 7"
status 0
json 30 '.layer == "runtime"'
silent

it "and has touched nothing in the tree"
files >"$tmp/out"
equal "$(diff "$tmp/before" "$tmp/out")" ''

it "a second make does nothing"
PATH=/usr/bin:/bin:/usr/sbin:/sbin there -q all tests-built
status 0

it "a changed header rebuilds what includes it, and nothing else"
touch "$src/common/base/die.h"
there -n all
status 0
grep -hoE '[a-z_/]+[.]c\b' "$tmp/out" | sort -u >"$tmp/rebuilt"
for d in "$out"/tools/*.d "$out"/tools/*/*.d "$out"/common/*/*.d; do
	tr -d '\\\n' <"$d" | grep -q ' common/base/die\.h' && sed -n '1,2s/.* \([a-z_/]*[.]c\).*/\1/p' "$d" | head -n 1
done | sort >"$tmp/expected"
[ "$(wc -l <"$tmp/expected")" -gt 3 ] || no "few objects depend on it"
equal "$(cat "$tmp/rebuilt")" "$(cat "$tmp/expected")"
there -s -j2 all
there -q all
status 0

it "a changed BPF header rebuilds the BPF programs and the tools"
touch "$src/bpf/lib/cuda.bpf.h"
there -n all
for t in $tools; do
	object=$(sed -n 's|^#include "\(.*\)\.skel\.h"$|\1|p' "tools/$t.c")
	[ "$object" ] || continue
	grep -q "gen skeleton $out/$object.bpf.o" "$tmp/out" || no "no new skeleton of $t"
	grep -q -- "-c tools/$t.c" "$tmp/out" || no "$t is not compiled"
done

it "a changed table of functions rebuilds what is made from it"
touch "$src/common/api/cuda_api.tbl"
there -n all
lines 1 'awk -f scripts/gen_api.awk'
grep -q -- '-c common/api/cuda_fn.c' "$tmp/out" || no "cuda_fn.c is not compiled"
