"""Which executor a run gets, and the seeds' tables of executor support and of errors, row by row
(sandbox-spec.md §9.1, §12-§15, config.md §4)."""
import json

import pytest

from engines import IMAGE
from granting import grant, mint

HOST = {"allow_host_process": True}
OFF = {"container": {"enabled": False}}
KERNEL = {"capabilities": {"kernel_isolated": True}}
# No such grant: the gate comes before grants are looked at. With it nothing is asked of the network,
# so that a row shows its own constraint on localprocess.
GRANT = {"network": "egress_000000000000000000000000"}


def configure(stage, *sections, **options):
    """config.yaml: members of `executors` over those of the stage."""
    stage.config(**options)
    whole = json.loads(stage.config_file.read_text())
    for section in sections:
        whole["executors"].update(section)
    stage.config_file.write_text(json.dumps(whole))


def bind(stage, *executor):
    return stage.answer("executor", "bind", "-C", stage.project, *executor)


def run(stage, status=125, options=(), env=None):
    """The answer of a run: its record, or why there is none."""
    return stage.answer(*stage.run_words(["true"], options=options), status=status, env=env)


def no_engine(stage):
    """The environment of a host without one."""
    return {"PATH": str(stage.dir)}


def explain(stage, *options, status=0):
    return stage.answer("sandbox", "explain", "-C", stage.project, *options, status=status)


def check(stage, status, *path):
    return stage.answer("sandbox", "check", *(path or ("-C", stage.project)), status=status)


def capabilities(stage):
    return stage.answer("executor", "show", "container")["capabilities"]


def is_error(answer, code, status, **members):
    assert (answer["code"], answer["status"]) == (code, status), answer
    assert answer["error"] and answer["remediation"] and answer["remediation"] not in answer["error"]
    for key, value in members.items():
        assert answer[key] == value, answer
    return answer


# ---- Bindings ----

def journal(stage):
    rows = stage.answer("journal", "-C", stage.project)["rows"]
    return [row["message"] for row in rows if row["kind"] == "executor.bind"]


def audit(stage):
    rows = stage.answer("audit", "list", "--limit", "0")["rows"]
    return [row["payload"] for row in rows if row["action"] == "executor.bind"]


def test_binding(stage):
    configure(stage, HOST)
    project = str(stage.project)
    assert bind(stage) == {"project": project, "executor": None, "previous": None}
    assert not (stage.home / "state.db").exists()
    assert bind(stage, "localprocess") == {
        "project": project, "executor": "localprocess", "previous": None}
    assert bind(stage, "localprocess")["previous"] == "localprocess"
    assert stage.answer("project", "show", "-C", project)["executor"] == "localprocess"
    [shown] = stage.answer("project", "list")["projects"]
    assert shown["executor"] == "localprocess"
    assert b"localprocess" in stage.cloop("project", "list").out
    record = run(stage, status=0)
    assert (record["executor_id"], record["isolation"]) == ("localprocess", "none")
    placement = explain(stage)["placement"]
    assert placement == {"selected": "localprocess", "by": "binding", "considered": 1,
                         "rejections": []}
    # What one run asks for goes before what is set for all of them.
    assert run(stage, 0, ["--executor", "container"])["executor_id"] == "container"
    assert explain(stage, "--executor", "container")["placement"]["by"] == "option"
    # A binding is the project's, and nobody else's.
    other = stage.make_project("other")
    assert stage.run("true", project=other).record["executor_id"] == "container"
    assert bind(stage, "container")["previous"] == "localprocess"
    assert run(stage, status=0)["executor_id"] == "container"
    assert bind(stage)["previous"] == "container"
    assert stage.answer("project", "show", "-C", project)["executor"] is None
    rows = [("localprocess", None), ("container", "localprocess"), (None, "container")]
    assert [(r["executor_id"], r["previous"]) for r in audit(stage)] == rows
    assert {r["project"] for r in audit(stage)} == {project} and len(journal(stage)) == 3
    assert stage.answer("audit", "verify")["ok"]
    bind(stage, "localprocess")
    assert stage.answer("project", "forget", "-C", project)["forgotten"]
    assert stage.answer("project", "show", "-C", project)["executor"] is None
    assert run(stage, status=0)["executor_id"] == "container"


