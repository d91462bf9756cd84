"""Debian's docker-registry on loopback, for images that need a digest from somewhere."""
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

from engines import PATH, missing

CONFIG = """version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {place}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""
SECONDS = 20


class LocalRegistry:
    """With storage of its own below `place`; `host` is how images name it."""

    def __init__(self, place):
        self.place = pathlib.Path(place)
        self.process = None

    def __enter__(self):
        program = shutil.which("docker-registry", path=PATH)
        if not program:
            missing("docker-registry", "docker-registry")
        self.place.mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.host = f"127.0.0.1:{s.getsockname()[1]}"
        file = self.place / "config.yml"
        file.write_text(CONFIG.format(place=self.place / "data", port=self.host.split(":")[1]))
        self.log = open(self.place / "log", "wb")
        self.process = subprocess.Popen([program, "serve", file], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, env={"PATH": PATH})
        self.wait()
        return self

    def wait(self):
        end = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            try:
                urllib.request.urlopen(f"http://{self.host}/v2/", timeout=2).close()
                return
            except OSError:
                time.sleep(0.05)
        words = (self.place / "log").read_text(errors="replace")[-2000:]
        self.__exit__()
        pytest.fail(f"docker-registry does not start: {words}")

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.log.close()
        shutil.rmtree(self.place, ignore_errors=True)
