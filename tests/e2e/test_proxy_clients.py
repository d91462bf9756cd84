"""Real clients through cloop-egress (network.md §17.11): curl, wget, python, git, npm and apt in a
network namespace that has nothing but the proxy's address, an "Internet" with nginx and dnsmasq in
another one. The client never resolves a name: it has no name server."""
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from proxyproc import Proxy, Session, in_netns
from wire import SYN, Capture

PUBLIC, PUBLIC6, PRIVATE = "93.184.216.34", "2a00:1450::34", "10.66.0.1"
GATEWAY, BOX = "10.213.0.1", "10.213.0.2"
pytestmark = pytest.mark.root


def sh(*argv, **how):
    return subprocess.run(argv, check=True, capture_output=True, text=True, **how).stdout


class Internet:
    """Two network namespaces, joined by a cable: `inet` with proxy, origin and name server, `box`
    with the clients."""

    def __init__(self, place):
        self.place = place
        self.inet, self.box = f"cpi{os.getpid()}", f"cpb{os.getpid()}"
        self.etc = pathlib.Path("/etc/netns") / self.inet
        self.hosts, self.log = place / "hosts", place / "dns.log"
        self.children = []

    def open(self):
        for ns in (self.inet, self.box):
            sh("ip", "netns", "add", ns)
            sh("ip", "-n", ns, "link", "set", "lo", "up")
        sh("ip", "link", "add", "veth0", "netns", self.inet, "type", "veth", "peer", "name", "veth0",
           "netns", self.box)
        for ns, address in ((self.inet, GATEWAY), (self.box, BOX)):
            sh("ip", "-n", ns, "address", "add", f"{address}/28", "dev", "veth0")
            sh("ip", "-n", ns, "link", "set", "veth0", "up")
        for address in (f"{PUBLIC}/32", f"{PRIVATE}/32", f"{PUBLIC6}/128"):
            sh("ip", "-n", self.inet, "address", "add", address, "dev", "lo")
        # Whatever the proxy connects to is seen here.
        sh("ip", "-n", self.inet, "route", "add", "local", "default", "dev", "lo", "table", "main")
        sh("ip", "-n", self.inet, "-6", "route", "add", "local", "default", "dev", "lo", "table", "main")
        self.etc.mkdir(parents=True)
        (self.etc / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        self.names({})
        self.start("dnsmasq", "--keep-in-foreground", "--no-resolv", "--no-hosts", "--conf-file=/dev/null",
                   f"--addn-hosts={self.hosts}", "--user=root", "--log-queries", "--pid-file=",
                   f"--log-facility={self.log}", "--listen-address=127.0.0.1", "--bind-interfaces",
                   "--server=/slow.example/10.213.0.9")
        self.serve()

    def start(self, *argv):
        self.children.append(subprocess.Popen(["ip", "netns", "exec", self.inet, *argv],
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def names(self, more):
        table = {"files.example": [PUBLIC, PUBLIC6], **more}
        self.hosts.write_text("".join(f"{a} {n}\n" for n, all_of in table.items() for a in all_of))
        self.hosts.chmod(0o644)
        if self.children:
            self.children[0].send_signal(signal.SIGHUP)
            time.sleep(0.2)

    def queries(self, name):
        return self.log.read_text().count(f"query[A] {name} ")

    def serve(self):
        www, conf = self.place / "www", self.place / "nginx.conf"
        www.mkdir(exist_ok=True)
        sh("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.place / "key.pem",
           "-out", self.place / "cert.pem", "-days", "2", "-subj", "/CN=files.example",
           "-addext", "subjectAltName=DNS:files.example")
        (www / "hello").write_text("hello from nginx\n")
        (www / "large").write_bytes(b"x" * (8 << 20))
        listen = "".join(f"listen {a}:80; listen {a}:443 ssl;"
                         for a in (PUBLIC, f"[{PUBLIC6}]", PRIVATE, "127.0.0.1"))
        conf.write_text(f"""
user root; daemon off; pid {self.place}/nginx.pid; error_log {self.place}/error.log;
events {{}}
http {{
	access_log {self.place}/access.log; default_type application/octet-stream;
	client_body_temp_path {self.place}/t1; proxy_temp_path {self.place}/t2;
	fastcgi_temp_path {self.place}/t3; uwsgi_temp_path {self.place}/t4; scgi_temp_path {self.place}/t5;
	server {{
		{listen}
		server_name files.example;
		ssl_certificate {self.place}/cert.pem; ssl_certificate_key {self.place}/key.pem;
		root {www};
		location /npm/ {{ default_type application/json; }}
	}}
}}
""")
        self.start("nginx", "-c", str(conf))
        until = time.monotonic() + 10
        while subprocess.run(["ip", "netns", "exec", self.inet, "curl", "-s", "-o", "/dev/null",
                              f"http://{PUBLIC}/hello"], check=False).returncode != 0:
            assert time.monotonic() < until, (self.place / "error.log").read_text()
            time.sleep(0.05)

    def close(self):
        for child in self.children:
            child.terminate()
        for child in self.children:
            child.wait()
        for ns in (self.inet, self.box):
            subprocess.run(["ip", "netns", "delete", ns], check=False, capture_output=True)
        shutil.rmtree(self.etc, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.etc.parent.rmdir()


@pytest.fixture(scope="module")
def internet(tmp_path_factory):
    i = Internet(tmp_path_factory.mktemp("internet"))
    try:
        i.open()
        yield i
    finally:
        i.close()


class Box:
    """Where clients run: with the variables of a session, or without credentials in them."""

    def __init__(self, internet, proxy, home):
        self.internet, self.proxy, self.home = internet, proxy, home
        self.port = proxy.listen(address=GATEWAY)
        self.session = proxy.open(Session(hosts=["files.example"]))
        self.certificate = internet.place / "cert.pem"

    def run(self, *argv, session=True, **more):
        who = f"{self.session.userinfo}@" if session else ""
        url = f"http://{who}{GATEWAY}:{self.port}"
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C", **{
            k: url for k in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")},
            "NODE_USE_ENV_PROXY": "1", "GIT_TERMINAL_PROMPT": "0",
            "GIT_SSL_CAINFO": str(self.certificate), "SSL_CERT_FILE": str(self.certificate), **more}
        return subprocess.run(["ip", "netns", "exec", self.internet.box, *map(str, argv)], env=env,
                              cwd=self.home, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def box(internet, tmp_path):
    internet.names({})
    p = Proxy(netns=internet.inet)
    try:
        yield Box(internet, p, tmp_path)
    finally:
        p.stop()


PYTHON = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1]).read().decode())"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_clients_that_fetch(box, scheme):
    url = f"{scheme}://files.example/hello"
    for client in (["curl", "-sS", "--cacert", box.certificate, url],
                   ["wget", "-q", "-O", "-", f"--ca-certificate={box.certificate}", url],
                   [sys.executable, "-c", PYTHON, url]):
        r = box.run(*client)
        assert r.returncode == 0 and "hello from nginx" in r.stdout, (client, r.stderr)
    action = "egress.connect" if scheme == "https" else "egress.request"
    assert box.proxy.rows(action, host="files.example", decision="allow")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_large_files_are_whole(box, scheme):
    r = box.run("curl", "-sS", "--cacert", box.certificate, "-o", "large", "-w", "%{http_version}",
                f"{scheme}://files.example/large")
    assert r.returncode == 0, r.stderr
    assert (box.home / "large").read_bytes() == b"x" * (8 << 20)


def test_refusals_can_be_read(box):
    refused = "http://elsewhere.example/x"
    told = "cloop egress: host_not_allowed"
    r = box.run("curl", "-sS", refused)
    assert "cloop egress grant --to project:<this project> --hosts elsewhere.example" in r.stdout
    assert told in box.run("wget", "-O", "-", refused).stderr
    assert told in box.run(sys.executable, "-c", PYTHON, refused).stderr
    assert told in box.run("curl", "-sSv", refused.replace("http:", "https:")).stderr
    assert told in box.run(sys.executable, "-c", PYTHON, refused.replace("http:", "https:")).stderr
    assert told in box.run("wget", "-O", "-", refused.replace("http:", "https:")).stderr
    assert box.internet.queries("elsewhere.example") == 0


def test_without_a_session_nothing_passes(box):
    for url in ("http://files.example/hello", "https://files.example/hello"):
        r = box.run("curl", "-sSv", "--cacert", box.certificate, url, session=False)
        assert "cloop egress: unauthenticated" in r.stderr and "hello" not in r.stdout
    r = box.run("curl", "-sS", "--noproxy", "*", "-m", "3", "http://files.example/hello")
    assert r.returncode == 6, "the box resolved a name"
    r = box.run("curl", "-sS", "--noproxy", "*", "-m", "3", f"http://{PUBLIC}/hello")
    assert r.returncode == 7, "the box has a route"


def test_git(box):
    env = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@example", "PATH": os.environ["PATH"], "HOME": str(box.home)}
    source, bare = box.home / "source", box.internet.place / "www/repo.git"
    sh("git", "init", "-q", source, env=env)
    (source / "file").write_text("content\n")
    sh("git", "-C", source, "add", "file", env=env)
    sh("git", "-C", source, "commit", "-q", "-m", "first", env=env)
    shutil.rmtree(bare, ignore_errors=True)
    sh("git", "clone", "-q", "--bare", source, bare, env=env)
    sh("git", "-C", bare, "update-server-info", env=env)
    for scheme in ("http", "https"):
        r = box.run("git", "clone", "-q", f"{scheme}://files.example/repo.git", box.home / scheme)
        assert r.returncode == 0, r.stderr
        assert (box.home / scheme / "file").read_text() == "content\n"
    r = box.run("git", "clone", "http://elsewhere.example/repo.git", box.home / "none")
    assert r.returncode != 0 and "403" in r.stderr


def test_npm(box):
    package = box.home / "package"
    package.mkdir()
    (package / "package.json").write_text('{"name": "tiny", "version": "1.0.0"}')
    www = box.internet.place / "www/npm"
    www.mkdir(exist_ok=True)
    sh("tar", "-C", box.home, "-czf", www / "tiny-1.0.0.tgz", "package")
    integrity = base64.b64encode(hashlib.sha512((www / "tiny-1.0.0.tgz").read_bytes()).digest())
    (www / "tiny").write_text(json.dumps({"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {
        "1.0.0": {"name": "tiny", "version": "1.0.0", "dist": {
            "tarball": "http://files.example/npm/tiny-1.0.0.tgz",
            "integrity": "sha512-" + integrity.decode()}}}}))
    for scheme in ("http", "https"):
        place = box.home / scheme
        place.mkdir()
        (place / "package.json").write_text("{}")
        r = box.run("npm", "install", "--prefix", place, "--no-audit", "--no-fund", "--fetch-retries=0",
                    f"--registry={scheme}://files.example/npm/", f"--cafile={box.certificate}", "tiny")
        assert r.returncode == 0, r.stderr
        assert (place / "node_modules/tiny/package.json").exists()
    r = box.run("npm", "view", "--fetch-retries=0", "--registry=http://elsewhere.example/", "tiny")
    assert r.returncode != 0 and "403" in r.stderr, r.stderr