def test_binding_is_refused(stage):
    there = ("executor", "bind", "-C", stage.project)
    answer = stage.answer(*there, "nosuch", status=1)
    assert answer["code"] == "executor_unknown" and "container" in answer["error"]
    assert stage.cloop(*there, "a", "b").rc == 2
    answer = stage.answer("executor", "bind", "-C", stage.dir / "absent", "container", status=1)
    assert answer["code"] == "not_a_project"
    assert stage.answer("project", "list") == {"projects": []}


def test_bound_executor_is_gone(stage):
    """Nothing takes its place."""
    configure(stage, HOST)
    bind(stage, "container")
    configure(stage, HOST, OFF)
    is_error(run(stage), "executor_unknown", 404)
    answer = check(stage, 1)
    assert [e["code"] for e in answer["errors"]] == ["executor_unknown"]
    assert run(stage, 0, ["--executor", "localprocess"])["executor_id"] == "localprocess"


def test_grants_go_by_the_executor_that_was_chosen(stage):
    """executor:ID of a grant is the executor of the run, bound or named."""
    configure(stage, HOST)
    mint(stage, "token", "env", "canary", "--env", "TOKEN")
    grant(stage, "token", "executor:container")
    bind(stage, "localprocess")
    def names(*options):
        return [g["secret"] for g in explain(stage, *options)["grants"]]
    assert names() == [] and names("--executor", "container") != []
    preview = stage.answer("secret", "lease", "-C", stage.project)
    assert (preview["executor"], preview["granted"]) == ("localprocess", [])
    bind(stage, "container")
    assert names() != []
    assert stage.answer("secret", "lease", "-C", stage.project)["executor"] == "container"


# ---- Placement of what is bound to none ----

def test_placement(stage):
    configure(stage, HOST)
    assert run(stage, status=0)["executor_id"] == "container"
    placement = explain(stage)["placement"]
    assert placement == {"selected": "container", "by": "placement", "considered": 2,
                         "rejections": []}
    stage.spec({"env": []})
    placement = explain(stage)["placement"]
    assert placement["selected"] == "container" and placement["considered"] == 2
    [rejected] = placement["rejections"]
    assert (rejected["executor_id"], rejected["constraint"]) == ("localprocess", "network_off")
    assert rejected["detail"]
    shown = stage.cloop("sandbox", "explain", "-C", stage.project).out.decode()
    assert "\nplacement " in shown and "localprocess" in shown
    configure(stage)
    assert explain(stage)["placement"]["by"] == "only"


def test_nobody_takes_it(stage):
    """The headline is what most of them lack; every one is named with its own reason."""
    configure(stage, HOST)
    stage.spec(KERNEL)
    answer = is_error(run(stage), "no_placement", 409, constraint="kernel_isolation", considered=2)
    assert [(r["executor_id"], r["constraint"]) for r in answer["rejections"]] == [
        ("container", "kernel_isolation"), ("localprocess", "kernel_isolation")]
    for word in ("container: ", "localprocess: ", "oci_runtime", "runtime_class", "none of 2"):
        assert word in answer["error"]
    assert "capabilities.kernel_isolated" in answer["remediation"]
    assert is_error(explain(stage, status=1), "no_placement", 409)
    assert stage.run_dirs() == []
    r = stage.cloop(*stage.run_words(["true"]))
    assert r.rc == 125 and b"kernel_isolation: none of 2" in r.err and b"\n  fix: " in r.err
    # A binding has the gate, and the gate other words.
    bind(stage, "container")
    is_error(run(stage), "sandbox_unsupported", 409, constraint="kernel_isolation", alternatives=[])


def test_nobody_is_there(stage):
    configure(stage, OFF)
    is_error(run(stage), "no_placement", 409, constraint="no_candidates", considered=0, rejections=[])


