# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# tls-hostile.py WORD PORT [FILE]: clients of a TLS server on the loopback address that do not do as they should.  Prints
# "ready" once they are there, and stays until its standard input ends.
#   silent       67 connections that send nothing
#   half         67 with a part of a greeting
#   slowly       a greeting, a byte each 10 ms
#   name         a greeting with a name of 60000 bytes, 67 times
#   nonsense     records of 16 KiB that are none of TLS's, and larger ones than there may be, 67 times
#   chain        a greeting with the certificates and key of FILE
#   again        TLS 1.2, and then 257 greetings in the clear on the same connection
import os, socket, ssl, struct, sys, threading

word, port = sys.argv[1], int(sys.argv[2])
MANY = 67


def greeting(name=b"localhost"):
    def sized(n, b):
        return len(b).to_bytes(n, "big") + b
    names = sized(2, b"\0" + sized(2, name))
    more = struct.pack(">H", 0) + sized(2, names) + struct.pack(">H", 10) + sized(2, sized(2, b"\0\x17"))
    more += struct.pack(">H", 13) + sized(2, sized(2, b"\4\3\4\1"))
    body = b"\3\3" + os.urandom(32) + b"\0" + sized(2, b"\xc0\x2b\xc0\x2f") + b"\1\0" + sized(2, more)
    whole = b"\1" + sized(3, body)
    return b"".join(b"\x16\3\1" + sized(2, whole[i:i + 16384]) for i in range(0, len(whole), 16384))


def connect():
    return socket.create_connection(("127.0.0.1", port), 20)


def send(s, data):
    try:
        s.sendall(data)
    except OSError:
        pass
    return s


def slowly(s):
    for byte in greeting():
        try:
            s.sendall(bytes([byte]))
        except OSError:
            return
        gone.wait(.01)


gone, kept = threading.Event(), []
if word == "again":
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    s = context.wrap_socket(connect())
    raw = socket.socket(fileno=os.dup(s.fileno()))
    for _ in range(257):
        send(raw, greeting())
    kept += [s, raw]
elif word == "chain":
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(sys.argv[3])
    try:
        s = context.wrap_socket(connect())
        kept.append(send(s, b"GET /metrics HTTP/1.0\r\n\r\n"))
        print(s.recv(100))
    except OSError as e:
        print(e)
elif word == "slowly":
    threading.Thread(target=slowly, args=(connect(),), daemon=True).start()
else:
    data = {"silent": b"", "half": greeting()[:60], "name": greeting(b"x" * 60000),
            "nonsense": (b"\x17\3\3\x40\0" + b"x" * 16384) * 4 + b"\x16\3\3\xff\xff" + b"x" * 65535}[word]
    for _ in range(MANY):
        try:
            kept.append(send(connect(), data))
        except OSError:
            pass
print("ready", flush=True)
sys.stdin.read()
gone.set()
