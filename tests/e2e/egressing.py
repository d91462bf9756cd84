"""An origin for tests of the egress proxy: an HTTP server of the test's own, on an address of its own."""
import http.server
import subprocess
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append(self.path)
        if self.path == "/slow":
            self.slow()
            return
        body = b"x" * int(self.path[1:] or "0")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def slow(self):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 30))
        self.end_headers()
        try:
            while not self.server.stopping:
                self.wfile.write(b"x" * 1024)
                self.server.sent += 1024
                time.sleep(0.02)
        except OSError:
            self.server.cut.append(time.monotonic())

    def log_message(self, *words):
        pass


class Origin:
    """Listens on ADDRESS:8000; `cut` has the times at which a slow download was cut."""

    def __init__(self, address):
        self.address = address
        self.link(["add", f"{address}/32"])
        self.server = http.server.ThreadingHTTPServer((address, 8000), Handler)
        self.server.daemon_threads = True
        self.server.seen, self.server.cut, self.server.sent = [], [], 0
        self.server.stopping = False
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def link(self, words):
        subprocess.run(["ip", "address", *words, "dev", "lo"], check=True, capture_output=True)

    @property
    def cut(self):
        return self.server.cut

    @property
    def seen(self):
        return self.server.seen

    @property
    def sent(self):
        return self.server.sent

    def close(self):
        self.server.stopping = True
        self.server.shutdown()
        self.server.server_close()
        self.link(["del", f"{self.address}/32"])