def test_nothing_falls_back_to_the_host(stage):
    """Host processes are allowed, and the engine is gone: no work comes to the host unasked."""
    configure(stage, HOST)
    stage.write("marker")
    words = stage.run_words(["/bin/sh", "-c", "rm marker"])
    answer = stage.answer(*words, status=125, env=no_engine(stage))
    is_error(answer, "no_placement", 409, considered=2, constraint="health")
    assert [(r["executor_id"], r["constraint"]) for r in answer["rejections"]] == [
        ("container", "health"), ("localprocess", "isolation")]
    assert stage.engine.kind in answer["rejections"][0]["detail"]
    # Nor where the file asks for what only the host has: a file takes access away.
    stage.spec({"capabilities": GRANT})
    answer = is_error(run(stage), "no_placement", 409)
    assert [(r["executor_id"], r["constraint"]) for r in answer["rejections"]] == [
        ("container", "network_egress"), ("localprocess", "isolation")]
    assert (stage.project / "marker").exists() and stage.run_dirs() == []
    # The only one, or the one that is named: then it was asked.
    stage.spec("")
    configure(stage, HOST, OFF)
    assert run(stage, 0)["executor_id"] == "localprocess"
    assert explain(stage)["placement"]["by"] == "only"
    configure(stage, HOST, {"default": "localprocess"})
    assert run(stage, 0)["executor_id"] == "localprocess"
    assert explain(stage)["placement"]["by"] == "default"


def test_the_reason_of_one_that_cannot_be_used(stage):
    """Where it is the only one, or named, its own error says it."""
    is_error(run(stage, env=no_engine(stage)), "runtime_missing", 409)
    bind(stage, "container")
    configure(stage, HOST)
    is_error(run(stage, env=no_engine(stage)), "runtime_missing", 409)
    answer = stage.answer("sandbox", "check", "-C", stage.project, status=1, env=no_engine(stage))
    assert [e["code"] for e in answer["errors"]] == ["runtime_missing"]


# ---- Strict mode ----

def test_strict_mode(stage):
    """allow_host_process off: no work on the host, whoever asks for it in whatever way."""
    host = {"constraint": "host_execution_policy", "alternatives": ["container"]}
    stage.write("marker")
    answer = run(stage, options=["--executor", "localprocess"])
    is_error(answer, "host_execution_denied", 409, **host)
    assert "container" in answer["remediation"] and "bind" in answer["remediation"]
    r = stage.cloop("executor", "bind", "-C", stage.project, "localprocess")
    assert r.rc == 0 and b"note: runs will be refused" in r.err and b"allow_host_process" in r.err
    is_error(run(stage), "host_execution_denied", 409, **host)
    is_error(explain(stage, status=1), "host_execution_denied", 409, **host)
    [error] = check(stage, 1)["errors"]
    assert (error["code"], error["path"], error["line"]) == ("host_execution_denied", "", None)
    assert error["alternatives"] == ["container"]
    stage.spec({"setup": ["true"]})
    is_error(run(stage), "host_execution_denied", 409, **host)
    bind(stage)
    configure(stage, {"default": "localprocess"})
    is_error(run(stage), "host_execution_denied", 409, **host)
    configure(stage, OFF)
    answer = run(stage, options=["--executor", "localprocess"])
    is_error(answer, "host_execution_denied", 409, constraint="host_execution_policy",
             alternatives=[])
    assert [e["id"] for e in stage.answer("executor", "list")["executors"]] == []
    # It is no alternative either.
    configure(stage)
    bind(stage, "container")
    stage.spec(KERNEL)
    is_error(run(stage), "sandbox_unsupported", 409, alternatives=[])
    assert (stage.project / "marker").exists() and stage.run_dirs() == []


def test_the_host_is_never_an_alternative(stage):
    """Allowed, and it passes the gate: the file asks for a network grant only."""
    configure(stage, HOST)
    bind(stage, "container")
    stage.spec({"capabilities": GRANT})
    answer = is_error(run(stage), "sandbox_unsupported", 409, constraint="network_egress",
                      alternatives=[])
    assert "localprocess" not in answer["remediation"]


# ---- The seeds' tables ----
#
# Executor support, the columns that this version has: there is no driver for Kubernetes or remote
# devices yet. What a host may lack (limits, Kata, gVisor, a filter) is run where the driver claims it,
# else refused with its constraint. Real runs on gVisor and with hardware: test_gvisor.py,
# test_hardware.py.

