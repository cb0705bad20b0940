# shellcheck shell=sh disable=SC2013,SC2154 # words without spaces; the words'
# The Debian packages for arm64, built on another machine from the last commit.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
arm=$O-arm64-deb	# arm64.t, which may run at the same time, has the other
deb=$arm/deb
version=$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' common/base/version.h)

it "make deb ARCH=arm64 builds all packages for arm64, whose libraries are named as Debian's packages have them"
cross "$arm/.sysroot" || leave
SECONDS_=1100
run make -s ARCH=arm64 "O=$arm" deb
status 0
for p in $(sed -n 's/^Package: //p' debian/control); do
	equal "$(dpkg-deb -f "$deb/${p}_${version}_arm64.deb" Architecture)" arm64
	dpkg-deb -x "$deb/${p}_${version}_arm64.deb" "$tmp/root"
	dpkg-deb -f "$deb/${p}_${version}_arm64.deb" Depends >"$tmp/out"
	case $p in
	cuda-bpf-tools | cuda-bpf-tools-nccl | cudaexporter) lines 1 'libbpf1 .*libc6 .*libdw1 .*libelf1 .*zlib1g ' ;;
	cuda-bpf-tools-gpuprobe) lines 1 'libbpf1 .*libc6 .*libdw1 .*libelf1 ' ;;
	*) lines 1 'libc6 ' ;;
	esac
done

it "they have every tool and library, for arm64"
for file in tools/*.c "$O"/inject/*.so; do
	case $file in
	*.c) there=usr/bin/$(basename "$file" .c) ;;
	*) there=usr/lib/cuda-bpf-tools/inject/${file##*/} ;;
	esac
	readelf -h "$tmp/root/$there" 2>&1 | grep -q 'Machine: *AArch64' || no "$there"
done

it "lintian says nothing about them"
run lintian --allow-root "$deb"/*.changes
status 0
lines 0 ''
silent
