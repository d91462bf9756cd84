"""make bench: one table of ratios against the engines, taken in one run (see docs/performance.md).
It measures and prints; nothing passes or fails by a time."""
import argparse
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import disks
import machine
import measure
import peer
import process
import proxies
import table
from engines import ENGINES, ROOT

PARTS = ("short", "setup", "memory", "idle", "attach", "parallel", "output", "disk", "placement",
         "programs", "proxy", "network")
FUNCTIONS = {"short": measure.short_runs, "setup": measure.setup,
             "memory": measure.memory, "idle": measure.idle, "attach": measure.attach,
             "parallel": measure.parallel, "output": measure.output, "disk": disks.runs,
             "network": measure.network}
# Parts that compare with podman only.
PODMAN_ONLY = {"parallel", "output", "disk"}


def arguments():
    p = argparse.ArgumentParser(prog="make bench", description=__doc__)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--pairs", type=int, default=15, help="pairs of each ratio")
    p.add_argument("--engines", default="PRD" if os.geteuid() == 0 else "R",
                   help="letters: P podman, R podman rootless, D docker")
    p.add_argument("--parts", default=",".join(PARTS), help=f"of {','.join(PARTS)}")
    p.add_argument("--write", type=pathlib.Path, help="put the table into this document")
    return p.parse_args()


def tell(words):
    print(words, file=sys.stderr, flush=True)


def collect(rows, more):
    for row in more:
        tell(row.shown())
        rows.append(row)


def measure_engine(engine, parts, pairs, rows):
    peer.configure(engine)
    for part in parts:
        if part == "network" and engine.uid != 0:
            continue  # rootless engines have no filtered networks
        if part in FUNCTIONS and (part not in PODMAN_ONLY or engine.kind == "podman"):
            tell(f"-- {part}, {engine.title}")
            collect(rows, FUNCTIONS[part](engine, pairs))


def main():
    a = arguments()
    parts, rows, facts, used = a.parts.split(","), [], None, []
    process.become_reaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-bench-", dir="/tmp"))
    place.chmod(0o755)
    try:
        load = os.getloadavg()
        for key in a.engines:
            engine = ENGINES[key](place / key, a.build)
            try:
                used.append(engine.open())
                measure_engine(engine, parts, a.pairs, rows)
            finally:
                engine.close()
        if "disk" in parts:
            collect(rows, disks.sample(a.build, a.pairs))
        if "placement" in parts:
            collect(rows, measure.placement(a.build))
        if "programs" in parts:
            collect(rows, measure.programs(a.build, place))
        if "proxy" in parts:
            collect(rows, proxies.measure(a.build, place, min(a.pairs, 5)))
        facts = machine.facts(used, place, load)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    text = table.render(facts, rows)
    print(text, end="")
    if a.write:
        table.write(a.write, text)


if __name__ == "__main__":
    main()