SUPPORT = [
    # row of the seeds, the file, what the container driver must claim, constraint on localprocess
    ("image", {"image": IMAGE}, None, "image_override"),
    ("setup", {"setup": ["true"]}, None, "sandbox_build"),
    ("mounts", {"mounts": [{"source": "a", "target": "/mnt/a"}]}, None, "sandbox_mounts"),
    ("resources (cpu)", {"resources": {"cpu": 1}}, "resource_limits", "resource_limits"),
    ("resources (memory)", {"resources": {"memory": "128m"}}, "resource_limits", "resource_limits"),
    ("resources (pids)", {"resources": {"pids": 40}}, "pids_limit", "resource_limits"),
    ("resources.disk", {"resources": {"disk": "64m"}}, "resource_limits", "resource_limits"),
    ("capabilities.network off", {"env": []}, None, "network_off"),
    ("capabilities.virtualized", {"capabilities": {"virtualized": True}}, "virtualized",
     "virtualization"),
    ("capabilities.kernel_isolated", {"capabilities": {"kernel_isolated": True}}, "kernel_isolated",
     "kernel_isolation"),
    ("capabilities.egress: none", {"capabilities": {"egress": "none"}}, None, "network_off"),
    # Without a network of the executor it is refused for that: the next test has one.
    ("capabilities.egress: public", {"capabilities": {"egress": "public"}}, "network_egress",
     "network_off"),
]
CLAIMED = {"virtualized": "virtualization", "kernel_isolated": "kernel_isolation"}


def host_constraint(spec):
    """The file, and a network grant where it does not speak of the network itself: the row's own
    constraint shows then."""
    capabilities_of_it = spec.get("capabilities", {})
    if spec == {"env": []} or "egress" in capabilities_of_it:
        return spec
    return {**spec, "capabilities": {**capabilities_of_it, **GRANT}}


@pytest.mark.parametrize("row, spec, claim, constraint", SUPPORT, ids=[r[0] for r in SUPPORT])
def test_support(stage, row, spec, claim, constraint):
    configure(stage, HOST)
    # container
    stage.spec(spec)
    bind(stage, "container")
    if not claim or capabilities(stage)[claim]:
        record = run(stage, status=0)
        assert (record["executor_id"], record["outcome"]) == ("container", "ok")
        assert check(stage, 0)["ok"]
        if "setup" in spec:
            stage.home_is_free()
            stage.engine.call("rmi", record["image_id"])  # other tests count what is built
    else:
        answer = is_error(run(stage), "sandbox_unsupported", 409, alternatives=[])
        assert answer["constraint"] in (CLAIMED.get(claim, claim), "resource_limits")
        [error] = check(stage, 1)["errors"]
        assert error["code"] == "sandbox_unsupported" and error["line"] == 1
        assert error["constraint"] == answer["constraint"] and error["alternatives"] == []
        assert error["path"].split(".")[0] == next(iter(spec))
    # localprocess
    stage.spec(host_constraint(spec))
    bind(stage, "localprocess")
    answer = is_error(run(stage), "host_execution_denied", 409, constraint=constraint)
    assert "bind" in answer["remediation"]
    [error] = check(stage, 1)["errors"]
    assert (error["code"], error["constraint"]) == ("host_execution_denied", constraint)
    assert (error["line"] is None) == (constraint == "network_off")
    # The container executor is the alternative exactly where it takes the same file.
    bind(stage, "container")
    assert answer["alternatives"] == ([] if check_any(stage) else ["container"])


def check_any(stage):
    r = stage.cloop("sandbox", "check", "--json", "-C", stage.project)
    return json.loads(r.out)["errors"]


def test_support_of_devices_and_interfaces(stage):
    """✅ --device, ✅ netns move (as root) / ❌. What runs get is in test_hardware.py."""
    able = capabilities(stage)
    assert able["devices"] and able["interfaces"] == (stage.engine.key != "R")
    assert not (able["egress_scope"] and stage.engine.key == "R")
    configure(stage, HOST)
    bind(stage, "localprocess")
    for key in ("devices", "interfaces"):
        stage.spec({"capabilities": {key: ["lab0"], **GRANT}})
        answer = is_error(run(stage), "host_execution_denied", 409, constraint=key)
        [error] = check(stage, 1)["errors"]
        assert (error["path"], error["constraint"]) == (f"capabilities.{key}", key), answer


# ---- Errors ----

