"""The two sides of a comparison: `cloop run`, and the engine's own `run --rm` with the same flags,
taken from what `cloop sandbox explain` says that cloop would call."""
import itertools
import json
import pathlib

# What belongs to cloop's gate and supervisor; everything else stays.
DROPPED = ("--detach", "--cidfile=", "--entrypoint=", "--name=", "--label=cloop.")
DROPPED_MOUNTS = ("/run/cloop/init", "/run/cloop/ctl")
FILES = ("/etc/hosts", "/etc/resolv.conf")  # mounted from the run directory, which is not there


def configure(engine, **options):
    """cloop's configuration for an engine, with these options of the executor."""
    container = {"runtime": engine.kind, "image": "localhost/cloop-bench:1", **options}
    if engine.oci_runtime:
        container["oci_runtime"] = engine.oci_runtime
    pathlib.Path(engine.env["CLOOP_CONFIG"]).write_text(
        json.dumps({"executors": {"container": container}}))


def is_dropped(word):
    return word.startswith(DROPPED) or (word.startswith("--mount=") and any(
        f"={target}," in word or word.endswith(f"={target}") for target in DROPPED_MOUNTS))


class Peer:
    """The engine's line without cloop."""

    def __init__(self, engine):
        self.engine, self.count = engine, itertools.count()
        said = json.loads(engine.output(engine.cloop, "sandbox", "explain", "--json", "-C",
                                        engine.project, "--", "true"))
        argv = said["argv"]
        image = argv.index("--", 2) + 1
        flags = [self.own_files(word) for word in argv[2:image - 1] if not is_dropped(word)]
        self.head = [engine.program, "run", "--rm", *flags]
        self.image = argv[image]

    def own_files(self, word):
        for target in FILES:
            if word.startswith("--mount=") and f"={target}" in word:
                path = self.engine.place / pathlib.Path(target).name
                path.write_text("127.0.0.1 localhost\n" if target.endswith("hosts") else "")
                return f"--mount=type=bind,source={path},target={target},readonly"
        return word

    def words(self, *command):
        name = f"--name=bench-{next(self.count)}"
        return [*self.head, name, "--", self.image, *command]


def cloop_words(engine, *command, options=()):
    return [engine.cloop, "run", "-C", engine.project, *options, "--", *command]
