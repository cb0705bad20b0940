# shellcheck shell=sh disable=SC2154 # the words'
# What can be said of the packages without building them; tests/world/deb.t builds them.

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

# tools: but those of new-tool, which have a page of their own
tools() { for t in tools/*.c; do t=$(basename "$t" .c); [ -e "docs/$t.md" ] || echo "$t"; done; }

it "debian/control's description names every tool"
for t in $(tools); do
	sed -n '/^Package: /,$p' debian/control | grep -qwF "$t" || no "$t"
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
