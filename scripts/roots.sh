# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # root and why are the caller's, cache and tmp its
# New roots of Debian's releases: for check-roots and check-deb, which set $cache, where they are made, and $tmp.
# shellcheck disable=SC1091 # it is given to shellcheck itself
. scripts/debian.sh

# inside ROOT COMMAND: in its $place, in a mount namespace, with what the tools need, and with the CUDA toolkit that is in
# $toolkit, if it is not empty.  The mounts end with it, so that the root can be removed
place=/checkout toolkit=
cat >"$tmp/inside" <<'END'
mount --bind "$1" "$1" && cd "$1" && mount --rbind /dev dev && mount -t proc proc proc &&
	mount -t sysfs sysfs sys && mount -t bpf bpf sys/fs/bpf &&
	mount -t tracefs tracefs sys/kernel/tracing && mount -t cgroup2 cgroup2 sys/fs/cgroup || exit
[ -z "$4" ] || { mkdir -p usr/local/cuda && mount --bind "$4" usr/local/cuda && mount -o remount,bind,ro usr/local/cuda; } || exit
exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh -c "cd '$3' && $2"
END
inside() { unshare -m sh "$tmp/inside" "$1" "$2" "$place" "$toolkit" </dev/null; }

# new_root SUITE [NAME]: $root, with an empty $place; $why not.  NAME: the root's, if it is not SUITE
new_root() {
	root=$cache/${2:-$1}
	if ! command -v debootstrap >/dev/null; then
		why="missing debootstrap: run scripts/setup roots"
		return 1
	fi
	rm -rf "$root"
	why="no Debian mirror in this machine's apt sources"
	for uri in $(mirrors "$1"); do
		why="debootstrap: $root.log"
		debootstrap --variant=minbase "$1" "$root" "$uri" >"$root.log" 2>&1 || continue
		apt-config dump | grep '^Acquire' >"$root/etc/apt/apt.conf.d/99acquire"	# proxies and the like
		mkdir -p "$root$place" && return
	done
	return 1
}
