# shellcheck shell=sh
# cudaexporter's web server: TLS, configs that change while it runs, and clients that mean ill.
# shellcheck source=/dev/null
. tests/exporter-web.sh

# ca NAME; signed NAME CA USAGE [NAMES]: a key and a certificate, of an authority or of localhost
ca() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
		-keyout "$tmp/$1.key" -out "$tmp/$1.pem" 2>/dev/null
}
signed() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
		-keyout "$tmp/$1.key" -out "$tmp/$1.csr" 2>/dev/null
	printf 'extendedKeyUsage=%s\nsubjectAltName=%s\n' "$3" "${4:-DNS:localhost,IP:127.0.0.1}" >"$tmp/ext"
	openssl x509 -req -in "$tmp/$1.csr" -CA "$tmp/$2.pem" -CAkey "$tmp/$2.key" -CAcreateserial -days 2 \
		-extfile "$tmp/ext" -out "$tmp/$1.pem" 2>/dev/null
}
ca root
ca stranger
signed server root serverAuth
signed next root serverAuth
signed client root clientAuth
signed spy stranger clientAuth
signed notclient root serverAuth

# web_yml [LINE...]: TLS, and these lines of tls_server_config; put there at once
web_yml() {
	{
		printf 'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n'
		[ $# = 0 ] || printf '  %s\n' "$@"
	} >"$tmp/web.new"
	mv "$tmp/web.new" "$tmp/web.yml"
}
tls() { get /metrics --cacert "$tmp/root.pem" "$@"; }
by() { tls --cert "$tmp/$1.pem" --key "$tmp/$1.key"; }

web_yml
serves -c "$tmp/web.yml" -n 100003

it "TLS serves who trusts the authority, and nobody under another name"
tls
equal "$code" 200
equal "$(wc -c <"$tmp/body")" 100031
get /metrics --cacert "$tmp/stranger.pem"
equal "$code" 000
base=$(echo "$base" | sed 's/127.0.0.1/127.0.0.2/')
tls
equal "$code" 000
base=$(echo "$base" | sed 's/127.0.0.2/127.0.0.1/')

it "plain HTTP is not served where TLS is"
get /metrics -k
curl -sS -m 5 "http://${base#https://}/metrics" >"$tmp/plain" 2>&1
equal "$(grep -c 'format 0' "$tmp/plain")" 0

it "TLS 1.2 is the oldest by default, and what min_version says otherwise"
tls --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0
equal "$code" 000
tls --tls-max 1.2
equal "$code" 200
web_yml 'min_version: TLS13'
tls --tls-max 1.2
equal "$code" 000
tls
equal "$code" 200

it "client_auth_type says which clients are served"
while read -r type none wants; do
	web_yml "client_auth_type: $type" 'client_ca_file: root.pem'
	case $type in Req*Any* | RequestC*) web_yml "client_auth_type: $type" ;; esac
	tls
	equal "$type, none: $code" "$type, none: $none"
	for who in client spy notclient; do
		by $who
		equal "$type, $who: $code" "$type, $who: ${wants%% *}"
		wants=${wants#* }
	done
done <<'END2'
RequestClientCert 200 200 200 200
VerifyClientCertIfGiven 200 200 000 000
RequireAnyClientCert 000 200 200 200
RequireAndVerifyClientCert 000 200 000 000
END2

it "a client_auth_type that asks for less is refused until it is as strict again"
for less in '' 'client_auth_type: NoClientCert' 'client_auth_type: VerifyClientCertIfGiven' 'client_auth_type: RequireAnyClientCert'; do
	: >"$tmp/err"
	case $less in
	*Given) web_yml "$less" 'client_ca_file: root.pem' ;;
	'') web_yml ;;
	*) web_yml "$less" ;;
	esac
	by client
	equal "$less: $code" "$less: 000"
	says 'web.yml:1: client_auth_type was removed: requires a restart; refusing connections until this is fixed'
	web_yml 'client_auth_type: RequireAndVerifyClientCert' 'client_ca_file: root.pem'
	by client
	equal "$less, then as before: $code" "$less, then as before: 200"
done
ends
web_yml
serves -c "$tmp/web.yml" -n 100003

