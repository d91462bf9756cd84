"""Limits as the workload's own control group shows them (container-driver.md §25.10,
sandbox-spec.md §16.9)."""
import json

import pytest

LOOK = r"""
c=/sys/fs/cgroup
if [ -e $c/memory.max ]; then
	echo "memory $(cat $c/memory.max)"; echo "swap $(cat $c/memory.swap.max 2>/dev/null || echo 0)"
	echo "cpu $(cat $c/cpu.max)"; echo "pids $(cat $c/pids.max)"
else
	echo "memory $(cat $c/memory/memory.limit_in_bytes)"
	m=$(cat $c/memory/memory.memsw.limit_in_bytes 2>/dev/null || cat $c/memory/memory.limit_in_bytes)
	echo "swap $((m - $(cat $c/memory/memory.limit_in_bytes)))"
	echo "cpu $(cat $c/cpu/cpu.cfs_quota_us) $(cat $c/cpu/cpu.cfs_period_us)"
	echo "pids $(cat $c/pids/pids.max)"
fi
"""
RESOURCES = {"cpu": 0.5, "memory": "96m", "pids": 40}
MB = 1 << 20


def limited(stage):
    return stage.answer("executor", "show")["capabilities"]["resource_limits"]


def look(stage):
    r = stage.sh(LOOK)
    assert r.rc == 0, r
    seen = dict(line.split(" ", 1) for line in r.out.decode().splitlines())
    quota, period = seen["cpu"].split()
    seen["cpu"] = None if quota in ("max", "-1") else int(quota) / int(period)
    return seen, r.record


def unheld(r):
    return [w["message"] for w in r.record["warnings"] if w["code"] == "limit_unheld"]


def test_refused_where_nothing_holds_them(stage):
    """R on cgroup v1 or without delegation: said by the capability, refused by the gate."""
    if limited(stage):
        return
    assert stage.engine.key == "R"
    for resources in ({"memory": "96m"}, {"cpu": 1}, {"pids": 40}):
        stage.spec({"resources": resources})
        stage.refused("/bin/true", code="sandbox_unsupported")
    stage.spec({"env": []})
    r = stage.sh("true")
    assert r.rc == 0 and unheld(r) == []
    # What the operator asks of every run is dropped there, which is told.
    stage.config(sections={}, memory="128m", pids_limit=50)
    r = stage.sh("true")
    assert r.rc == 0 and [m.split(":")[0] for m in unheld(r)] == ["memory", "pids"]
    assert stage.run_dirs()[2:] == []


def test_what_the_file_asks(stage):
    if not limited(stage):
        return
    stage.spec({"resources": RESOURCES})
    explained = stage.answer("sandbox", "explain", "-C", stage.project)["limits"]
    seen, record = look(stage)
    assert seen["memory"] == str(96 * MB) and seen["swap"] == "0"
    assert seen["cpu"] == pytest.approx(0.5) and seen["pids"] == "41"  # the init comes on top
    limits = record["limits"]
    for where in (limits["effective"], explained["effective"]):
        assert {k: where[k] for k in ("cpu_millis", "memory_mb", "pids")} == {
            "cpu_millis": 500, "memory_mb": 96, "pids": 40}
    assert limits["requested"]["memory_mb"] == 96
    assert limits["source"]["memory"] == "spec"


def test_defaults_and_ceilings(stage):
    if not limited(stage):
        return
    stage.config(sections={}, memory="128m", cpus=1)
    seen, record = look(stage)
    assert seen["memory"] == str(128 * MB) and seen["cpu"] == 1 and seen["pids"] == "1025"
    assert "limit_unheld" not in [w["code"] for w in record["warnings"]]
    assert record["limits"]["source"]["memory"] == "default"
    ceiling(stage, {"max_memory": "80m"})
    seen, record = look(stage)
    assert seen["memory"] == str(80 * MB) and record["limits"]["source"]["memory"] == "fleet"
    assert "resource_ceiling" not in [w["code"] for w in record["warnings"]]
    stage.spec({"resources": {"memory": "1g"}})
    seen, record = look(stage)
    assert seen["memory"] == str(80 * MB)
    assert record["limits"]["requested"]["memory_mb"] == 1024
    assert "resource_ceiling" in [w["code"] for w in record["warnings"]]


def ceiling(stage, limits):
    config = json.loads(stage.config_file.read_text())
    config["executors"]["limits"] = limits
    stage.config_file.write_text(json.dumps(config))


def test_all_processes_are_the_workloads(stage):
    """With a limit of N exactly N run beside the init: a fork bomb reaches it and no more."""
    if not limited(stage):
        return
    stage.spec({"resources": {"pids": 1}})
    r = stage.sh("echo one; (echo two) || echo none")
    assert r.out.startswith(b"one\n") and b"two" not in r.out
    stage.spec({"resources": {"pids": 12}})
    r = stage.sh("n=1; while [ $n -lt 40 ]; do sleep 5 & n=$((n+1)); echo $n; done")
    numbers = [int(w) for w in r.out.split()]
    assert max(numbers) in (12, 13)  # the shell counts the attempt that failed, or stops at it


def test_cpu_beyond_the_host(stage):
    if not limited(stage):
        return
    stage.spec({"resources": {"cpu": 1024, "memory": "64m"}})
    assert stage.sh("true").rc == 0
    stage.spec({"resources": {"cpu": 0.001}})
    seen, record = look(stage)
    assert seen["cpu"] == pytest.approx(0.01)  # the least that engines take


def test_wrong_ceiling_refuses(stage):
    ceiling(stage, {"max_memory": "lots"})
    r = stage.cloop(*stage.run_words(["/bin/true"]))
    assert r.rc in (1, 125) and b"max_memory" in r.err and b"fix: " in r.err