def test_apt(box):
    www = box.internet.place / "www/apt"
    www.mkdir(exist_ok=True)
    tree = box.home / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    control = ("Package: cloop-tiny\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example>\n"
               "Description: nothing\n")
    (tree / "DEBIAN/control").write_text(control)
    sh("dpkg-deb", "--build", tree, www / "tiny.deb")
    deb = (www / "tiny.deb").read_bytes()
    (www / "Packages").write_text(f"{control}Filename: ./tiny.deb\nSize: {len(deb)}\n"
                                  f"SHA256: {hashlib.sha256(deb).hexdigest()}\n")
    state = box.home / "state"
    for name in ("lists/partial", "cache/archives/partial", "etc/apt.conf.d", "etc/preferences.d"):
        (state / name).mkdir(parents=True)
    (state / "status").write_text("")
    options = [f"-o=Dir::State={state}", f"-o=Dir::State::status={state}/status",
               f"-o=Dir::Cache={state}/cache", f"-o=Dir::Etc={state}/etc",
               f"-o=Dir::Etc::sourcelist={state}/sources", "-o=APT::Sandbox::User=root",
               "-o=Acquire::Retries=0", f"-o=Dir::State::lists={state}/lists"]

    def apt(host, *command):
        (state / "sources").write_text(f"deb [trusted=yes] http://{host}/apt ./\n")
        return box.run("apt-get", *options, *command)
    assert apt("files.example", "update").returncode == 0
    r = apt("files.example", "download", "cloop-tiny")
    assert r.returncode == 0 and (box.home / "cloop-tiny_1_all.deb").read_bytes() == deb, r.stderr
    r = apt("elsewhere.example", "update")
    assert "403  cloop egress: host_not_allowed" in r.stdout + r.stderr


