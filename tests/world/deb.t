# shellcheck shell=sh disable=SC2154 # the words'
# The Debian packages, built from the last commit: what lintian says, and their life in new roots of bookworm and trixie.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

it "make deb builds all packages and leaves the tree as it was"
git status --porcelain >"$tmp/before" 2>/dev/null
timeout 1500 make -s "O=$O" deb >"$tmp/out" 2>"$tmp/err"
rc=$?
status 0
architecture=$(dpkg --print-architecture)
version=$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' common/base/version.h)
packages=$(sed -n 's/^Package: //p' debian/control)
for p in $packages; do
	[ -s "$O/deb/${p}_${version}_$architecture.deb" ] || no "no $p"
done
equal "$(git status --porcelain 2>/dev/null)" "$(cat "$tmp/before")"

it "lintian says nothing about the packages and their source"
run lintian --allow-root "$O"/deb/*.changes
status 0
lines 0 ''
silent

it "the packages share no file, and have every tool"
for p in $packages; do
	dpkg-deb -c "$O/deb/${p}_${version}_$architecture.deb" | awk '$6 !~ /\/$/ { print $6 }' | sort >"$tmp/$p"
done
for p in $packages; do cat "$tmp/$p"; done | sort | uniq -d >"$tmp/out"
lines 0 ''
for t in tools/*.c; do
	t=$(basename "$t" .c)
	case $t in
	cudaexporter) p=cudaexporter ;;
	nccl*) p=cuda-bpf-tools-nccl ;;
	cudamemtime | cudakerneltime | cudacoalesce | cudabounds) p=cuda-bpf-tools-gpuprobe ;;
	*) p=cuda-bpf-tools ;;
	esac
	for file in "bin/$t" "share/man/man8/$t.8.gz" "share/bash-completion/completions/$t" \
		$([ ! -e "$O/inject/$t.so" ] || echo "lib/cuda-bpf-tools/inject/$t.so"); do
		grep -qxF "./usr/$file" "$tmp/$p" || no "no $file in $p"
	done
done
grep -qxF ./usr/lib/cuda-bpf-tools/libcudagpuprobe.so "$tmp/cuda-bpf-tools-gpuprobe" || no "no libcudagpuprobe.so"
for file in lib/cuda-bpf-tools/inject/resident.so lib/cuda-bpf-tools/libcudagputime.so share/man/man7/cuda-bpf-tools.7.gz; do
	grep -qxF "./usr/$file" "$tmp/cuda-bpf-tools-common" || no "no $file"
done

it "a package needs only its tools' libraries"
depends() { dpkg-deb -f "$O/deb/$1_${version}_$architecture.deb" Depends; }
depends cuda-bpf-tools >"$tmp/out"
lines 0 'microhttpd|gnutls|yaml|seccomp|jansson|zstd|lz4'
depends cuda-bpf-tools-nccl >"$tmp/out"
lines 0 'microhttpd|gnutls|yaml|seccomp|zstd|lz4'
depends cuda-bpf-tools-gpuprobe >"$tmp/out"
lines 0 'microhttpd|gnutls|yaml|seccomp|jansson|ncurses|protobuf'
depends cuda-bpf-tools-common >"$tmp/out"
lines 1 '^libc6 [^,]*$'

it "cudaexporter's unit, its defaults and the files for Prometheus, Grafana and Kubernetes are in its package"
for file in etc/default/cudaexporter usr/share/cuda-bpf-tools/prometheus/alerts.yml usr/share/cuda-bpf-tools/grafana/cuda.json \
	usr/share/cuda-bpf-tools/kubernetes/daemonset.yaml; do
	grep -qxF "./$file" "$tmp/cudaexporter" || no "no $file"
done
unit=$(grep -E '^\./(usr/)?lib/systemd/system/cudaexporter\.service$' "$tmp/cudaexporter") || no "no unit"
dpkg-deb -x "$O/deb/cudaexporter_${version}_$architecture.deb" "$tmp/exporter"
cp "$tmp/exporter/$unit" "$tmp/out"
lines 1 '^ExecStart=/usr/bin/cudaexporter( |$)'

it "the programs are compiled with all hardening, and know the revision"
dpkg-deb -x "$O/deb/cuda-bpf-tools_${version}_$architecture.deb" "$tmp/root"
readelf -ldW "$tmp/root/usr/bin/cudaleak" >"$tmp/out"
lines 1 'FLAGS_1\).*NOW PIE'
lines 1 '^ *GNU_RELRO'
run "$tmp/root/usr/bin/cudaleak" -V
lines 1 "^revision $(git describe --always --tags --abbrev=12), "

it "in new roots"
if unshares -m; then
	rm -f "$O/deb-roots/results"
	timeout 1000 scripts/check-deb >"$tmp/out" 2>"$tmp/err"
	[ -s "$O/deb-roots/results" ] || no "without a result"
	verdict
fi

while read -r verdict title; do
	it "$title"
	case $verdict in
	skip) skip "${title#*: }" ;;
	FAIL) no "see ${title##*: }" ;;
	esac
done <"$O/deb-roots/results"
