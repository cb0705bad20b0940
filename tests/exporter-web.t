# shellcheck shell=sh
# cudaexporter's web server without the tool: pages, formats, users, the config and what the process may do.
# shellcheck source=/dev/null
. tests/exporter-web.sh

serves -n 4099

it "a page comes in the text format, complete"
takes 200 /metrics
head_says 'Content-Type: text/plain; version=0.0.4; charset=utf-8'
head_says 'Content-Length: 4127'
equal "$(head -n 1 "$tmp/body")" '# format 0 what 0 scraper 0'
equal "$(wc -c <"$tmp/body")" 4127

it "OpenMetrics comes to who prefers it"
while read -r want accept; do
	get /metrics -H "Accept: $accept"
	equal "$accept: $(head -n 1 "$tmp/body" | cut -d' ' -f3)" "$accept: $want"
	case $want in
	0) head_says 'Content-Type: text/plain; version=0.0.4; charset=utf-8' ;;
	1) head_says 'Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8' ;;
	esac
done <<'END2'
0 */*
0 text/plain
0 application/json
1 application/openmetrics-text
1 application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1
0 application/openmetrics-text;version=0.0.1
0 application/openmetrics-text;version=2.0.0;q=0.9,text/plain;version=0.0.4;q=0.1
0 text/plain;version=0.0.4,application/openmetrics-text;version=1.0.0;q=0.999
1 text/plain;version=0.0.4;q=0.3 , Application/OpenMetrics-Text ; version="1.0.0" ; q=0.301
0 application/openmetrics-text;q=0
0 application/openmetrics-text;q=0.5,text/*
0 application/openmetrics-text;q=nonsense,text/plain;q=0.001
1 application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;charset=utf-8;q=0.8,text/plain;q=0.5
END2

it "a page of at most 16 KiB is not compressed"
get /metrics -H 'Accept-Encoding: gzip'
equal "$(grep -ci '^content-encoding' "$tmp/head")" 0

it "HEAD has the headers of GET, and no body"
takes 200 /metrics -I
head_says 'Content-Length: 4127'
[ ! -s "$tmp/body" ] || [ "$(grep -c cuda_ "$tmp/body")" -eq 0 ] || no "it has a body"

it "what is neither GET nor HEAD is refused"
for method in POST PUT DELETE OPTIONS TRACE; do
	takes 405 /metrics -X "$method"
	head_says 'Allow: GET, HEAD'
done
takes 405 /metrics -d "$(head -c 4099 /dev/zero | tr '\0' x)"

it "there are a page with links, the probes, and no others"
takes 200 /
head_says 'Content-Type: text/html; charset=utf-8'
grep -o 'href="[^"]*"' "$tmp/body" | cut -d'"' -f2 >"$tmp/links"
equal "$(wc -l <"$tmp/links")" 4
while read -r link; do takes 200 "$link"; done <"$tmp/links"
takes 200 /probes
equal "$(head -n 1 "$tmp/body")" '# format 0 what 1 scraper 0'
for path in /nothing /metrics/ /metricsx /Metrics //metrics; do takes 404 "$path"; done
takes 200 '/metrics?x=y'

it "who scrapes is known by its address, if it is Prometheus"
scraper() { cut -d' ' -f7 "$tmp/body" | head -n 1; }
get /metrics -H 'X-Prometheus-Scrape-Timeout-Seconds: 10'
one=$(scraper)
get /metrics -H 'X-Prometheus-Scrape-Timeout-Seconds: 10' --local-port 40000-50000
equal "$(scraper)" "$one"
get /metrics -H 'X-Prometheus-Scrape-Timeout-Seconds: 10' --interface 127.0.0.7
[ "$(scraper)" != "$one" ] || no "two addresses are one"
[ "$one" != 0 ] || no "it is nobody"

it "a connection serves several requests"
curl -sS -o /dev/null -o /dev/null -o /dev/null -w '%{num_connects} %{http_code}\n' "$url" "$url" "$base/" >"$tmp/out"
equal "$(tr '\n' ' ' <"$tmp/out")" '1 200 0 200 0 200 '

it "8 KiB of headers are taken, 16 are not"
takes 200 /metrics -H "X-Long: $(head -c 7000 /dev/zero | tr '\0' a)"
takes 431 /metrics -H "X-Long: $(head -c 16384 /dev/zero | tr '\0' a)"

it "the server is of no other process's user, has no capability and a filter, in all its threads"
own=$(awk '/^Uid:/ { print $2 }' "/proc/$server/status")
[ "$own" -ge 1879048192 ] || no "its user is $own"
for to in STOP KILL; do
	! setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all kill -$to "$server" 2>/dev/null ||
		no "nobody's process sends it SIG$to"
done
curl -sS -m 5 "$url" >/dev/null
threads=0
for t in "/proc/$server/task"/*/status; do
	grep -E '^(Uid|Gid|Groups|Cap[A-Z][a-z]*|NoNewPrivs|Seccomp):' "$t" 2>/dev/null | tr -s '\t ' '  ' >"$tmp/status"
	[ -s "$tmp/status" ] || continue	# a connection's, which has ended
	threads=$((threads + 1))
	for line in "Uid: $own $own $own $own" "Gid: $own $own $own $own" 'NoNewPrivs: 1' 'Seccomp: 2' \
		'CapInh: 0000000000000000' 'CapPrm: 0000000000000000' 'CapEff: 0000000000000000' \
		'CapBnd: 0000000000000000' 'CapAmb: 0000000000000000'; do
		grep -qx "$line" "$tmp/status" || no "$line: $(grep "^${line%%:*}" "$tmp/status")"
	done
	equal "$(grep -c '^Groups: *$' "$tmp/status")" 1
