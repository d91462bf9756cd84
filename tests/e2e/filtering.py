"""Runs with a filtered network, and what may not be left of one."""
import contextlib
import json
import pathlib
import shutil
import subprocess

from engines import IMAGE, PATH
from internet import Internet, run, until

FILTER = {"enabled": True, "allow_public_internet": True, "allow_ports": ["80"]}
INTERNAL = {"enabled": True, "internal": True}


@contextlib.contextmanager
def in_a_box(stage):
    """The engine and cloop in a namespace of their own; nothing of ours is left there."""
    with Internet() as net:
        leave = net.enter(stage.engine)
        try:
            yield net
            until(lambda: not tables(net))
            until(lambda: not networks(stage))
            until(lambda: not locks())
        finally:
            leave()


class Mounts:
    """From here on the engine's user works in a mount namespace of the test's own, as well."""

    def __init__(self, engine):
        self.engine, self.before = engine, engine.popen
        self.holder = subprocess.Popen(["unshare", "--mount", "--propagation=slave", "sh", "-c",
                                        "echo; exec sleep infinity"], stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.enter = ["/usr/bin/nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", "--"]

    def __enter__(self):
        self.engine.popen = lambda words, **more: self.before([*self.enter, *words], **more)
        return self

    def __exit__(self, *_):
        self.engine.popen = self.before
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

    def over(self, file, path):
        """The file is what is seen at that path."""
        run(*self.enter, "mount", "--bind", file, path)

    @contextlib.contextmanager
    def without_nft(self):
        nft = shutil.which("nft", path=PATH)
        run(*self.enter, "mount", "--bind", "/bin/false", nft)
        try:
            yield
        finally:
            run(*self.enter, "umount", nft)


def configure(stage, filter=None, **options):
    stage.config(network="bridge", egress_filter=filter or FILTER, **options)


def sleeper(stage, **more):
    """A run that sleeps: its handle, and a pid in its network namespace."""
    handle = stage.detach("/bin/sleep", "600", **more)
    return handle, stage.engine.inspect(stage.container_of(handle))["State"]["Pid"]


def stop(stage, *handles):
    for handle in handles:
        assert stage.cloop("stop", "--grace", "0", handle).rc == 0
    stage.home_is_free()


def tables(net):
    text = net.at(net.box, "nft", "list", "tables").stdout
    return [line.split()[2] for line in text.splitlines() if "cloop_sbx_" in line]


def locks():
    return list(pathlib.Path("/run/cloop").glob("net-*"))


def networks(stage, home=None):
    """Of this home: those of podman are the whole machine's."""
    file = (home or stage.home) / "id"
    home = file.read_text().strip() if file.exists() else "none"
    return stage.engine.lines("network", "ls", f"--filter=label=cloop.home={home}", "--format={{.Name}}")


def rules(namespace, table):
    """Of a table there, without its comment; namespace: words that lead there."""
    text = run(*namespace, "nft", "-s", "list", "table", "inet", table).stdout
    return [line for line in text.splitlines() if not line.startswith('\tcomment "cloop ')]


def rendered(stage, namespace, table, bridge):
    """The rules that `cloop egress firewall` says a run has, as nft lists them in a namespace of the test."""
    r = stage.cloop("egress", "firewall", "--format", "nft-bridge", "--table", table, "--bridge", bridge)
    run(*namespace, "nft", "-f", "-", input=r.out.decode())
    return rules(namespace, table)


def plain(stage, network, *words):
    """What a container of the engine's own prints: nothing of ours is between it and its network."""
    engine = stage.engine
    flags = ["--ulimit=nofile=256:256", "--ulimit=nproc=256:256"] + (
        ["--cgroupns=private"] if engine.kind == "podman" else [])
    runtime = [f"--runtime={engine.oci_runtime}"] if engine.oci_runtime else []
    return engine.call("run", "--rm", f"--network={network}", *runtime, *flags, IMAGE, *words, check=False)


def warned(record, code):
    return [w for w in record["warnings"] if w["code"] == code]


def supervisor(stage, handle):
    """Pid of the run's shim."""
    import leaks
    found = [pid for pid, words in leaks.processes(stage) if "cloop-shim" in words and handle in words]
    assert len(found) == 1, found
    return found[0]


def note(stage, handle):
    return json.loads((stage.home / "runs" / handle / "network.json").read_text())
