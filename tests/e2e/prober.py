"""Reads {"probes": [[address, port, kind]…], "seconds"} and prints [[answer, seconds]…]: "open",
"timeout", or the name of an error."""
import concurrent.futures
import errno
import json
import socket
import sys
import time


def ask(address, port, kind):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as s:
        s.settimeout(given["seconds"])
        s.connect((address, port))
        if kind == "udp":  # a refusal comes back as an error of the socket
            s.send(b"probe")
            s.settimeout(0.3)
            try:
                s.recv(1)
            except TimeoutError:
                pass


def judge(probe):
    begin = time.monotonic()
    try:
        ask(*probe)
        answer = "open"
    except TimeoutError:
        answer = "timeout"
    except OSError as e:
        answer = errno.errorcode.get(e.errno, str(e))
    return [answer, time.monotonic() - begin]


given = json.load(sys.stdin)
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    print(json.dumps(list(pool.map(judge, given["probes"]))))