done
[ "$threads" -ge 2 ] || no "$threads threads"
grep -q '^Max open files *64 *64' "/proc/$server/limits" || no "$(grep open "/proc/$server/limits")"
grep -q '^Max address space *2147483648 *2147483648' "/proc/$server/limits" || no "$(grep address "/proc/$server/limits")"
grep -q '^Max core file size *0 *0' "/proc/$server/limits" || no "$(grep core "/proc/$server/limits")"

it "the server has no descriptor but the socket to the collector and what it listens on"
# shellcheck disable=SC2012 # numbers
ls -l "/proc/$server/fd" | awk '/->/ { sub(/:.*/, "", $NF); print $NF }' | sort | uniq -c | tr -s ' \n' ' ' >"$tmp/out"
equal "$(grep -cE '^( [0-9]+ (/dev/null|socket|anon_inode|pipe|/[^ ]*err))+ $' "$tmp/out")" 1
[ "$(find "/proc/$server/fd" -mindepth 1 | wc -l)" -le 8 ] || no "$(cat "$tmp/out")"

it "the server writes to nobody's terminal, and has nothing of the collector's environment"
equal "$(readlink "/proc/$server/fd/2")" /dev/null
tr '\0' '\n' <"/proc/$tracer/environ" | grep -q '^PATH=' || no "the collector has no environment either"
tr '\0' '\n' <"/proc/$server/environ" | grep -vE '^(LD_LIBRARY_PATH|[A-Z]*SAN_OPTIONS)=' >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(cat "$tmp/out")"
ends

it "what serving does not need kills the server"
for call in socket exec fork wx setown async dup linger fastopen pass; do
	run "$bin/web" -x "$call"
	status 159
done 2>"$tmp/said"
run "$bin/web" -x write
status 0
says 'web: written'
run "$bin/web" -x flags
status 0
says 'web: flags are set'

it "the server cannot open a file"
run "$bin/web" -x open
says 'web: open: Permission denied'
run "$bin/web" -x stat
says 'web: stat: Permission denied'

it "more than 16 KiB are compressed for who takes gzip"
serves -n 1000003
get /metrics
cp "$tmp/body" "$tmp/plain"
while read -r want encodings; do
	get /metrics -H "Accept-Encoding: $encodings"
	equal "$encodings: $(grep -ci '^content-encoding: gzip' "$tmp/head")" "$encodings: $want"
	if [ "$want" = 1 ]; then gzip -dc "$tmp/body"; else cat "$tmp/body"; fi | cmp -s - "$tmp/plain" || no "$encodings: another page"
done <<'END2'
1 gzip
1 deflate, gzip;q=0.5, br
1 *
1 GZIP;q=0.001
0 gzip;q=0
0 identity
0 *, gzip;q=0
0 gzip;q=0.5, identity
0 br
END2
ends

it "no page yet is status 503, and ready is who has its probes"
serves -n -1 -r "$tmp/there"
takes 503 /metrics
takes 503 /-/ready
takes 200 /-/healthy
: >"$tmp/there"
takes 200 /-/ready
ends

it "--web.telemetry-path is another path"
serves -p /cuda/gpu
base=${url%/cuda/gpu}
takes 200 /cuda/gpu
takes 404 /metrics
get /
grep -q 'href="/cuda/gpu"' "$tmp/body" || no "no link"
ends

it "a collector that is late is status 503, half a second before Prometheus gives up"
serves
kill -STOP "$tracer"
takes 503 /metrics -H 'X-Prometheus-Scrape-Timeout-Seconds: 0.7'
grep -q 'not ready in time' "$tmp/body" || no "$(cat "$tmp/body")"
kill -CONT "$tracer"
takes 200 /metrics

