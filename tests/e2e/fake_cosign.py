"""A script in cosign's place, which records what it is called with and behaves as told."""
import json

from engines import PATH

SCRIPT = r"""#!/usr/bin/python3
import json, os, signal, subprocess, sys, time
place = {place!r}
login = os.path.join(os.environ.get("DOCKER_CONFIG", "/nonexistent"), "config.json")
call = {{"argv": sys.argv, "env": dict(os.environ), "pid": os.getpid(), "pgid": os.getpgid(0),
         "cwd": os.getcwd(), "stdin": os.readlink("/proc/self/fd/0"),
         "one_pipe": os.fstat(1).st_ino == os.fstat(2).st_ino,
         "fds": sorted(os.listdir("/proc/self/fd"))[:4],
         "home_mode": os.stat(os.environ["HOME"]).st_mode & 0o777,
         "login_mode": os.stat(os.path.dirname(login)).st_mode & 0o777,
         "login": json.load(open(login))}}
with open(place + "/calls", "a") as f:
    f.write(json.dumps(call) + "\n")
exec(open(place + "/told").read())
"""
FAIL = "sys.stderr.write('Error: no signatures found\\n'); sys.exit(1)"


class FakeCosign:
    """A directory for PATH with a program cosign."""

    def __init__(self, place):
        self.place = place
        self.place.mkdir()
        self.place.chmod(0o777)
        self.program = self.place / "cosign"
        self.program.write_text(SCRIPT.format(place=str(self.place)))
        self.program.chmod(0o755)
        self.env = {"PATH": f"{self.place}:{PATH}"}
        self.tell("sys.exit(0)")

    def tell(self, code):
        (self.place / "told").write_text(code)

    def calls(self):
        """What it was called with since the last time; questions for its version apart."""
        file = self.place / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [c for c in map(json.loads, lines) if c["argv"][1:] != ["version"]]
