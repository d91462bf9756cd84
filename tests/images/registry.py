"""A small npm registry on loopback: packages and tarballs that a test names."""
import base64
import hashlib
import http.server
import io
import json
import tarfile
import threading
import urllib.parse


def sri(data):
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def tarball(text):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in (("package/package.json", b'{"name":"x","version":"1.0.0"}'),
                           ("package/program", text)):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


class Registry:
    def __init__(self):
        self.documents, self.files = {}, {}
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = urllib.parse.unquote(self.path.split("?")[0]).lstrip("/")
                found = registry.files.get(path)
                if found is None and path in registry.documents:
                    found = json.dumps(registry.documents[path]).encode()
                self.send_response(200 if found is not None else 404)
                found = found if found is not None else b"{}"
                self.send_header("Content-Length", str(len(found)))
                self.end_headers()
                self.wfile.write(found)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def add(self, name, version, data=b"program", dist=None, **more):
        """A version of a package; `dist` replaces members of its dist, None takes one away."""
        file = f"{name}/-/{name.split('/')[-1]}-{version}.tgz"
        self.files[file] = tarball(data)
        whole = {"integrity": sri(self.files[file]), "tarball": self.url + file, **(dist or {})}
        document = self.documents.setdefault(name, {"name": name, "versions": {}})
        document["dist-tags"] = {"latest": version}
        document["versions"][version] = {
            "name": name, "version": version, **more,
            "dist": {k: v for k, v in whole.items() if v is not None}}
        return file

    def env(self, env):
        return {**env, "npm_config_registry": self.url}

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