it "more scrapes at once than --web.max-requests are status 503"
kill -STOP "$tracer"
for i in 1 2 3 4; do
	until curl -fsS -m 30 -H 'X-Prometheus-Scrape-Timeout-Seconds: 30' "$url"; do sleep .05; done >"$tmp/scrape.$i" 2>/dev/null &
	pids="$pids $!"
done
many() { get /metrics -H 'X-Prometheus-Scrape-Timeout-Seconds: 0.7'; grep -q 'too many concurrent scrapes' "$tmp/body"; }
until_true many
equal "$code" 503
kill -CONT "$tracer"
all_done() { [ "$(cat "$tmp"/scrape.* | grep -c '^# format 0')" = 4 ]; }
until_true all_done
ends

it "an address that is none, or taken, is said"
fails 2 "--web.listen-address: 'localhost' is not an address such as 127.0.0.1:10950" "$bin/web" -l localhost
fails 2 "'::1:9' is not an address" "$bin/web" -l ::1:9
fails 2 "'[::1:9' is not an address" "$bin/web" -l '[::1:9'
fails 2 "'127.0.0.1:65536' is not an address" "$bin/web" -l 127.0.0.1:65536
fails 2 "--web.telemetry-path: '/-/ready' is reserved" "$bin/web" -p /-/ready
fails 2 "--web.telemetry-path: 'metrics' is not a path" "$bin/web" -p metrics
serves
fails 1 "cannot listen on '${base#http://}' (choose another with --web.listen-address): Address already in use" "$bin/web" -l "${base#http://}"
stop TERM

it "several addresses are served, of both kinds"
serves -l '[::1]:0' -l :0
sed -n 's/.*listening on //p' "$tmp/err" >"$tmp/urls"
equal "$(wc -l <"$tmp/urls")" 3
while read -r each; do
	equal "$(curl -gsS -m 5 "$each")" '# format 0 what 0 scraper 0'
	case $each in *'[::]'*) each=http://127.0.0.1:${each##*:} ;; esac
	equal "$(curl -gsS -m 5 "$each")" '# format 0 what 0 scraper 0'
done <"$tmp/urls"
ends

it "a config with users asks for their passwords"
cat >"$tmp/web.yml" <<END2
basic_auth_users:
  alice: $(bcrypt 'open sesame')
  'bob b': $(bcrypt 'a:b')
END2
serves -c "$tmp/web.yml"
for path in /metrics / /probes /-/healthy /-/ready /nothing; do takes 401 "$path"; done
head_says 'WWW-Authenticate: Basic realm="cudaexporter".*'
head_says 'Connection: close'
takes 200 /metrics -u 'alice:open sesame'
takes 200 /metrics -u 'alice:open sesame'
takes 200 /metrics -u 'bob b:a:b'
for wrong in alice: alice:open 'alice:open sesame ' 'bob b:open sesame' mallory:x : "alice:$(head -c 2000 /dev/zero | tr '\0' x)"; do
	takes 401 /metrics -u "$wrong"
done
for wrong in 'Basic' 'Basic !!!!' 'Basic YWxpY2U=' 'Bearer YWxpY2U6b3BlbiBzZXNhbWU=' 'Digest username="alice"'; do
	takes 401 /metrics -H "Authorization: $wrong"
done
ends

# config TEXT: what is said of it
config() {
	printf '%b' "$1" >"$tmp/web.yml"
	"$bin/web" -f "$tmp/web.yml" 2>&1 | sed "s|$tmp/||g"
}

hash=$(bcrypt x)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
openssl ecparam -name prime256v1 -genkey -noout -out "$tmp/other.pem" 2>/dev/null
tls='tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n'

it "a config that is right is taken"
for right in '' '# nothing\n' '{}\n' "$tls" "$tls  min_version: TLS13\n" "$tls  client_auth_type: RequestClientCert\n" \
	"$tls  client_ca_file: cert.pem\n  client_auth_type: RequireAndVerifyClientCert\n" \
	"basic_auth_users: {a: '$hash'}\n" "$tls"'basic_auth_users:\n  a: '"$hash\n"; do
	equal "$right: $(config "$right")" "$right: right"
done

it "a config that is wrong is said to be, with the line"
while read -r line text; do
	read -r want
	equal "$text: $(config "$text")" "$text: web.yml:$line: $want"