# a chain of 257 certificates: more than a handshake has room for
{ cat "$tmp/client.key"; for _ in $(seq 257); do cat "$tmp/client.pem"; done; } >"$tmp/chain.pem"
web_yml 'client_auth_type: RequestClientCert'
tls
until_true has_server	# of the new config alone
for word in silent half slowly name nonsense chain again; do
	it "clients whose handshake is wrong do not keep others out: $word"
	before=$server
	program python3 tests/tls-hostile.py $word "${base##*:}" "$tmp/chain.pem"
	for _ in 1 2 3; do
		tls
		equal "$code" 200
	done
	go
	tls
	equal "$code" 200
	has_server
	equal "$server" "$before"
	kib=$(awk '/VmHWM/ { print $2 }' "/proc/$server/status")
	[ "$kib" -lt 200000 ] || [ -n "${SANITIZE:-}" ] || no "the server has had $kib KiB"
done

it "a client of TLS 1.2 that renegotiates loses its connection, and no other client does"
mkfifo "$tmp/keys"
openssl s_client -connect "${base##*/}" -tls1_2 <"$tmp/keys" >"$tmp/renegotiates" 2>&1 9>&- & renegotiating=$!
exec 4>"$tmp/keys"
echo R >&4
until_true sh -c "! kill -0 $renegotiating" 2>/dev/null
exec 4>&-
grep -q '^RENEGOTIATING' "$tmp/renegotiates" || no "it did not ask for it"
tls
equal "$code" 200
has_server
equal "$server" "$before"
web_yml

it "a certificate that is replaced is served from the next connection on"
web_yml
subject() { curl -sSv -m 5 -k "$url" 2>&1 | sed -n 's/.*subject: CN=//p'; }
equal "$(subject)" server
cp "$tmp/server.pem" "$tmp/old.pem"
cp "$tmp/server.key" "$tmp/old.key"
cp "$tmp/next.key" "$tmp/server.key"
equal "$(subject)" ''
says "web.yml:2: cert_file '$tmp/server.pem': The certificate and the given key do not match; refusing connections until this is fixed"
cp "$tmp/next.pem" "$tmp/server.pem"
equal "$(subject)" next
cp "$tmp/old.pem" "$tmp/server.pem"
cp "$tmp/old.key" "$tmp/server.key"
equal "$(subject)" server

it "a config that is wrong is said to be once, and nobody is served until it is right"
# wrong MESSAGE
wrong() {
	for i in 1 2 3; do
		tls
		equal "$code" 000
		curl -sS -m 5 "http://${base#https://}/metrics" >"$tmp/plain" 2>&1
		equal "$(grep -c 'format 0' "$tmp/plain")" 0
	done
	equal "$1: $(grep -cF -- "$1" "$tmp/err")" "$1: 1"
	web_yml
	tls
	equal "$code" 200
}
: >"$tmp/web.yml"
wrong "web.yml:1: tls_server_config was removed: requires a restart"
web_yml 'certfile: x'
wrong "web.yml:4: unknown key 'certfile'"
head -n 2 "$tmp/web.yml" >"$tmp/web.cut"
cp "$tmp/web.cut" "$tmp/web.yml"
wrong 'web.yml:1: tls_server_config has no key_file'
rm "$tmp/web.yml"
wrong 'web.yml: No such file or directory'

it "a connection that is kept does not outlive the config that it was made under"
printf 'basic_auth_users:\n  alice: %s\n' "$(bcrypt x)" >>"$tmp/web.yml"
takes 200 /metrics --cacert "$tmp/root.pem" -u alice:x
{
	printf 'GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\n\r\n' "$(printf alice:x | base64)"
	until_true [ -e "$tmp/changed" ]
	sleep 3
	printf 'GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\n\r\n' "$(printf alice:x | base64)"
} | timeout 60 openssl s_client -quiet -no_ign_eof -connect "${base#https://}" >"$tmp/kept" 2>/dev/null &
kept=$!
until_true grep -q '^HTTP/1.1 200' "$tmp/kept"
printf '%s\nbasic_auth_users:\n  bob: %s\n' "$(sed '/^basic/,$d' "$tmp/web.yml")" "$(bcrypt y)" >"$tmp/web.new"
mv "$tmp/web.new" "$tmp/web.yml"
: >"$tmp/changed"
wait "$kept"
equal "$(grep -c '^HTTP/1.1 200' "$tmp/kept")" 1
takes 401 /metrics --cacert "$tmp/root.pem" -u alice:x
takes 200 /metrics --cacert "$tmp/root.pem" -u bob:y

it "users that are gone from the config are a mistake"
web_yml
tls
equal "$code" 000
says 'web.yml:1: basic_auth_users was removed: requires a restart'

