"""What one test works with: an engine, an empty home, a config, and projects."""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import threading
import time

import leaks
from engines import IMAGE

SECONDS = 120
Result = collections.namedtuple("Result", "rc out err record")


class Stage:
    def __init__(self, engine, directory):
        self.engine = engine
        self.dir = directory
        self.home = directory / "home"
        self.config_file = directory / "config.yaml"
        self.started = []
        self.counter = 0
        self.counting = threading.Lock()
        directory.mkdir(mode=0o755)
        if os.geteuid() == 0:
            os.chown(directory, engine.uid, engine.gid)
        self.config()
        self.project = self.make_project("project")

    # Setting the stage.

    def config(self, sections=None, **options):
        """config.yaml; options are those of executors.container."""
        base = {"runtime": self.engine.kind, "image": IMAGE}
        if self.engine.oci_runtime:
            base["oci_runtime"] = self.engine.oci_runtime
        whole = {"executors": {"container": {**base, **options}}, **(sections or {})}
        self.config_file.write_text(json.dumps(whole, ensure_ascii=False))
        self.config_file.chmod(0o644)

    def make_project(self, name, mode=0o755):
        path = os.path.join(os.fsencode(self.dir), os.fsencode(name))
        os.makedirs(path, mode=0o755)
        os.chmod(path, mode)
        path = pathlib.Path(os.fsdecode(path))
        self.engine.own(path)
        return path

    def write(self, path, data="", mode=0o644, project=None):
        """A file in the project, with its folders, all of them the project's owner's."""
        root = project or self.project
        file = root / path
        missing = [p for p in [file.parent, *file.parent.parents]
                   if not p.exists() and root in p.parents]
        for folder in reversed(missing):
            folder.mkdir()
            self.engine.own(folder)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        file.chmod(mode)
        self.engine.own(file)
        return file

    def spec(self, text, project=None):
        """The project's .cloop/sandbox.yaml: text, or an object."""
        words = text if isinstance(text, (str, bytes)) else json.dumps(text, ensure_ascii=False)
        return self.write(".cloop/sandbox.yaml", words, project=project)

    def unique(self):
        with self.counting:
            self.counter += 1
            return self.counter

    # Calling cloop.

    def cloop_env(self, env=None):
        return {"CLOOP_HOME": str(self.home), "CLOOP_CONFIG": str(self.config_file), **(env or {})}

    def popen(self, *words, env=None, **more):
        p = self.engine.popen([self.engine.bin / "cloop", *words], env=self.cloop_env(env),
                              stdout=more.pop("stdout", subprocess.PIPE),
                              stderr=more.pop("stderr", subprocess.PIPE), **more)
        self.started.append(p)
        return p

    def cloop(self, *words, env=None, timeout=SECONDS, **more):
        p = self.popen(*words, env=env, **more)
        out, err = p.communicate(timeout=timeout)
        return Result(p.returncode, out, err, None)

    def answer(self, *words, status=0, **more):
        """The JSON answer of a command."""
        end = words.index("--") if "--" in words else len(words)
        r = self.cloop(*words[:end], "--json", *words[end:], **more)
        assert r.rc == status, r
        return json.loads(r.out)

    def run_words(self, argv, project=None, options=()):
        return ["run", "-C", project or self.project, *options, "--", *argv]

    def run(self, *argv, project=None, options=(), env=None, timeout=SECONDS):
        """`cloop run` in the foreground, with its record."""
        # Written by cloop as the engine's user, into its own folder.
        record = self.dir / f"record-{self.unique()}.json"
        words = self.run_words(argv, project, ["--record", record, *options])
        r = self.cloop(*words, env=env, timeout=timeout)
        return r._replace(record=json.loads(record.read_text()) if record.exists() else None)

    def sh(self, script, *args, **more):
        return self.run("/bin/sh", "-c", script, "sh", *args, **more)

    def detach(self, *argv, project=None, options=(), env=None):
        """The handle of a run that goes on."""
        words = self.run_words(argv, project, ["--detach", *options])
        r = self.cloop(*words, env=env)
        assert r.rc == 0, r
        return r.out.decode().strip()

    def status(self, handle):
        return self.answer("status", handle)

    def wait(self, handle, timeout=SECONDS):
        r = self.cloop("wait", "--json", handle, timeout=timeout)
        return r._replace(record=json.loads(r.out))

    def refused(self, *argv, code, status=125, **more):
        """A run that does not start: this error, words, a way out, and a record of it."""
        r = self.run(*argv, **more)
        assert r.rc == status, r
        text = r.err.decode(errors="replace")
        assert "cloop: " in text and "  fix: " in text, text
        assert r.record["code"] == code, r.record
        assert r.record["outcome"] == "start_failed" and r.record["state"] == "failed"
        assert r.record["exit_code"] is None and r.record["remediation"]
        return r

    def run_dirs(self):
        return sorted((self.home / "runs").glob("c-*"))

    def container_of(self, handle):
        """The name of a running container."""
        found = self.engine.lines("ps", "--quiet", "--no-trunc",
                                  f"--filter=label=cloop.handle={handle}")
        assert len(found) == 1, found
        return found[0]

    def home_is_free(self, seconds=10):
        """Waits until no supervisor works in the home any more."""
        end = time.monotonic() + seconds
        files = ("ctl", "cid", "network.json")
        while any((run / name).exists() for run in self.run_dirs() for name in files) or \
                any(leaks.locked(run / "lock") for run in self.run_dirs()):
            assert time.monotonic() < end, "a supervisor does not end"
            time.sleep(0.02)

    def end(self):
        """Clients of this test that still run."""
        for p in self.started:
            if p.poll() is None:
                p.kill()
            for stream in (p.stdout, p.stderr):
                if stream:
                    stream.close()
            p.wait()


def parallel(function, items, workers=2):
    """As many at a time as cloop starts at a time here; results in order."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))
