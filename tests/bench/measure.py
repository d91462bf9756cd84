"""The measurements. Each yields rows; both sides of a ratio run in turn, in pairs whose order
alternates, so that what else happens on the machine meets both."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import types

import peer
import process
from table import Row, ratios

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from attaching import Session  # noqa: E402
from fake_registry import FakeRegistry, image  # noqa: E402

SHORT = ("true",)
SETTLE_SECONDS, IDLE_SECONDS, INIT_LOOKS = 2, 10, 5
IDLE_RUNS, PARALLEL_RUNS = 50, 64
BLOCK_MIB, OUTPUT_MIB = 64, 1024
LOG_MAX_MB = 64


def timed(engine, lines, supervisors=0):
    """Starts command lines together: (seconds until the last of them ended, how they ended)."""
    start = time.monotonic()
    started = [engine.popen(words, stderr=subprocess.PIPE if len(lines) == 1 else None)
               for words in lines]
    ended = process.wait(started, supervisors)
    for p in started:
        if p.stderr:
            said = p.stderr.read().decode(errors="replace")
            p.stderr.close()
            if p.returncode != 0:
                raise SystemExit(f"{' '.join(map(str, p.args))}: {p.returncode}: {said}")
    return max(ended.at[p.pid] for p in started) - start, started, ended


def pairs(n, ours, theirs):
    """n pairs of results after one round that does not count; the order changes each time."""
    ours(), theirs()
    both = []
    for i in range(n):
        first = ours() if i % 2 == 0 else None
        other = theirs()
        both.append((first if i % 2 == 0 else ours(), other))
    return both


def short_runs(engine, n):
    """Wall time of `true`, and the CPU time of what is ours in it."""
    line, clients, shims = peer.Peer(engine), [], []

    def ours():
        wall, (client,), ended = timed(engine, [peer.cloop_words(engine, *SHORT)], 1)
        clients.append(ended.cpu[client.pid])
        shims.append(ended.cpu[ended.of("cloop-shim")[0]])
        return wall

    both = pairs(n, ours, lambda: timed(engine, [line.words(*SHORT)])[0])
    yield ratios("`run -- true`, wall", engine, both, 0.90 if engine.kind == "docker" else 0.85)
    init = min(init_cpu(engine) for _ in range(INIT_LOOKS))
    total = statistics.median(c + s + init for c, s in zip(clients, shims))
    parts = (f"cloop {statistics.median(clients):.1f}, supervisor {statistics.median(shims):.1f}, "
             f"init {init:.1f}")
    yield Row("own CPU of a run", engine.title, f"{total:.1f} ms", "", total, 20, "ms", parts)


def setup(engine, n):
    """A run whose image for setup is there, against one of the same file without setup."""
    words = []
    for name, text in (("with", "setup: [true]\n"), ("without", "setup: []\n")):
        project = engine.folder(f"setup-{name}", engine.owner)
        (project / ".cloop").mkdir()
        (project / ".cloop/sandbox.yaml").write_text(text)
        for path in (project / ".cloop", project / ".cloop/sandbox.yaml"):
            if os.geteuid() == 0:
                os.chown(path, *engine.owner)
        words.append([engine.cloop, "run", "-C", project, "--", *SHORT])
    first, _, _ = timed(engine, [words[0]], 1)
    both = pairs(n, *(lambda w=w: timed(engine, [w], 1)[0] for w in words))
    yield ratios("`run -- true` with setup, wall; peer: without", engine, both, 1.1,
                 f"the first, which builds: {first:.1f} s")


def init_cpu(engine):
    """CPU time of the init, from its exec to the last look at it: what the OCI runtime spent in
    the same process before is taken off, as far as it was seen, so the least of some counts."""
    known, before, last = set(process.pids()), {}, {}
    guest = process.identity(engine.guest)
    client = engine.popen(peer.cloop_words(engine, "sleep", "0.1"))
    while client.poll() is None:
        for pid in set(process.pids()) - known:
            cpu = process.cpu_ms(pid)
            if process.program(pid) == guest:
                last[pid] = cpu
            elif pid not in last:
                before[pid] = cpu
    process.wait([], 1)
    return max((cpu - before.get(pid, 0) for pid, cpu in last.items()), default=0)


def idle_runs(engine, count):
    """Starts runs that wait; {pid: path} of what is ours."""
    for _ in range(count):
        engine.output(*peer.cloop_words(engine, "sleep", "1000", options=["--detach"]))
    time.sleep(SETTLE_SECONDS)
    return process.running([engine.cloop, engine.shim, engine.guest])


def stop_runs(engine, count):
    for handle in running(engine):
        engine.output(engine.cloop, "stop", "--grace", "0s", handle)
    process.wait([], count)


def running(engine):
    return re.findall(r"\bc-[0-9a-f]{12}\b", engine.output(engine.cloop, "ps"))


def memory(engine, n):
    """PSS of supervisor and init of one run, and clients of the engine in that time."""
    totals, clients = [], 0
    for _ in range(min(n, 5)):
        own = idle_runs(engine, 1)
        totals.append(sum(process.pss_kib(pid) for pid in own) / 1024)
        shim = next(pid for pid, path in own.items() if path == engine.shim)
        client = process.identity(engine.program)
        clients += sum(process.program(pid) == client for pid in process.descendants(shim))
        stop_runs(engine, 1)
    yield Row("PSS of supervisor and init", engine.title, f"{statistics.median(totals):.2f} MiB",
              "", statistics.median(totals), 1.5, "MiB",
              f"{clients} engine clients during a run")


def idle(engine, n):
    """CPU time of runs that do nothing, in percent of a core."""
    count = IDLE_RUNS if n >= 5 else 10
    own = idle_runs(engine, count)
    before, start = {pid: process.cpu_ms(pid) for pid in own}, time.monotonic()
    time.sleep(IDLE_SECONDS)
    passed = (time.monotonic() - start) * 1000
    percent = 100 * sum(process.cpu_ms(pid) - before[pid] for pid in own) / passed
    stop_runs(engine, count)
    yield Row(f"{count} idle runs, CPU", engine.title, f"{percent:.2f} %", "", percent, 1, "%",
              f"{len(own)} processes, {IDLE_SECONDS} s")


def first_output(stage, handle, tty):
    """Milliseconds from the request for a session to the first byte that its program prints."""
    with Session(stage, handle, "echo", "x", tty=tty) as s:
        s.expect(b"x")
        took = time.monotonic() - s.asked
        s.exit()
    return took * 1000


def attach(engine, n):
    """How long a session takes until it shows something, and what the command adds to that."""
    handle = engine.output(
        *peer.cloop_words(engine, "sleep", "1000", options=["--detach"])).strip()
    stage = types.SimpleNamespace(engine=engine, home=pathlib.Path(engine.env["CLOOP_HOME"]))
    for tty in (False, True):
        each = [first_output(stage, handle, tty) for _ in range(n)]
        yield Row("first output of an attach session" + (", on a terminal" if tty else ""),
                  engine.title, f"{statistics.median(each):.1f} ms", "", statistics.median(each),
                  50, "ms", f"{n} sessions, {min(each):.1f} … {max(each):.1f} ms")
    walls = [timed(engine, [[engine.cloop, "attach", handle, "--", "true"]])[0] * 1000
             for _ in range(n)]
    yield Row("`attach -- true`, wall", engine.title, f"{statistics.median(walls):.0f} ms", "",
              statistics.median(walls), None, "ms", "with its two rows in the audit trail")
    stop_runs(engine, 1)


SHARED = {"enabled": True, "internal": True, "broker": "10.66.99.9:80", "subnet_pool": "10.66.99.0/24"}
OWN = {"enabled": True, "allow_public_internet": True, "allow_ports": [80]}
SHARED_NAME = "cloop-sbx-container"


def network(engine, n):
    """What the filter adds to a start: on a shared network, which a run keeps there, and on one made for
    the run. The peer is on the shared one as on any network of the operator's."""
    def wall(network, rules):
        peer.configure(engine, network=network, egress_filter=rules)
        return timed(engine, [peer.cloop_words(engine, *SHORT)], 1)[0] * 1000

    peer.configure(engine, network="bridge", egress_filter=SHARED)
    engine.output(*peer.cloop_words(engine, "sleep", "1000", options=["--detach"]))
    try:
        for rules, what, target in ((SHARED, "a shared network that is there", 30),
                                    (OWN, "a network of its own", None)):
            both = pairs(n, lambda r=rules: wall("bridge", r), lambda: wall(SHARED_NAME, {}))
            each = [ours - theirs for ours, theirs in both]
            added = statistics.median(each)
            yield Row(f"`run -- true`, what the filter of {what} adds", engine.title,
                      f"{added:.0f} ms", "", added, target, "ms",
                      f"{n} pairs, {min(each):.0f} … {max(each):.0f} ms; peer: the shared one, "
                      f"unfiltered, {statistics.median(theirs for _, theirs in both):.0f} ms")
    finally:
        peer.configure(engine, network="bridge", egress_filter=SHARED)
        stop_runs(engine, 1)
        peer.configure(engine)