it "a connection that is busy does not outlive it either"
web_yml
ends
printf 'basic_auth_users:\n  alice: %s\n' "$(bcrypt x)" >"$tmp/web.yml"
serves -c "$tmp/web.yml" -n 300007
# 97 requests at once, whose answers are taken slowly until the file is there: how many answers there are
python3 - "${base##*:}" "$tmp/begun" "$tmp/refused" >"$tmp/out" <<'END2' &
import os, socket, sys, time
c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
c.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWxpY2U6eA==\r\n\r\n" * 97)
got, begin = b"", time.time()
try:
    while time.time() - begin < 60:
        part = c.recv(1 << 14)
        if not part: break
        got += part
        open(sys.argv[2], "w").close()
        if not os.path.exists(sys.argv[3]): time.sleep(0.01)
except OSError: pass
print(got.count(b"HTTP/1.1 200"))
END2
busy=$!
until_true [ -e "$tmp/begun" ]
echo 'x: y' >"$tmp/web.yml"
until_true grep -q "unknown key 'x'" "$tmp/err"
sleep .3
: >"$tmp/refused"
wait "$busy"
{ [ "$(cat "$tmp/out")" -ge 1 ] && [ "$(cat "$tmp/out")" -lt 90 ]; } || no "$(cat "$tmp/out") answers"
printf 'basic_auth_users:\n  alice: %s\n' "$(bcrypt x)" >"$tmp/web.yml"
takes 200 /metrics -u alice:x

it "of 8 wrong passwords at once some are not even checked"
ends
printf 'basic_auth_users:\n  alice: %s\n' "$(mkpasswd -m bcrypt -R 11 x)" >"$tmp/web.yml"
serves -c "$tmp/web.yml"
for i in 1 2 3 4 5 6 7 8; do
	printf 'url = %s?%s\nuser = alice:%s\noutput = /dev/null\nwrite-out = "%%{http_code}\\n"\nnext\n' "$url" $i $i
done | sed '$d' >"$tmp/many"
curl -sSZ --parallel-immediate -m 30 -K "$tmp/many" >"$tmp/out" 2>"$tmp/curl"
lines 8 '^(401|503)$'
grep -q 401 "$tmp/out" || no "none was checked"
grep -q 503 "$tmp/out" || no "all were checked"
takes 200 /metrics -u alice:x

it "after all these there is one server, and what left is gone"
alone() { [ "$(wc -w <"/proc/$tracer/task/$tracer/children")" -eq 1 ]; }
until_true alone
server=$(tr -d ' ' <"/proc/$tracer/task/$tracer/children")
ends

serves -n 4099

# fds, rss: of both processes; rss in KiB
fds() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status"; }

