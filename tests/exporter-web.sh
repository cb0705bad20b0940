# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # for the tests that include it, and lib.sh's
# Words for the tests of cudaexporter's web server, which tests/unit/web.c serves: . tests/exporter-web.sh

# serves OPTION...: starts it on a port that is free; $url of the metrics, $base of the rest, $server its pid
serves() {
	tool "$bin/web" -l 127.0.0.1:0 "$@"
	url=$(sed -n 's/.*listening on //p' "$tmp/err")
	base=${url%/metrics}
	until_true has_server
}
has_server() {
	server=$(cat "/proc/$tracer/task/$tracer/children")
	server=${server% }
	[ -n "$server" ] && grep -q '^Seccomp:.2' "/proc/$server/status"
}

# get PATH [CURL'S OPTION]...: the body in $tmp/body, its headers in $tmp/head, its status in $code
get() {
	at=$1
	shift
	: >"$tmp/body"
	code=$(curl -sS -m 20 -D "$tmp/head" -o "$tmp/body" -w '%{http_code}' "$@" "$base$at" 2>"$tmp/curl")
}

# head_says REGEX: a header of the answer
head_says() { tr -d '\r' <"$tmp/head" | grep -qiE -- "^$1\$" || no "no header '$1'"; }

# takes CODE PATH [CURL'S OPTION]...
takes() {
	want=$1
	shift
	get "$@"
	equal "$code" "$want"
}

# ends: the server, the collector, and nothing is left of them
ends() {
	stop TERM
	status 0
	[ ! -e "/proc/$server" ] || no "the server is still there"
}

# bcrypt PASSWORD: its hash, at the lowest cost there is
bcrypt() { mkpasswd -m bcrypt -R 4 "$1"; }
