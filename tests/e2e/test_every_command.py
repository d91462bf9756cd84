"""Every n-th start of a program, write of a file, lock and database call fails, and is met by a
SIGKILL, in every command but `cloop run` (that is test_every_fault.py): a failure is told in the
documented form, nothing is half done, and the same command then does it all. A command that is not in
the tables below has no such test, and the first test says so."""
import collections
import json
import re
import shutil
import signal
import sqlite3

from engines import ROOT, once
from granting import VALUE, actions, grant, mint

POINTS = ("spawn", "file-write", "file-replace", "file-memfd", "file-dirs", "lock", "audit-head",
          "store-open", "store-exec", "store-write")
MOST = 60
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
Normal = collections.namedtuple("Normal", "rc state")


class Row:
    """A command. `done`: codes with which it says, asked again, that it was done before. `answer`: a
    member of an answer that may come with exit status 1. `steps`: it is several transactions, so what
    a failure leaves is whole, and the next call goes on with it. `points`: fewer where each call asks an
    engine."""

    def __init__(self, *words, done=(), answer=None, steps=False, points=POINTS):
        self.words, self.done, self.answer, self.steps, self.points = words, done, answer, steps, points
        self.name = " ".join(words)


DEAR = ("spawn", "file-replace", "lock", "store-open")
READ = (
    Row("ps"), Row("status", "RUN"), Row("logs", "RUN"), Row("stop", "RUN"), Row("wait", "RUN"),
    Row("sandbox", "check"), Row("sandbox", "explain", points=DEAR), Row("image", "check", "debian:12"),
    Row("image", "resolve", "--local", "localhost/cloop-e2e:1", points=DEAR),
    Row("executor", "list", points=DEAR), Row("executor", "show", points=DEAR),
    Row("executor", "reap", points=DEAR), Row("egress", "list"), Row("egress", "firewall", "--internet", "--ports", "443"),
    Row("project", "list"), Row("project", "show"), Row("limits", "list"), Row("task", "list"),
    Row("task", "show", "1"), Row("journal"), Row("secret", "list"), Row("secret", "grants"),
    Row("secret", "lease"), Row("lease", "list"), Row("audit", "list"), Row("audit", "verify"),
    Row("audit", "export"), Row("config", "check"), Row("config", "show"),
    Row("doctor", "--offline", answer="checks", points=DEAR),
)
CHANGE = (
    Row("sandbox", "init", done=("file_exists",)),
    Row("executor", "bind", "container"),
    Row("egress", "grant", "--to", "any", "--hosts", "example.org"),
    Row("egress", "revoke", "EGRESS", steps=True),
    Row("egress", "test", "--grant", "EGRESS", "http://127.0.0.1:1/", answer="verdict", steps=True),
    Row("project", "set", "provider", "copilot"),
    Row("project", "forget", done=("project_unknown",)),
    Row("limits", "set", "--memory", "1g"), Row("limits", "clear", "pids"),
    Row("task", "add", "--title", "more"), Row("task", "reset", "1"),
    Row("secret", "mint", "more", "--kind", "file", "--value", VALUE, done=("secret_exists",)),
    Row("secret", "delete", "spare", done=("secret_not_found",), steps=True),
    Row("secret", "rekey", steps=True),
    Row("secret", "grant", "spare", "--to", "any"),
    Row("secret", "revoke", "GRANT", steps=True),
    Row("config", "set", "executors.container.memory", "2g"),
)
# What has a test of its own here, or changes and reads nothing that lasts.
OTHERS = {"attach", "lease revoke", "lease extend", "config init", "executor test"}
STATELESS = {"help", "completion", "version", "sandbox schema", "image parse"}
ELSEWHERE = {"run"}  # test_every_fault.py


def verbs():
    page = (ROOT / "docs/reference/commands.md").read_text()
    return set(re.findall(r"^## cloop (.+)$", page, re.M))


def test_no_command_is_left_out():
    rows = {verb for verb in verbs() for row in READ + CHANGE
            if row.name == verb or row.name.startswith(verb + " ")}
    assert rows | OTHERS | STATELESS | ELSEWHERE == verbs()
    assert not rows & (OTHERS | STATELESS | ELSEWHERE)


# ---- What there is ----

def mask(value):
    """Without what two calls of the same command may make differently."""
    if isinstance(value, bytes):
        return "BYTES"
    if isinstance(value, int):
        return "MOMENT" if abs(value) > 10**6 else value
    if isinstance(value, str):
        value = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?", "MOMENT", value)
        return re.sub(r"[0-9a-f]{8,}(-[0-9a-f]+)*", "ID", value)
    return value


