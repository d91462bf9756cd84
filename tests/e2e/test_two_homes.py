"""Two homes on one host and engine: strangers, whose runs and tasks never touch each other, also
while both reap, adopt and import, and in one project (container-driver.md §16.3)."""
import json
import os

import crashing
from stage import parallel


class Home:
    """A second home beside the stage's, as a thin view of it."""

    def __init__(self, stage, name):
        self.stage = stage
        self.path = stage.dir / name if name else stage.home
        self.env = {"CLOOP_HOME": str(self.path)}

    def answer(self, *words):
        return self.stage.answer(*words, env=self.env)

    def cloop(self, *words, **more):
        return self.stage.cloop(*words, env={**self.env, **more.pop("env", {})}, **more)

    def add(self, *argv):
        return self.answer("task", "add", "-C", self.stage.project, "--", *argv)["id"]

    def tasks(self):
        listed = self.answer("task", "list", "-C", self.stage.project)["tasks"]
        return {t["id"]: (t["state"], t["run"]) for t in listed}

    def runs(self):
        return sorted(p.name for p in (self.path / "runs").glob("c-*"))


def two(stage):
    homes = [Home(stage, ""), Home(stage, "second")]
    for home in homes:
        home.answer("ps")
    return homes


def lines(stage):
    return sorted((stage.project / "log").read_text().split())


def test_tasks_of_one_project(stage):
    """Each home has its own list of the same directory; a number of one is none of the other."""
    a, b = two(stage)
    ours = [a.add("sh", "-c", f"echo a{n} >> log") for n in range(3)]
    theirs = [b.add("sh", "-c", f"echo b{n} >> log") for n in range(3)]
    assert ours == theirs == [1, 2, 3]
    results = parallel(lambda h: h.cloop("run", "-C", stage.project), [a, b, a, b], 4)
    assert [r.rc for r in results] == [0] * 4, results
    assert lines(stage) == sorted([f"a{n}" for n in range(3)] + [f"b{n}" for n in range(3)])
    assert {s for s, _ in a.tasks().values()} == {s for s, _ in b.tasks().values()} == {"done"}
    assert not {r for _, r in a.tasks().values()} & {r for _, r in b.tasks().values()}
    for home in (a, b):
        rows = home.answer("journal", "-C", stage.project, "--limit", "0")["rows"]
        assert {row["run"] for row in rows if row["run"]} == {r for _, r in home.tasks().values()}


def test_crashed_beside_each_other(stage):
    """Supervisors of both die; each home adopts its own, whatever the other looks at meanwhile."""
    a, b = two(stage)
    for home, word in ((a, "a"), (b, "b")):
        home.task = home.add("sh", "-c", f"sleep 4; echo {word} >> log; exit {ord(word) - 90}")
        r = home.cloop("run", "-C", stage.project, "--detach")
        assert r.rc == 0, r
        home.run = r.out.decode().strip()
    for home in (a, b):
        for pid in crashing.shims(home.run):
            crashing.kill(pid)
        crashing.until(lambda: not crashing.shims(home.run), "end of the supervisor")
    looks = [(h, words) for h in (a, b)
             for words in (("ps",), ("executor", "reap"), ("task", "list", "-C", stage.project),
                           ("executor", "list"), ("status", h.run))] * 2
    results = parallel(lambda look: look[0].cloop(*look[1]), looks, 6)
    assert all(r.rc == 0 for r in results), results
    for home, status in ((a, 7), (b, 8)):
        r = home.cloop("wait", home.run)
        assert r.rc == status, r
        assert home.tasks() == {home.task: ("failed", home.run)}
        assert home.runs() == [home.run]
    assert lines(stage) == ["a", "b"]
    assert a.cloop("status", b.run).rc == 1 and b.cloop("stop", a.run).rc == 1


def test_lost_in_one_home_only(stage):
    """A reboot of the one, as its record says, is none of the other's business."""
    a, b = two(stage)
    for home in (a, b):
        home.task = home.add("sleep", "100")
        home.run = home.cloop("run", "-C", stage.project, "--detach").out.decode().strip()
    for pid in crashing.shims(a.run):
        crashing.kill(pid)
    crashing.until(lambda: not crashing.shims(a.run), "end of the supervisor")
    path = a.path / "runs" / a.run / "status.json"
    record = json.loads(path.read_text())
    record["supervision"]["boot_id"] = "00000000-0000-0000-0000-000000000000"
    path.write_text(json.dumps(record))
    os.chmod(path, 0o600)
    parallel(lambda h: h.cloop("task", "list", "-C", stage.project), [a, b] * 3, 6)
    assert crashing.until(lambda: a.tasks()[a.task][0] != "running" and a.tasks(), "end") == {
        a.task: ("failed", a.run)}
    assert b.tasks() == {b.task: ("running", b.run)}
    assert b.answer("status", b.run)["state"] == "running"
    assert b.cloop("stop", "--signal", "kill", b.run).rc == 0
    b.cloop("wait", b.run)
    assert b.tasks() == {b.task: ("failed", b.run)}