# ---- Names that lie; seen at the receiver ----

def dialled(box, capture):
    """What the proxy connected to."""
    return {(a, port) for a, port, kind in capture.probes(SYN) if kind == "tcp" and (a, port) != (GATEWAY, box.port)}


def refused(box, host, verdict="destination_blocked"):
    with Capture(box.internet.inet) as seen:
        r = box.run("curl", "-sSi", "-m", "20", f"http://{host}/hello")
    assert f"X-Cloop-Egress-Verdict: {verdict}" in r.stdout, r.stdout + r.stderr
    assert not dialled(box, seen)
    return r.stdout


SPELLINGS = """[::ffff:10.66.0.1] [::ffff:a42:1] 10.66.0.1. 172097537 0xa.0x42.0.1 012.0102.0.1 10.66.1 [64:ff9b::a42:1]
    [64:ff9b:1:a42:0:100::] [::ffff:0:10.66.0.1] [::10.66.0.1] [2002:a42:1::1] [2001::f5bd:fffe] 127.0.0.1.
    [::ffff:127.0.0.1] 2130706433 0x7f.1 0177.0.0.1 127.1 [::1] [::] 0.0.0.0 [2002:7f00:1::] localhost localhost.
    [::ffff:169.254.169.254] 169.254.169.254. 2852039166 [64:ff9b::a9fe:a9fe] [fe80::1%25veth0] [fd00:ec2::254]""".split()


