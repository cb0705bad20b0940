# shellcheck shell=sh disable=SC2013,SC2154 # words without spaces; the words'
# What can be said of the packages without building them; tests/world/deb.t builds them.

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
version=$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' common/base/version.h)

it "debian/changelog and CHANGELOG.md begin with the tools' version"
equal "$(sed -nE '1s/^cuda-bpf-tools \(([^)]*)\) .*/\1/p' debian/changelog)" "$version"
equal "$(sed -nE '/^## /{s/^## ([0-9.]+).*/\1/p;q}' CHANGELOG.md)" "$version"

# list NAME: the words that scripts/setup has by that name
list() {
	awk -v name="$1=" -v q="'" 'index($0, name q) == 1 { on = 1 } on { print; if ($0 ~ q "$") exit }' scripts/setup |
		tr -s "='\n\t" ' ' | cut -d' ' -f2- | tr ' ' '\n' | grep .
}

it "debian/control builds with what scripts/setup installs"
# what every Debian package is built with is not named, and how it is packed is not what is built
{ list build; list deb; } | grep -vxE 'gcc|make|dpkg-dev|debhelper|lintian|git|xz-utils' | sort -u >"$tmp/setup"
sed -n '/^Build-Depends:/,/^[A-Z]/{s/^ \([a-z0-9-]*\),\?.*/\1/p}' debian/control | grep -v '^debhelper' | sort >"$tmp/control"
[ "$(wc -l <"$tmp/control")" -gt 10 ] || no "few packages"
equal "$(diff "$tmp/setup" "$tmp/control")" ''

# tools: without those of new-tool, which README.md does not name
tools() { for t in tools/*.c; do t=$(basename "$t" .c); ! grep -qw "$t" README.md || echo "$t"; done; }

it "debian/control's description names every tool"
for t in $(tools); do
	sed -n '/^Package: /,$p' debian/control | grep -qwF "$t" || no "$t"
done

# package NAME: its paragraph
package() { awk -v RS= -v p="Package: $1" '{ split($0, line, "\n") } line[1] == p' debian/control; }

it "a tool is in the package whose description names it, as make install has it apart"
for part in tools: nccl:-nccl gpuprobe:-gpuprobe; do
	rm -rf "$tmp/dest"
	run make -s "O=$O" "DESTDIR=$tmp/dest" "install-${part%:*}"
	status 0
	find "$tmp/dest/usr/local/bin" -type f -printf '%f\n' | while read -r t; do
		! grep -qw "$t" README.md || echo "$t"
	done | sort >"$tmp/installed"
	package "cuda-bpf-tools${part#*:}" | sed '1,/^Description:/d' | grep -oE '\b(cuda|nccl)[a-z]+\b' | sort -u | while read -r t; do
		[ ! -e "tools/$t.c" ] || echo "$t"
	done >"$tmp/named"
	[ -s "$tmp/installed" ] || no "no tools"
	equal "$(cat "$tmp/installed")" "$(cat "$tmp/named")"
done

it "each package of what one had takes its files' place, and that one brings those of the tools"
for p in $(sed -n 's/^Package: //p' debian/control | grep -vx cuda-bpf-tools); do
	package "$p" | grep -qxF 'Breaks: cuda-bpf-tools (<< 0.1.0)' || no "$p breaks nothing"
	package "$p" | grep -qxF 'Replaces: cuda-bpf-tools (<= 0.1.0)' || no "$p replaces nothing"
done
for p in nccl gpuprobe; do
	package cuda-bpf-tools | grep -q "^Recommends:.* cuda-bpf-tools-$p\b" || no "cuda-bpf-tools does not recommend $p"
done

it "debian/copyright has the licenses of LICENSE"
for l in LICENSES/*.txt; do
	l=$(basename "$l" .txt)
	grep -q "^License: ${l%.0}\$" debian/copyright || no "$l"
done

it "CHANGELOG.md has every tool"
for t in $(tools); do
	grep -qF "**$t**" CHANGELOG.md || no "$t"
done

it "make deb without the exporter says so"
mkdir "$tmp/tree" "$tmp/tree/tools"
cp -r scripts "$tmp/tree"
fails 1 'deb: no package cudaexporter: tools/cudaexporter.c does not exist' "$tmp/tree/scripts/deb"
equal "$(cd "$tmp/tree" && ls)" 'scripts
tools'

it "a tree without git has the revision of its file, or none"
cp scripts/revision "$tmp/tree/scripts"
run "$tmp/tree/scripts/revision"
equal "$(cat "$tmp/out")" unknown
echo v0.1.0-7-gabc >"$tmp/tree/REVISION"
run "$tmp/tree/scripts/revision"
equal "$(cat "$tmp/out")" v0.1.0-7-gabc

it "a checkout has the revision of git, and says when it was changed"
if command -v git >/dev/null; then
	(
		cd "$tmp/tree" && git init -q . && git add -A &&
			git -c user.name=x -c user.email=x@localhost commit -qm x
	) >"$tmp/out" 2>&1 || no "git: $(head -n 1 "$tmp/out")"
	run "$tmp/tree/scripts/revision"
	lines 1 '^[0-9a-f]{12}$'
	echo >>"$tmp/tree/REVISION"
	run "$tmp/tree/scripts/revision"
	lines 1 '^[0-9a-f]{12}-dirty$'
	chown -R 65534 "$tmp/tree"
	run "$tmp/tree/scripts/revision"
	lines 1 '^[0-9a-f]{12}-dirty$'
else
	skip "no git here"
fi