done <<END2
1 x: y
unknown key 'x' (known: tls_server_config, basic_auth_users)
4 ${tls}  certfile: x
unknown key 'certfile' (known: cert_file, key_file, client_ca_file, client_auth_type, min_version)
3 tls_server_config:\n  cert_file: cert.pem\n  cert_file: cert.pem
duplicate key 'cert_file'
4 ${tls}tls_server_config: {}
duplicate key 'tls_server_config'
1 tls_server_config:
tls_server_config must be a mapping, of lines 'key: value'
1 tls_server_config: [a]
tls_server_config must be a mapping, of lines 'key: value'
1 tls_server_config: {cert_file: cert.pem}
tls_server_config has no key_file
1 tls_server_config: {}
tls_server_config has no cert_file
2 tls_server_config:\n  cert_file: [x]
cert_file must be a string
2 tls_server_config:\n  cert_file:
cert_file must not be empty
4 ${tls}  min_version: TLS14
min_version: 'TLS14' is not one of TLS10 … TLS13
4 ${tls}  client_auth_type: Yes
client_auth_type: 'Yes' is not one of NoClientCert … RequireAndVerifyClientCert
4 ${tls}  client_auth_type: RequireAndVerifyClientCert
this client_auth_type needs a client_ca_file
4 ${tls}  client_ca_file: cert.pem
client_ca_file needs a client_auth_type
2 basic_auth_users:\n  a: secret
the password hash of user 'a' is not a bcrypt hash, which begins with \$2b\$, \$2y\$ or \$2a\$ (create one with htpasswd -B)
3 basic_auth_users:\n  b: ${hash}\n  a: ${hash%?}
the password hash of user 'a' is malformed: a bcrypt hash has 60 characters
1 basic_auth_users: {a: \$2b\$31\$${hash#???????}}
the password hash of user 'a' has a cost outside 4 to 15: a higher cost takes longer than a scrape may
1 basic_auth_users: {}
basic_auth_users has no user
1 basic_auth_users: {"a:b": '${hash}'}
user 'a:b': a name must not have a colon
1 [a, b]
the file must be a mapping, of lines 'key: value'
2 {}\n--- {}
a second document is not supported
1 basic_auth_users: &x {a: '${hash}'}
anchors are not supported
1 basic_auth_users: *x
aliases are not supported
1 basic_auth_users: !!map {a: '${hash}'}
tags are not supported
3 tls_server_config:\n  cert_file: "cert\n
invalid YAML: found unexpected end of stream
2 a:\n\\tb: c
invalid YAML: found character that cannot start any token
2 tls_server_config:\n  cert_file: nothing.pem\n  key_file: key.pem
cert_file 'nothing.pem': No such file or directory
2 tls_server_config:\n  cert_file: cert.pem\n  key_file: other.pem
cert_file 'cert.pem': The certificate and the given key do not match
3 tls_server_config:\n  cert_file: cert.pem\n  key_file: cert.pem
key_file 'cert.pem': The requested data were not available
2 tls_server_config:\n  cert_file: key.pem\n  key_file: key.pem
cert_file 'key.pem': Base64 decoding error
END2

it "a config that cannot be read is said to be"
for f in "$tmp/nothing.yml" "$tmp"; do
	run "$bin/web" -f "$f"
	status 1
done
lines 1 ': Is a directory$'
head -c 70001 /dev/zero | tr '\0' '#' >"$tmp/web.yml"
run "$bin/web" -f "$tmp/web.yml"
lines 1 ': File too large$'
printf 'x: y\n' >"$tmp/web.yml"
fails 2 "$tmp/web.yml:1: unknown key 'x'" "$bin/web" -c "$tmp/web.yml"

# listens CONFIG: on what without --web.listen-address; it says so, too, if the port is taken
listens() {
	printf '%b' "$1" >"$tmp/web.yml"
	: >"$tmp/err"
	"$bin/web" -c "$tmp/web.yml" 2>"$tmp/err" &
	until_true grep -qE 'listen(ing)? on' "$tmp/err"
	kill $! 2>/dev/null
	wait $! 2>/dev/null
	sed -nE "s|.*listen(ing)? on .*127\.0\.0\.1:10950.*|loopback|p; s|.*listen(ing)? on .*:10950.*|all|p" "$tmp/err"
}

it "without an address, all are served only if the config says by whom"
users="basic_auth_users:\n  a: '$hash'\n"
for open in '' "$tls" "$users" "$tls  client_ca_file: cert.pem\n  client_auth_type: VerifyClientCertIfGiven\n" \
	"$tls  client_auth_type: RequestClientCert\n"; do
	equal "$open: $(listens "$open")" "$open: loopback"
	says 'without --web.listen-address, serving this host only'
done
for closed in "$tls$users" "$tls  client_auth_type: RequireAnyClientCert\n" \
	"$tls  client_ca_file: cert.pem\n  client_auth_type: RequireAndVerifyClientCert\n"; do
	equal "$closed: $(listens "$closed")" "$closed: all"
done