def test_no_spelling_reaches_what_is_not_public(box):
    box.proxy.close_session(box.session)
    box.session = box.proxy.open(Session(hosts=["*"]))
    box.internet.names({"public.example": ["93.184.216.99"]})

    def ask(line):
        with in_netns(box.internet.box, lambda: socket.create_connection((GATEWAY, box.port), timeout=30)) as s:
            s.sendall(f"{line} HTTP/1.1\r\n{box.session.header}Connection: close\r\n\r\n".encode())
            return s.recv(4096).decode("latin-1")
    with Capture(box.internet.inet) as seen:
        for host in SPELLINGS:
            for line in (f"CONNECT {host}:80", f"GET http://{host}/"):
                assert ask(line).split()[1] in ("400", "403"), line
        ask("CONNECT public.example:80")  # nobody answers; the others would be seen as this is
    assert dialled(box, seen) == {("93.184.216.99", 80)}


@pytest.mark.parametrize("addresses", [[PRIVATE], [PUBLIC, PRIVATE], ["127.0.0.1"], [PUBLIC, "::1"],
                                       ["::ffff:10.66.0.1"], ["169.254.169.254"], ["fd00:ec2::254"],
                                       ["100.64.0.1"], ["64:ff9b::a42:1"], ["2002:a42:1::1"], ["0.0.0.0"]])