def images(stage, **policy):
    configure(stage)
    whole = json.loads(stage.config_file.read_text())
    whole["sandbox"] = {"image_policy": policy}
    stage.config_file.write_text(json.dumps(whole))


INVALID = [
    # row "Unknown key, bad value, escaping mount", "image: is not a usable reference",
    # "capabilities.interfaces together with network: none"
    ({"nosuch": 1}, "unknown_key"),
    ({"resources": {"memory": "2gb"}}, "not_a_size"),
    ({"mounts": [{"source": "../x", "target": "/x"}]}, "dotdot"),
    ({"image": "UPPER CASE"}, "reference_syntax"),
    ({"capabilities": {"interfaces": ["dut"]}}, "contradiction"),
]


@pytest.mark.parametrize("spec, code", INVALID, ids=[c for _, c in INVALID])
def test_the_authors_fault(stage, spec, code):
    stage.spec(spec)
    answer = is_error(run(stage), "sandbox_invalid_spec", 400)
    assert [e["code"] for e in answer["errors"]] == [code]
    assert [e["code"] for e in check(stage, 1)["errors"]] == [code]


def test_a_mount_that_escapes_by_a_link(stage):
    (stage.project / "out").symlink_to("/etc")
    stage.spec({"mounts": [{"source": "out", "target": "/mnt/out"}]})
    is_error(run(stage), "mount_escapes", 400)


ISOLATION = [
    # row "capabilities.virtualized on a kernel-sharing executor",
    # "capabilities.kernel_isolated on a runc executor"
    ("virtualized", "virtualization", ["Kata"]),
    ("kernel_isolated", "kernel_isolation", ["gVisor", "Kata"]),
]


@pytest.mark.parametrize("key, constraint, names", ISOLATION)
def test_isolation_that_is_not_there(stage, key, constraint, names):
    configure(stage, HOST)
    stage.spec({"capabilities": {key: True}})
    answer = run(stage, options=["--executor", "container"])
    is_error(answer, "sandbox_unsupported", 409, constraint=constraint, alternatives=[])
    for word in ("executors.container.oci_runtime", "executors.kubernetes.runtime_class", *names):
        assert word in answer["error"]
    answer = run(stage, options=["--executor", "localprocess"])
    is_error(answer, "host_execution_denied", 409, constraint=constraint)


def test_grants_that_are_not_there(stage):
    """Rows: network names a grant the project lacks; devices, interfaces name what is not granted."""
    configure(stage, network="bridge", egress_filter={"enabled": False})
    stage.spec({"capabilities": GRANT})
    answer = is_error(run(stage), "sandbox_grant_denied", 409)
    assert "cloop egress grant" in answer["remediation"] and "egress list" in answer["remediation"]
    stage.spec({"capabilities": {"devices": ["serial0", "serial1"], **GRANT}})
    answer = is_error(run(stage), "sandbox_device_not_granted", 409, names=["serial0", "serial1"])
    assert "cloop secret grant" in answer["remediation"] and "--devices" in answer["remediation"]
    if not capabilities(stage)["interfaces"]:
        return
    stage.spec({"capabilities": {"interfaces": ["dut"], **GRANT}})
    answer = is_error(run(stage), "sandbox_interface_not_granted", 409, names=["dut"])
    assert "cloop secret grant" in answer["remediation"] and "--interfaces" in answer["remediation"]


def test_egress_that_cannot_be_served(stage):
    """Row: network names a grant that cannot be served to this run: no proxy, or no route to it."""
    configure(stage, HOST, {"egress": {"enabled": False}}, network="bridge",
              egress_filter={"enabled": False})
    held = stage.answer("egress", "grant", "--to", f"project:{stage.project}", "--hosts",
                        "a.example")["id"]
    stage.spec({"capabilities": {"network": held}})
    answer = is_error(run(stage, options=["--executor", "container"]), "sandbox_egress_unavailable",
                      409)
    assert "executors.egress.enabled" in answer["error"]
    configure(stage, HOST)
    answer = is_error(run(stage, options=["--executor", "localprocess"]),
                      "sandbox_egress_unavailable", 409)
    assert "no route" in answer["error"] and "localprocess" in answer["error"]


