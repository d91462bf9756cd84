"""A registry of our own on loopback, plain or TLS, that answers as it is told and records every
request. Not http.server: what a registry may get wrong (endless bodies, bytes that trickle, headers
without end) has to be written by hand."""
import collections
import hashlib
import json
import socket
import ssl
import subprocess
import threading
import time

INDEX = "application/vnd.oci.image.index.v1+json"
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
IMAGE = "application/vnd.oci.image.manifest.v1+json"
DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
SCHEMA1 = "application/vnd.docker.distribution.manifest.v1+prettyjws"

Request = collections.namedtuple("Request", "method target headers body")


def digest(body, algorithm="sha256"):
    return f"{algorithm}:{hashlib.new(algorithm, body).hexdigest()}"


def manifest(media=IMAGE, **more):
    return json.dumps({"schemaVersion": 2, "mediaType": media, **more}).encode()


class Answer:
    """What is sent back. `raw` sends itself after the headers, through a function that gets the
    socket; a list of headers allows one name twice."""

    def __init__(self, status=200, body=b"", headers=(), raw=None, length=True):
        self.status, self.body, self.raw, self.length = status, body, raw, length
        self.headers = list(headers.items() if isinstance(headers, dict) else headers)


def image(body=None, media=IMAGE, **headers):
    """A manifest as a good registry sends it; header names with _ for -, None leaves one out."""
    body = manifest(media) if body is None else body
    sent = {"Content-Type": media, "Docker-Content-Digest": digest(body)}
    sent.update({k.replace("_", "-"): v for k, v in headers.items()})
    return Answer(200, body, {k: v for k, v in sent.items() if v is not None})


def redirect(location, status=307):
    return Answer(status, b"", {"Location": location})


def challenge(*lines):
    return Answer(401, b'{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}',
                  [("WWW-Authenticate", line) for line in lines])


class FakeRegistry:
    """`answers`: (METHOD, target without query) or a target alone → Answer, a list of them (the
    last stays), or a function of the Request."""

    def __init__(self, host="127.0.0.1", certificate=None):
        self.answers, self.requests, self.connections = {}, [], 0
        self.socket = socket.create_server((host, 0))
        self.host, self.port = host, self.socket.getsockname()[1]
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.name = f"{host}:{self.port}"
        self.url = f"{'https' if certificate else 'http'}://{self.name}"
        self.closing = False
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def close(self):
        self.closing = True
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(5)

    def tag(self, name, answer, repository="x"):
        self.answers[f"/v2/{repository}/manifests/{name}"] = answer

    def seen(self, method=None, path=""):
        return [r for r in self.requests
                if (method is None or r.method == method) and r.target.startswith(path)]

    # Serving.

    def _accept(self):
        while not self.closing:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.settimeout(30)
        try:
            with connection:
                if self.context:
                    connection = self.context.wrap_socket(connection, server_side=True)
                with connection, connection.makefile("rb") as stream:
                    while self._one(connection, stream):
                        pass
        except (OSError, ValueError):
            pass

    def _one(self, connection, stream):
        words = stream.readline(65536).decode("latin-1").split()
        if len(words) != 3:
            return False
        headers = {}
        for line in iter(lambda: stream.readline(65536), b"\r\n"):
            if not line:
                return False
            key, value = line.decode("latin-1").split(":", 1)
            headers[key.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        request = Request(words[0], words[1], headers, body)
        self.requests.append(request)
        return self._send(connection, request, self._choose(request))

    def _choose(self, request):
        path = request.target.split("?")[0]
        answer = self.answers.get((request.method, path), self.answers.get(path, Answer(404)))
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    @staticmethod
    def _send(connection, request, answer):
        headers = list(answer.headers)
        if answer.raw is None and answer.length:
            headers.append(("Content-Length", str(len(answer.body))))
        head = f"HTTP/1.1 {answer.status} Status\r\n"
        head += "".join(f"{k}: {v}\r\n" for k, v in headers)
        connection.sendall(head.encode("latin-1") + b"\r\n")
        if request.method != "HEAD":
            connection.sendall(answer.body)
            if answer.raw:
                answer.raw(connection)
        return answer.raw is None and answer.length


def endless(connection):
    """Until the client has had enough."""
    while True:
        connection.sendall(b"x" * 65536)


def trickle(connection):
    """A byte a second."""
    while True:
        connection.sendall(b"x")
        time.sleep(1)


def make_certificate(folder, *names):
    """A CA of its own and a certificate for these hosts: (chain, key), path of the CA."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)
    alternatives = ",".join(f"{'IP' if n[0].isdigit() else 'DNS'}:{n}" for n in names)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=cloop test CA")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=cloop test")
    (folder / "names").write_text(f"subjectAltName={alternatives}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.crt")
    return (folder / "server.crt", folder / "server.key"), folder / "ca.crt"