def test_a_name_with_an_address_that_is_not_public(box, addresses):
    box.proxy.close_session(box.session)
    box.session = box.proxy.open(Session(hosts=["*.example"]))
    box.internet.names({"trap.example": addresses})
    answer = refused(box, "trap.example")
    assert not any(a in answer for a in addresses)
    row = box.proxy.rows("egress.request", verdict="destination_blocked")[0]
    assert row["host"] == "trap.example" and row["address"]


def test_a_name_that_rebinds(box):
    box.proxy.close_session(box.session)
    box.session = box.proxy.open(Session(hosts=["*.example"]))
    box.internet.names({"rebind.example": [PUBLIC]})
    before = box.internet.queries("rebind.example")
    with Capture(box.internet.inet) as seen:
        assert "hello" in box.run("curl", "-sS", "http://rebind.example/hello").stdout
    assert dialled(box, seen) == {(PUBLIC, 80)}
    assert box.internet.queries("rebind.example") == before + 1
    box.internet.names({"rebind.example": ["127.0.0.1"]})
    refused(box, "rebind.example")


def test_a_range_opens_what_it_holds(box):
    box.proxy.close_session(box.session)
    box.session = box.proxy.open(Session(cidrs=[f"{PRIVATE}/32"]))
    box.internet.names({"inside.example": [PRIVATE]})
    assert "hello" in box.run("curl", "-sS", "http://inside.example/hello").stdout
    refused(box, "files.example", "host_not_allowed")


def test_names_without_an_answer(box):
    box.proxy.close_session(box.session)
    box.session = box.proxy.open(Session(hosts=["*"]))
    refused(box, "missing.example", "resolve_failed")
    began = time.monotonic()
    stuck = [subprocess.Popen(
        ["ip", "netns", "exec", box.internet.box, "curl", "-sSi", "-x",
         f"http://{box.session.userinfo}@{GATEWAY}:{box.port}", f"http://{i}.slow.example/"],
        stdout=subprocess.PIPE, text=True) for i in range(3)]
    assert "hello" in box.run("curl", "-sS", "http://files.example/hello").stdout
    assert time.monotonic() - began < 4
    for s in stuck:
        assert "X-Cloop-Egress-Verdict: resolve_failed" in s.communicate()[0]
    assert 4 < time.monotonic() - began < 9
    assert "hello" in box.run("curl", "-sS", "http://files.example/hello").stdout


def test_a_name_is_looked_up_as_it_stands(box):
    """A search list would reach another name than the one that was matched."""
    place = box.internet.etc / "resolv.conf"
    before = place.read_text()
    box.proxy.close_session(box.session)
    box.session = box.proxy.open(Session(hosts=["*"]))
    box.internet.names({"files.sub.example": [PUBLIC]})
    place.write_text("search example\noptions ndots:5\n" + before)
    try:
        refused(box, "files", "resolve_failed")
        refused(box, "files.sub", "resolve_failed")
        assert "hello" in box.run("curl", "-sS", "http://files.example/hello").stdout
    finally:
        place.write_text(before)


def test_a_look_up_waits_for_its_turn_so_long_only(box):
    box.proxy.close_session(box.session)
    box.session = box.proxy.open(Session(hosts=["*"]))
    stuck = [subprocess.Popen(
        ["ip", "netns", "exec", box.internet.box, "curl", "-sSi", "-m", "22", "-x",
         f"http://{box.session.userinfo}@{GATEWAY}:{box.port}", f"http://{i}.slow.example/"],
        stdout=subprocess.PIPE, text=True) for i in range(24)]
    for s in stuck:
        assert "X-Cloop-Egress-Verdict: resolve_failed" in s.communicate()[0]
