# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # conf and why are the caller's, cache and tmp its
# Packages of Debian suites, in a directory of their own: for check-kernels, check-libs, pythons and clangs, which set
# $cache, where lists and packages are kept, and $tmp; $architecture, if it is not amd64.  What apt downloads it checks
# against the suite's signature.
architecture=${architecture:-amd64}

# mirrors SUITE: the mirrors of suites of that kind, Debian's or similarly named ones, in this
# machine's apt sources
mirrors() {
	like=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	case $1 in *-security) like=$like-security ;; esac
	apt-get -o Debug::NoLocking=1 --print-uris update 2>/dev/null |
		sed -n "s|^'\(.*\)/dists/$like/InRelease' .*|\1|p"
}

# lists SUITE [deb-src]: updates its package lists, or those of its sources, at most once a day, in a separate directory
# with a separate apt configuration, $conf; the machine's own are not touched.  $why it failed
lists() {
	dir=$cache/apt/$1 conf=$cache/apt/$1/apt.conf
	why="no package lists of $1: no Debian mirror in this machine's apt sources"
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$dir/parts"
	: >"$dir/status"
	{
		apt-config dump | grep '^Acquire'	# proxies and the like
		cat <<-END
			APT::Update::Error-Mode "any";
			Acquire::Retries "1";
			Acquire::http::Timeout "20";
			Acquire::https::Timeout "20";
			APT::Architecture "$architecture";
			APT::Sandbox::User "root";
			Dir::State "$dir";
			Dir::State::status "$dir/status";
			Dir::Cache "$dir";
			Dir::Etc "$dir";
			Dir::Etc::parts "parts";
			Dir::Etc::preferencesparts "parts";
			Dir::Etc::sourceparts "parts";
			Dir::Etc::netrc "/etc/apt/auth.conf";
			Dir::Etc::netrcparts "/etc/apt/auth.conf.d";
		END
	} >"$conf"
	[ -z "$(find "$dir/updated" -mtime -1 2>/dev/null)" ] || return 0
	for uri in $(mirrors "$1"); do
		echo "${2:-deb} [arch=$architecture signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $1 main" \
			>"$dir/sources.list"
		APT_CONFIG=$conf apt-get update -qq >"$tmp/apt" 2>&1 && touch "$dir/updated" && return 0
		why="no package lists of $1: $(grep '^[EW]:' "$tmp/apt" | head -n 1)"
	done
	return 1
}

# needed PACKAGE...: the packages, and those that they need, by $conf
needed() {
	APT_CONFIG=$conf apt-get install -qq --no-install-recommends --print-uris -o Debug::NoLocking=1 "$@" \
		2>"$tmp/apt" | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p"
}

# download PACKAGE...: to $tmp/debs, by $conf; $why not
download() {
	mkdir -p "$tmp/debs"
	(cd "$tmp/debs" && APT_CONFIG=$conf apt-get download -qq "$@") >"$tmp/apt" 2>&1 && return
	why="cannot download $1: $(grep '^[EW]:' "$tmp/apt" | head -n 1)"
	return 1
}

# unpack: what is in $tmp/debs into $tmp/root, a merged /usr, without documentation
unpack() {
	for d in bin sbin lib lib64; do
		mkdir -p "$tmp/root/usr/$d" && ln -s "usr/$d" "$tmp/root/$d" || return
	done
	mkdir -p "$tmp/root/tmp" "$tmp/root/proc"
	for deb in "$tmp"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -xf - -C "$tmp/root" --keep-directory-symlink --no-same-owner \
			--exclude='./usr/share/*' || return
	done
}
