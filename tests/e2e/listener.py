"""listener.py LOG PORT…: accepts TCP at every address, v4 and v6, and writes down UDP that comes."""
import json
import os
import selectors
import socket
import sys

log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
loop = selectors.DefaultSelector()
for port in map(int, sys.argv[2:]):
    for family, everywhere in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            s = socket.socket(family, kind)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            s.bind((everywhere, port))
            if kind == socket.SOCK_STREAM:
                s.listen(64)
            loop.register(s, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in loop.select():
        s = key.fileobj
        if s.type == socket.SOCK_STREAM:
            s.accept()[0].close()
        else:
            data, peer = s.recvfrom(2048)
            os.write(log, (json.dumps([peer[0], data.hex()]) + "\n").encode())
