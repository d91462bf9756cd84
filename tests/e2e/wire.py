"""Packets themselves: what goes by in a network namespace, and packets that no socket would send.

wire.py capture [PORT]: a line of JSON for every IP packet of any interface there, or every datagram to that
port, until its input ends.
wire.py send: reads {"interface", "mac", "sources": [v4, v6], "port", "packets": [[address, port, kind]…]} and
writes a SYN or a datagram for each onto the interface."""
import contextlib
import ctypes
import ipaddress
import json
import select
import socket
import struct
import subprocess
import sys
import threading
import time

from internet import place_of

IP4, IP6, ALL = 0x0800, 0x86DD, 3
KINDS = {"tcp": 6, "udp": 17}
SO_RCVBUFFORCE, BUFFER = 33, 32 << 20
SYN, RST, ACK = 2, 4, 16
SHOWN_BYTES = 512
SO_ATTACH_FILTER = 26


def enter(namespace):
    """Words that run this program there: in a pid's namespace, or one with a name."""
    return ["nsenter", f"--net={place_of(namespace)}", "--", sys.executable, __file__]


class Capture:
    """All that goes by in a namespace from here on."""

    def __init__(self, namespace, port=""):
        self.rows = []
        self.process = subprocess.Popen([*enter(namespace), "capture", str(port)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.rows.append(json.loads(line))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """What had come before this call has been read after it."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()

    def probes(self, flag=0, source=False):
        """(address, port, kind) of what went by; SYN: of what opens a connection, RST: of resets. Of where it
        comes from, or goes to."""
        end = "from" if source else "to"
        return {(r[end], r[f"{end}_port"], r["kind"]) for r in list(self.rows)
                if r["flags"] & flag == flag and not (flag == SYN and r["flags"] & ACK)}

    def has(self, data):
        return [r for r in list(self.rows) if data.hex() in r["data"]]


def send(namespace, interface, mac, sources, packets, port):
    given = {"interface": interface, "mac": mac, "sources": sources, "port": port, "packets": packets}
    subprocess.run([*enter(namespace), "send"], input=json.dumps(given), text=True, check=True)


def parse(data, protocol):
    """Of an IP packet without extension headers."""
    if protocol == IP4:
        number, start = data[9], (data[0] & 15) * 4
        ends = data[12:16], data[16:20]
    else:
        number, start = data[6], 40
        ends = data[8:24], data[24:40]
    kind = {v: k for k, v in KINDS.items()}.get(number, str(number))
    body = data[start:]
    ports, flags = (0, 0), 0
    if kind in KINDS and len(body) >= 8:
        ports = struct.unpack("!HH", body[:4])
        flags = body[13] if kind == "tcp" and len(body) > 13 else 0
    source, to = (str(ipaddress.ip_address(bytes(e))) for e in ends)
    return {"from": source, "to": to, "from_port": ports[0], "to_port": ports[1], "kind": kind, "flags": flags,
            "data": bytes(body[:SHOWN_BYTES]).hex()}


def only(port):
    """A filter for datagrams to this port, from the IP header on: the machine may have much else to tell."""
    words = [(0x30, 0, 0, 0), (0x54, 0, 0, 0xF0), (0x15, 0, 5, 0x40),  # version 4?
             (0x30, 0, 0, 9), (0x15, 0, 8, 17), (0xB1, 0, 0, 0), (0x48, 0, 0, 2), (0x15, 4, 5, port),
             (0x30, 0, 0, 6), (0x15, 0, 3, 17), (0x28, 0, 0, 42), (0x15, 0, 1, port),
             (0x06, 0, 0, 65535), (0x06, 0, 0, 0)]
    return b"".join(struct.pack("HBBI", *w) for w in words)


def capture(port):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
    if port:
        code = ctypes.create_string_buffer(only(int(port)))
        words = len(code) // 8
        s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", words, ctypes.addressof(code)))
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    s.setblocking(False)
    print("ready", flush=True)
    while True:
        ready = select.select([s, sys.stdin], [], [])[0]
        with contextlib.suppress(BlockingIOError):
            while True:
                data, (name, protocol, *_) = s.recvfrom(65536)
                if protocol in (IP4, IP6):
                    print(json.dumps({"on": name, **parse(data, protocol)}), flush=True)
        if sys.stdin in ready:
            return


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(source, to, port, from_port, kind):
    """The whole packet, from its IP header on."""
    ends = source.packed + to.packed
    if kind == "tcp":
        body, at = struct.pack("!HHIIBBHHH", from_port, port, port, 0, 5 << 4, SYN, 64240, 0, 0), 16
    else:
        body, at = struct.pack("!HHHH", from_port, port, 13, 0) + b"probe", 6
    sum_of = checksum(ends + struct.pack("!II", len(body), KINDS[kind]) + body)
    body = body[:at] + struct.pack("!H", sum_of) + body[at + 2:]
    if to.version == 6:
        return struct.pack("!IHBB", 6 << 28, len(body), KINDS[kind], 64) + ends + body
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), port, 0, 64, KINDS[kind], 0) + ends
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def send_given(given):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
    mac = bytes.fromhex(given["mac"].replace(":", ""))
    sources = {a.version: a for a in map(ipaddress.ip_address, given["sources"])}
    for address, port, kind in given["packets"]:
        to = ipaddress.ip_address(address)
        protocol = IP4 if to.version == 4 else IP6
        data = packet(sources[to.version], to, port, given["port"], kind)
        for _ in range(100):
            try:
                s.sendto(data, (given["interface"], protocol, 0, 0, mac))
                break
            except OSError:  # its queue is full
                time.sleep(0.01)


if __name__ == "__main__":
    capture(sys.argv[2]) if sys.argv[1] == "capture" else send_given(json.load(sys.stdin))