it "20 clients that send a byte now and then, or nothing, keep nobody out"
python3 - "${base##*:}" >"$tmp/slow" <<'END2' &
import socket, sys, time
clients, begin = [], time.time()
while time.time() - begin < 15:
    while len(clients) < 20:
        c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        c.settimeout(0.01)
        if len(clients) % 2: c.sendall(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
        clients.append(c)
    for c in list(clients):
        try:
            if len(clients) % 2 or c.fileno() % 2: c.sendall(b"a")
            if not c.recv(1): raise OSError
        except TimeoutError: pass
        except OSError: clients.remove(c); c.close()
    time.sleep(0.2)
END2
slow=$! ok=0 tried=0
while kill -0 "$slow" 2>/dev/null; do
	get /metrics -m 5
	tried=$((tried + 1))
	[ "$code" != 200 ] || ok=$((ok + 1))
done
[ "$tried" -ge 5 ] || no "$tried scrapes"
equal "$ok" "$tried"

it "8 clients that never pause keep nobody out"
python3 - "${base##*:}" <<'END2' &
import socket, sys, threading, time
def busy():
    while time.time() < end:
        try:
            c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            c.settimeout(5)
            while time.time() < end:
                c.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
                if not c.recv(4096): break
        except OSError: pass
end = time.time() + 60
for t in range(8): threading.Thread(target=busy).start()
END2
busy=$! ok=0 tried=0
sleep .5
for i in 1 2 3 4 5 6 7; do
	get /nothing -m 2
	tried=$((tried + 1))
	[ "$code" != 404 ] || ok=$((ok + 1))
done
kill "$busy" 2>/dev/null || no "the clients had ended"
wait "$busy" 2>/dev/null
equal "$ok" "$tried"

it "half a request is ended after ten seconds, however its bytes trickle"
python3 - "${base##*:}" >"$tmp/took" <<'END2'
import socket, sys, time
c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
begin = time.time()
c.sendall(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
try:
    while time.time() - begin < 30:
        c.sendall(b"a")
        time.sleep(0.25)
except OSError: pass
print(int(time.time() - begin))
END2
took=$(cat "$tmp/took")
{ [ "$took" -ge 9 ] && [ "$took" -lt 25 ]; } || no "after $took s"

it "a header of 1 MiB is refused, and so is a line of 1 MiB"
python3 - "${base##*:}" >"$tmp/out" <<'END2'
import socket, sys
for request in b"GET / HTTP/1.1\r\nX: " + b"a" * (1 << 20), b"GET /" + b"a" * (1 << 20), b"\0" * (1 << 20):
    c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    c.settimeout(20)
    try:
        c.sendall(request)
        print(c.recv(12))
    except OSError: print("reset")
END2
lines 3 'HTTP/1.1 4[0-9][0-9]?|reset|HTTP/1.1 4|^b..$'

it "10,000 connections, one after the other, leave nothing behind"
burst() {
	python3 - "${base##*:}" "$1" >"$tmp/out" <<'END2'
import socket, sys
served = 0
for i in range(int(sys.argv[2])):
    c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    if i % 3 < 2:
        c.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"[:None if i % 3 == 0 else 30])
    if i % 3 == 0:
        served += c.recv(12) == b"HTTP/1.1 404"
    c.close()
print(served)
END2
}
# the last connection's socket may be open until the next one, when its thread ends just as libmicrohttpd waits for something to do
as_before() {
	get /metrics
	[ "$(fds "$server") $(fds "$tracer")" = "$before" ]
}
burst 997
settled() { [ "$(fds "$server")" -le 9 ]; }
until_true settled
before="$(fds "$server") $(fds "$tracer")" memory=$(rss "$server")
burst 10007
equal "$(cat "$tmp/out")" 3336
until_true as_before
[ "$(rss "$server")" -lt $((memory + 1024)) ] || no "$memory KiB became $(rss "$server")"
takes 200 /metrics

it "scrapes leave nothing behind"
i=0 memory=$(rss "$tracer")
while [ $i -lt 397 ]; do echo "url = $url"; echo 'output = /dev/null'; i=$((i + 1)); done >"$tmp/many"
curl -sS -K "$tmp/many" -w '%{http_code}\n' >"$tmp/out"
lines 397 '^200$'
until_true as_before
[ "$(rss "$tracer")" -lt $((memory + 1024)) ] || no "$memory KiB became $(rss "$tracer")"

# alone: rounds of the collector are timed
it_alone "a server that is stopped stops nobody else, and answers when it goes on"
kill -STOP "$server"
curl -sS -m 30 "$url" >"$tmp/late" & late=$!
sleep 2
[ "$(cut -d' ' -f3 "/proc/$tracer/stat")" = S ] || no "the collector does not wait for its next round"
kill -CONT "$server"
wait "$late"
equal "$(head -n 1 "$tmp/late")" '# format 0 what 0 scraper 0'

it "answers that come too late are dropped"
kill -STOP "$tracer"
for i in 1 2 3; do takes 503 /metrics -H 'X-Prometheus-Scrape-Timeout-Seconds: 0.7'; done
kill -CONT "$tracer"
for i in 1 2 3 4 5 6 7; do takes 200 /metrics; done
until_true as_before

it "a server that is killed is started again, which is said"
old=$server
kill -9 "$server"
another() { has_server && [ "$server" != "$old" ]; }
until_true another
takes 200 /metrics
says 'web server ended by signal 9, Killed: restarting it'
equal "$(grep -c 'web server ended' "$tmp/err")" 1

it "a server whose collector is killed ends"
kill -9 "$tracer"
gone() { [ ! -e "/proc/$server" ]; }
until_true gone

it "a server that does not answer is killed and started again, which is said once"
serves
old=$server
kill -STOP "$old"
until_true another
[ ! -e "/proc/$old" ] || no "it is still there"
takes 200 /metrics
equal "$(grep -c 'web server not responding: restarting it' "$tmp/err")" 1
says_not 'web server ended'

it "where the collector is stopped for longer than that, with a question open, the server stays"
old=$server
kill -STOP "$server"
sleep 2
kill -STOP "$tracer"
sleep 11
kill -CONT "$tracer"
sleep 1
kill -CONT "$server"
takes 200 /metrics
has_server
equal "$server" "$old"
ends