def parallel(engine, n):
    """Many runs at once, each with its own exit status."""
    line, wrong, cpu, count = peer.Peer(engine), [0, 0], [[], []], PARALLEL_RUNS

    def run(side, words, supervisors):
        before = process.reaped_cpu_ms()
        lines = [words("sh", "-c", f"exit {i % 5}") for i in range(count)]
        wall, started, _ = timed(engine, lines, supervisors)
        wrong[side] += sum(p.returncode != i % 5 for i, p in enumerate(started))
        cpu[side].append((process.reaped_cpu_ms() - before) / count)
        return wall

    both = pairs(n, lambda: run(0, lambda *c: peer.cloop_words(engine, *c), count),
                 lambda: run(1, line.words, 0))
    own, other = (statistics.median(values) for values in cpu)
    yield ratios(f"{count} runs at once, wall", engine, both, 1.1,
                 f"wrong exit statuses: {wrong[0]} (engine: {wrong[1]}); "
                 f"CPU of a run, engine included: {own:.0f} ms (engine: {other:.0f} ms)")


def make_block(engine):
    """A file in the project that the runs print many times; its blocks differ."""
    path = engine.project / "block"
    path.write_bytes(os.urandom(BLOCK_MIB << 20))
    return path


def output(engine, n):
    """OUTPUT_MIB of output through a pipe into a file."""
    peer.configure(engine, log_max_mb=LOG_MAX_MB)
    line, block, lost, log = peer.Peer(engine), make_block(engine), [0, 0], []
    rounds = " ".join(["/workspace/block"] * (OUTPUT_MIB // BLOCK_MIB))
    command = ["sh", "-c", f"exec cat {rounds}"]
    target = engine.place / "output"

    def run(side, words, supervisors):
        with open(target, "wb") as file:
            start = time.monotonic()
            out, into = os.pipe()
            os.fchown(into, engine.uid, engine.gid)  # as if its user's shell had made it
            producer = engine.popen(words, stdout=into)
            cat = subprocess.Popen(["cat"], stdin=out, stdout=file)
            os.close(out)
            os.close(into)
            ended = process.wait([producer, cat], supervisors)
            wall = ended.at[cat.pid] - start
        lost[side] += not same(target, block)
        return wall

    def ours():
        wall = run(0, peer.cloop_words(engine, *command), 1)
        log.append(log_mib(engine))
        return wall

    both = pairs(n, ours, lambda: run(1, line.words(*command), 0))
    target.unlink()
    block.unlink()
    peer.configure(engine)
    yield ratios(f"{OUTPUT_MIB} MiB of output, wall", engine, both, 0.5,
                 f"incomplete: {lost[0]} (engine: {lost[1]}); "
                 f"log {max(log):.0f} of {LOG_MAX_MB} MiB")


def same(target, block):
    """Whether the output is the block over and over; compared in the kernel's cache."""
    want, rounds = block.read_bytes(), OUTPUT_MIB // BLOCK_MIB
    with open(target, "rb") as file:
        return all(file.read(len(want)) == want for _ in range(rounds)) and not file.read(1)


def log_mib(engine):
    """Size of the newest run's log."""
    runs = sorted((engine.place / "home/runs").glob("c-*"), key=os.path.getmtime)
    return sum(f.stat().st_size for f in (runs[-1] / "log").iterdir()) / (1 << 20)


def registry(build):
    """A tag's digest, from a registry on loopback that answers at once."""
    server = FakeRegistry()
    try:
        server.tag("1", image())
        said = subprocess.run([build / "tests/registry/registry-ask", "bench",
                               f"{server.name}/x:1"], capture_output=True, text=True,
                              check=True).stdout
    finally:
        server.close()
    first, then = (float(n) for n in re.findall(r"([\d.]+) ms", said))
    return Row("digest of a tag, registry on loopback", "in process", f"{then:.2f} ms", "", then,
               10, "ms", f"the first, which loads libcurl: {first:.1f} ms")


class Here:
    """Where no engine is asked."""
    title = "in process"


def placement(build):
    """No engine and no peer: no other program chooses by such rules."""
    said = subprocess.run([build / "tests/bench/placement-bench"], capture_output=True, text=True,
                          check=True).stdout
    for what, ms in re.findall(r"(\S.*?) +([\d.]+) ms", said):
        yield Row(f"placement over 1,000 executors: {what}", Here.title, f"{ms} ms", "", float(ms), 1,
                  "ms")


def programs(build, place):
    """The bench programs of single areas."""
    said = subprocess.run([build / "tests/bench/spec-bench"], capture_output=True, text=True,
                          check=True).stdout
    speed = float(re.search(r"typical: (\d+) files/s", said)[1])
    worst = float(re.search(r"worst hostile: ([\d.]+) ms", said)[1])
    yield Row("typical sandbox.yaml", "in process", f"{speed:.0f} files/s", "", speed, -20000,
              "files/s")
    yield Row("worst hostile sandbox.yaml", "in process", f"{worst:.2f} ms", "", worst, 20, "ms")
    said = subprocess.run([build / "tests/bench/policy-bench"], capture_output=True, text=True,
                          check=True).stdout
    slowest = min(float(n) for n in re.findall(r"(\d+) verdicts/s", said))
    yield Row("image verdict, slowest kind", "in process", f"{slowest:.0f} verdicts/s", "",
              slowest, -1000000, "verdicts/s")
    said = subprocess.run([build / "tests/bench/net-bench"], capture_output=True, text=True,
                          check=True).stdout
    filter_ms = float(re.search(r"compile 256 ranges +([\d.]+) ms", said)[1])
    yield Row("egress filter, 256 ranges", "in process", f"{filter_ms:.2f} ms", "", filter_ms, 1,
              "ms")
    yield registry(build)
    said = subprocess.run([build / "tests/bench/ledger-bench", place], capture_output=True,
                          text=True, check=True).stdout
    for what, ms, low, high in re.findall(r"(\S.*?) +([\d.]+) ms, ([\d.]+) to ([\d.]+)", said):
        yield Row(f"ledger: what it adds to a {what}", "in process", f"{ms} ms", "", float(ms), 5,
                  "ms", f"{low} … {high}; 10,000 rows of the trail, 1,000 runs")
    said = subprocess.run([build / "tests/bench/log-bench", place], capture_output=True,
                          text=True, check=True).stdout
    for line in said.splitlines():
        what, own, other, ratio = re.match(
            r"(.+?)\s+(\d+) MiB/s\s+peer\s+(\d+) MiB/s\s+time ratio ([\d.]+)", line).groups()
        target = {"write, one secret": -50, "redact, 64 secrets": -477}.get(what)
        yield Row(f"log: {what}", "in process", f"{own} MiB/s", f"{other} MiB/s",
                  float(own), target, "MiB/s", f"ratio {ratio} to plain I/O")