def public_and_its_refusals(stage):
    """The refusals are the driver's, before it asks the engine for anything."""
    held = stage.answer("egress", "grant", "--to", f"project:{stage.project}", "--hosts",
                        "a.example")["id"]
    stage.spec({"capabilities": {"egress": "public", "network": held}})
    configure(stage, network="bridge", egress_filter={
        "enabled": True, "internal": True, "broker": "192.0.2.1:3128"})
    answer = is_error(run(stage), "executor_unsupported", 409)
    assert "add access" in answer["error"] and "capabilities.egress" in answer["remediation"]
    configure(stage, network="bridge", egress_filter={"enabled": False})
    answer = is_error(run(stage), "egress_no_resolvers", 400)
    assert "executors.container.egress_filter.resolvers" in answer["remediation"]
    assert stage.run_dirs() == []
    configure(stage, network="bridge",
              egress_filter={"enabled": False, "resolvers": ["192.0.2.53"]})
    network = explain(stage)["network"]
    assert (network["scope"], network["mode"], network["filter"]) == ("public", "run", "filtered")
    assert run(stage, status=0)["outcome"] == "ok"


def test_scopes_that_are_not_there(stage):
    """Rows: egress public on an executor that cannot scope egress, on one that has a broker only, and
    without resolvers."""
    configure(stage, network="bridge")
    stage.spec({"capabilities": {"egress": "public"}})
    bind(stage, "container")
    if not capabilities(stage)["egress_scope"]:
        is_error(run(stage), "sandbox_unsupported", 409, constraint="egress_scope")
        [error] = check(stage, 1)["errors"]
        assert error["path"] == "capabilities.egress"
    else:
        public_and_its_refusals(stage)
    configure(stage, HOST)
    stage.spec({"capabilities": {"egress": "public", **GRANT}})
    answer = run(stage, options=["--executor", "localprocess"])
    is_error(answer, "host_execution_denied", 409, constraint="egress_scope")


HARDWARE = [
    # row "a host_device grant on an executor that cannot expose devices",
    # "a host_interface grant on an executor that cannot move one"
    ("host_device", "--devices", "zero0=/dev/zero\n", "zero0", "devices"),
    ("host_interface", "--interfaces", "dut=nosuch0\n", "dut", "interfaces"),
]


@pytest.mark.parametrize("kind, option, payload, name, constraint", HARDWARE)
def test_hardware_grants_on_the_host(stage, kind, option, payload, name, constraint):
    """The grant is named, and what to do about it, where no file asks for it."""
    configure(stage, HOST)
    mint(stage, "lab", kind, payload)
    held = grant(stage, "lab", "any", option, name)
    bind(stage, "localprocess")
    answer = is_error(run(stage), "host_execution_denied", 409, constraint=constraint)
    assert held in answer["error"] and "lab" in answer["error"] and "localprocess" in answer["error"]
    assert f"cloop secret revoke {held}" in answer["remediation"]
    assert f"{constraint}: []" in answer["remediation"]
    if constraint == "interfaces":
        assert "Kata" in answer["error"] and "gVisor" in answer["error"]
    if constraint == "interfaces" and not capabilities(stage)["interfaces"]:
        bind(stage, "container")
        answer = is_error(run(stage), "sandbox_unsupported", 409, constraint="interfaces")
        assert held in answer["error"] and "Kata" in answer["error"]


def test_images_that_are_not_allowed(stage):
    """Row: image is refused by the trust policy. (What an image lacks: test_harness.py.)"""
    images(stage, allowed_registries=["registry.example"])
    stage.spec({"image": "ghcr.io/acme/tool:1"})
    answer = is_error(run(stage), "sandbox_image_denied", 409, rule="registry-allowlist")
    assert "registry-allowlist" in answer["error"]
    # Both verdicts of a valid file are shown, in file order, each with its own members.
    bind(stage, "container")
    stage.spec("capabilities: {kernel_isolated: true}\nimage: ghcr.io/acme/tool:1\n")
    gate, denial = check(stage, 1)["errors"]
    assert (gate["code"], gate["path"], gate["constraint"]) == (
        "sandbox_unsupported", "capabilities.kernel_isolated", "kernel_isolation")
    assert (denial["code"], denial["path"], denial["rule"]) == (
        "sandbox_image_denied", "image", "registry-allowlist")
    assert "rule" not in gate and "constraint" not in denial