def rows_of(home):
    if not (home / "state.db").exists():
        return {}
    with sqlite3.connect(home / "state.db") as db:
        [(sound,)] = db.execute("PRAGMA quick_check").fetchall()
        assert sound == "ok"
        tables = [n for (n,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found = {t: sorted(repr([mask(v) for v in row]) for row in db.execute(f"SELECT * FROM {t}"))
                 for t in tables if not t.startswith("sqlite_")}
    db.close()
    return found


def files_of(stage):
    """Names of what is in the home, without what comes and goes; the text of what people read."""
    names = {mask(str(p.relative_to(stage.home))) for d in ("keys", "claims", "runs")
             for p in (stage.home / d).rglob("*")}
    texts = {str(p): p.read_bytes() for p in [stage.config_file, *(stage.project / ".cloop").rglob("*")]
             if p.is_file()}
    beside = {p.name for p in stage.config_file.parent.glob(".tmp-*")}
    return names, texts, beside


def there_is(stage):
    return rows_of(stage.home), files_of(stage)


class Ground:
    """A home with a little of everything; put back before each call."""

    def __init__(self, stage):
        self.stage = stage
        stage.answer("task", "add", "-C", stage.project, "--", "true")
        stage.answer("limits", "set", "-C", stage.project, "--pids", "100")
        for name in ("key", "spare"):
            mint(stage, name, "file", VALUE)
        grants = [grant(stage, "key"), grant(stage, "key", "executor:none")]
        egress = stage.answer("egress", "grant", "--to", "executor:none", "--hosts", "example.com")["id"]
        r = stage.cloop("run", "-C", stage.project)
        assert r.rc == 0, r
        stage.home_is_free()
        run = stage.answer("ps", "--all")["runs"][0]["handle"]
        stage.cloop("doctor", "--offline")
        self.names = {"RUN": run, "GRANT": grants[1], "EGRESS": egress}
        self.kept = stage.dir / "kept"
        for folder in self.folders():
            shutil.copytree(folder, self.kept / folder.name, symlinks=True)
        self.config = stage.config_file.read_bytes()

    def folders(self):
        return self.stage.home, self.stage.project

    def put_back(self):
        for folder in self.folders():
            shutil.rmtree(folder)
            shutil.copytree(self.kept / folder.name, folder, symlinks=True)
        self.stage.engine.own(self.stage.project)
        self.stage.engine.own(self.stage.project, recursive=True)
        self.stage.config_file.write_bytes(self.config)
        for left in self.stage.config_file.parent.glob(".tmp-*"):
            left.unlink()

    def call(self, row, fault=None, words=("--json",)):
        words = [self.names.get(w, w) for w in row.words] + list(words)
        return self.stage.cloop(*words, cwd=self.stage.project,
                                env={"CLOOP_FAULT": fault} if fault else None)


# ---- What may come of it ----

def answer_of(r):
    """The last line as JSON."""
    lines = r.out.splitlines()
    try:
        return json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}


def is_failure(row, r):
    """A failure, in the documented form; else it is an answer."""
    answer = answer_of(r)
    if r.rc == 0 or row.answer and row.answer in answer:
        return False
    assert r.rc == (125 if row.name.startswith("wait") else 1), r
    assert set(answer) >= {"error", "code", "status", "remediation"}, r
    assert answer["remediation"] and answer["status"] >= 400 and answer["code"] != "internal", r
    return True


def lasting(state):
    """Without what is on record of each attempt."""
    rows, files = state
    return {table: r for table, r in rows.items() if table not in ("audit", "egress_session")}, files


def goes_on(ground, row, normal):
    """Without a fault it does it all, or says that it was done before."""
    r = ground.call(row)
    assert r.rc == normal.rc or answer_of(r).get("code") in row.done, r
    if row.steps:
        assert lasting(there_is(ground.stage)) == lasting(normal.state)


def one_kill(ground, row, fault, normal):
    """False: it is not met."""
    if row in CHANGE:
        ground.put_back()
    if ground.call(row, f"{fault}=kill").rc not in KILLED:
        return False
    if row in CHANGE:
        goes_on(ground, row, normal)
        ground.stage.answer("audit", "verify")
        ground.put_back()
    return True


def one_failure(ground, row, fault, normal):
    before = there_is(ground.stage)
    r = ground.call(row, fault)
    if is_failure(row, r):
        assert row.steps or there_is(ground.stage) == before, r
    elif not row.steps:
        assert there_is(ground.stage) == normal.state, r
    if row in CHANGE:
        goes_on(ground, row, normal)


def in_words(ground, row):
    """What people get instead of JSON."""
    ground.put_back()
    r = ground.call(row, "store-open", words=())
    assert r.rc == 0 or row.answer or b"cloop: " in r.err and b"  fix: " in r.err, (row.name, r)


def walk(ground, row):
    """How often a point was met."""
    ground.put_back()
    r = ground.call(row)
    assert not is_failure(row, r), (row.name, r)
    normal, met = Normal(r.rc, there_is(ground.stage)), 0
    for point in row.points:
        for n in range(1, MOST):
            fault = f"{point}:{n}"
            try:
                if not one_kill(ground, row, fault, normal):
                    break
                one_failure(ground, row, fault, normal)
            except AssertionError as e:
                raise AssertionError(f"{row.name}, {fault}: {e}") from e
            met += 1
    return met


@once
def test_every_call_fails_once(stage):
    ground = Ground(stage)
    for row in READ + CHANGE:
        assert walk(ground, row) or row in READ, row.name
        in_words(ground, row)


# ---- Beside a run ----

HELD = 60  # grants that its lease holds; each revocation takes one


def beside(stage, words, points):
    """The same for a command on a run that lives, which cannot be put back: each call has its own words."""
    met = 0
    for point in points:
        for n in range(1, MOST):
            for fault in (f"{point}:{n}=kill", f"{point}:{n}"):
                again = [str(w) for w in next(words)]
                row = Row(*again)
                r = stage.cloop(*again[:2], "--json", *again[2:], env={"CLOOP_FAULT": fault})
                if r.rc in KILLED or r.rc != 0 and is_failure(row, r):
                    stage.answer(*again)
                    met += 1
                elif fault.endswith("=kill"):
                    break
            else:
                continue
            break
    return met


def attach(stage, run, point):
    """There is no session, or it is on record, or it is told that it is not."""
    before = actions(stage).count("attach.open")
    r = stage.cloop("attach", run, "--", "true", env={"CLOOP_FAULT": point})
    known = actions(stage).count("attach.open") > before
    assert r.rc == 0 and (known or b"not in the audit trail" in r.err) or \
        r.rc == 1 and b"cloop: " in r.err and not known, (point, r)


@once
def test_every_call_fails_once_beside_a_run(stage):
    for n in range(HELD):
        mint(stage, f"s{n}", "file", VALUE)
        grant(stage, f"s{n}")
    run = stage.detach("sleep", "300")
    [lease] = stage.answer("lease", "list")["leases"]
    grants = iter([g["grant"] for g in lease["grants"]])
    points = ("file-write", "lock", "store-open", "store-exec", "store-write", "audit-head")
    same = iter(lambda: ("lease", "extend", "--run", run), None)
    assert beside(stage, same, points) > 0
    assert beside(stage, (("lease", "revoke", "--grant", g, lease["id"]) for g in grants), points) > 0
    for point in ("store-open", "store-exec", "store-write"):
        attach(stage, run, point)
    assert stage.status(run)["state"] == "running"
    stage.answer("audit", "verify")
    stage.answer("stop", "--signal", "kill", run)


# ---- What starts sandboxes to find something out ----

def look(stage, words, fault=None):
    """Exit status, and whether it is an answer."""
    r = stage.cloop(*words, "--json", env={"CLOOP_FAULT": fault} if fault else None)
    assert answer_of(r) and r.rc in (0, 1, 2), (fault, r)
    return r.rc, "error" not in answer_of(r) or not is_failure(Row(*words), r)


@once
def test_every_start_of_a_test_fails_once(stage):
    test = ("executor", "test")
    statuses = [look(stage, test, f"spawn:{n}")[0] for n in range(1, 4)]
    assert all(statuses), statuses
    assert look(stage, test) == (0, True)


@once
def test_a_configuration_is_written_or_not(stage):
    init = ("config", "init", "--force")
    before = stage.config_file.read_bytes()
    assert look(stage, init, "lock") == (1, False)
    assert stage.config_file.read_bytes() == before
    assert look(stage, init, "file-replace") == (1, True)  # of the image that it tries engines with
    assert look(stage, init) == (0, True)
