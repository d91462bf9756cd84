"""The contract of a harness image (image-trust.md §9, §10), held by the images that the recipe
builds here."""
import json
import re
import shutil
import subprocess

import pytest

from engines import ROOT
from conftest import on_stage

pytestmark = pytest.mark.root

LABELS = {"default": "claude,git,cloop", "copilot": "claude,copilot,git,cloop"}
VARIANTS = list(LABELS)
UID = "43210:43211"
# As a sandbox has it: read-only, no capabilities, a /tmp in memory, no network.
SANDBOX = ["--rm", "--network=none", "--read-only", "--read-only-tmpfs=false",
           "--tmpfs=/tmp:rw,size=512m,mode=1777", "--cap-drop=ALL",
           "--security-opt=no-new-privileges", "--env=HOME=/tmp", "--cgroupns=private",
           "--ulimit=nofile=256:256", "--ulimit=nproc=256:256"]
VERSIONS = {"claude": r"[0-9.]+ \(Claude Code\)", "git": r"git version 2\.",
            "cloop": r"cloop [0-9]", "copilot": r"GitHub Copilot CLI [0-9]"}


def version_call(program):
    return "cloop version" if program == "cloop" else f"{program} --version"


def pinned_version(program):
    rows = [r.split() for r in (ROOT / "images/pins" / program).read_text().splitlines()
            if not r.startswith("#")]
    return rows[0][1]


@pytest.fixture
def run(engine):
    """Runs a script in an image by the engine alone."""
    def call(image, script, *flags):
        runtime = [f"--runtime={engine.oci_runtime}"] if engine.oci_runtime else []
        return engine.call(*runtime, "run", *SANDBOX, *flags, image, "/bin/sh", "-c", script)
    return call


def config(engine, image):
    return json.loads(engine.call("image", "inspect", image))[0]["Config"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_configuration(engine, images, variant):
    c = config(engine, images(variant))
    assert not c.get("Entrypoint") and not c.get("Volumes") and not c.get("OnBuild")
    uid, _, gid = c["User"].partition(":")
    assert int(uid) > 0 and int(gid) > 0
    labels = c["Labels"]
    assert labels["org.cloop.harnesses"] == LABELS[variant]
    oci = {k.removeprefix("org.opencontainers.image."): v for k, v in labels.items()}
    assert oci["title"] == ("cloop-harness" if variant == "default" else "cloop-harness-copilot")
    assert re.fullmatch(r"[0-9a-f]{40}|unknown", oci["revision"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", oci["created"])
    assert f"version: '{oci['version']}'" in (ROOT / "meson.build").read_text()
    assert oci["description"] and oci["source"] and "base.name" not in oci


@pytest.mark.parametrize("variant", VARIANTS)
def test_label_is_true(images, run, variant):
    """Every program that the label names is on PATH and runs, under any UID."""
    for program in LABELS[variant].split(","):
        out = run(images(variant), version_call(program), f"--user={UID}")
        assert re.match(VERSIONS[program], out), out
    for program in set(LABELS["copilot"].split(",")) - set(LABELS[variant].split(",")):
        assert run(images(variant), f"command -v {program} || echo none") == "none\n"


@pytest.mark.parametrize("variant", VARIANTS)
def test_pinned_versions(images, run, variant):
    for program in {"claude", "copilot"} & set(LABELS[variant].split(",")):
        assert pinned_version(program) in run(images(variant), version_call(program))


@pytest.mark.parametrize("user", [UID, "1000:1000", "2147483647:7"])
def test_any_uid(images, run, user):
    out = run(images("default"), """
        id -u
        test "$HOME" = /tmp && ! touch /etc/x 2>/dev/null
        cd /tmp && git init -q r && cd r && echo x >f && git add f
        git -c user.name=n -c user.email=e@x commit -q -m text && git log --format=%s
        claude mcp list 2>&1 | head -n 1
        test -O /tmp/.claude.json && cloop help >/dev/null && echo end""", f"--user={user}")
    uid = user.split(":")[0]
    assert out.splitlines()[:2] == [uid, "text"] and out.endswith("end\n"), out


@pytest.mark.parametrize("variant", VARIANTS)
def test_default_user_and_place(images, run, variant):
    assert run(images(variant), "id -u; id -g; echo $HOME; pwd") == "65532\n65532\n/tmp\n/tmp\n"


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_gives_privileges(engine, images, run, variant):
    """No setuid, setgid or capability on a file; nothing that others may write outside the usual."""
    out = run(images(variant), """
        find / -xdev -type f -perm /6000
        find / -xdev '(' -type f -o -type d ')' -perm -2 ! -path '/proc/*' ! -path '/sys/*'
        find /usr/local -xdev ! -user 0
        find /usr/local -xdev -type f -perm /022""", "--user=0", "--cap-add=DAC_OVERRIDE",
              "--tmpfs=/dev/shm")
    assert set(out.split()) <= {"/tmp", "/var/tmp", "/run/lock", "/dev/shm", "/dev"}, out
    # Capabilities of files, from outside: the image has no program to show them.
    root = engine.call("image", "mount", images(variant)).strip()
    try:
        assert shutil.which("getcap", path="/usr/sbin:/sbin:/usr/bin:/bin"), \
            "getcap is not installed: apt-get install libcap2-bin"
        p = engine.popen(["getcap", "-r", root], stdout=-1)
        assert p.communicate()[0] == b""
    finally:
        engine.call("image", "unmount", images(variant))


def test_base_says_nothing_of_the_host(images, run):
    out = run(images("default"), "ls /var/lib/apt/lists /var/cache/apt/archives | wc -l;"
              " cat /etc/machine-id /etc/apt/apt.conf.d/*proxy* 2>/dev/null; ls /root", "--user=0")
    assert int(out.splitlines()[0]) <= 8 and len(out.splitlines()) == 1, out


def test_ca_bundle(images, run):
    count = run(images("default"), "grep -c 'BEGIN CERTIFICATE' /etc/ssl/certs/ca-certificates.crt")
    assert int(count) > 50


def test_licences_come_along(images, run):
    run(images("copilot"), "test -s /usr/local/share/doc/claude/LICENSE.md"
        " && test -s /usr/local/share/doc/copilot/LICENSE.md"
        " && test -s /usr/local/share/doc/cloop/LICENSE && test -s /usr/share/doc/git/copyright")


def test_copilot_starts_without_a_write(images, run):
    """Its runtime is unpacked in the image, read-only; a start leaves /tmp as it was."""
    out = run(images("copilot"), """
        env | grep -E '^COPILOT' | sort
        copilot --version >/dev/null && find /tmp -type f -size +64k
        du -sm "$COPILOT_PKG_CACHE_HOME" | cut -f1
        find "$COPILOT_PKG_CACHE_HOME" -perm /222 ! -type l
        mkdir "$COPILOT_HOME" && echo end""", f"--user={UID}")
    lines = out.splitlines()
    assert lines[:3] == ["COPILOT_AUTO_UPDATE=false", "COPILOT_HOME=/tmp/.copilot",
                         "COPILOT_PKG_CACHE_HOME=/usr/local/lib/copilot"]
    assert len(lines) == 5 and int(lines[3]) > 50 and lines[4] == "end", out


@pytest.mark.parametrize("variant", VARIANTS)
def test_cloop_runs_it(stage, images, variant):
    image = images(variant)
    stage.spec({"image": image})
    calls = " && ".join(version_call(p) for p in LABELS[variant].split(","))
    r = stage.sh(f"{calls} && id -u && echo $HOME && git init -q . && command -v cloop && ! touch /x")
    assert r.rc == 0, r
    lines = r.out.decode().splitlines()
    assert lines[-3:] == [str(stage.engine.owner[0]), "/tmp", "/usr/local/bin/cloop"], r
    assert r.record["image_requested"] == image and r.record["outcome"] == "ok"
    assert (stage.project / ".git").is_dir()


def test_cloop_runs_it_for_the_operator(stage, images):
    stage.config(image=images("default"))
    assert stage.run("claude", "--version").rc == 0
    r = stage.answer("executor", "test")
    assert r["ok"], r


@pytest.mark.parametrize("variant, provider, runs", [
    ("default", "claudecode", True), ("default", "none", True), ("default", "copilot", False),
    ("copilot", "claudecode", True), ("copilot", "copilot", True)])
def test_label_decides_for_a_provider(stage, images, variant, provider, runs):
    stage.spec({"image": images(variant)})
    stage.answer("project", "set", "-C", stage.project, "provider", provider)
    if runs:
        r = stage.run("cloop", "version")
        assert (r.rc, r.record["outcome"]) == (0, "ok"), r
        return
    r = stage.refused("cloop", "version", code="sandbox_image_lacks_harness")
    assert "cloop-harness-copilot" in r.err.decode() and "claude, git, cloop" in r.err.decode(), r


# What the recipe refuses; nothing is tagged then.

def refused(engine, build, *words, says, env=None):
    p = build(*words, "--tag", "localhost/cloop-images-refused:1", env=env)
    assert p.returncode != 0 and says in p.stderr, p
    assert "cloop-images-refused" not in engine.call("image", "ls")
    assert not list((ROOT / "build-images").glob("scratch-*"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_other_tarball_than_pinned(engine, build, images, tmp_path, variant):
    images(variant)  # has fetched
    program = "claude" if variant == "default" else variant
    for pins in (ROOT / "images/pins").iterdir():
        shutil.copy(pins, tmp_path)
    text = (tmp_path / program).read_text()
    (tmp_path / program).write_text(re.sub(r"sha512-.{10}", "sha512-AAAAAAAAAA", text))
    refused(engine, build, variant, "--pins", tmp_path, says="integrity mismatch")


@pytest.mark.parametrize("base", ["debian:12", "debian:12@sha256:12", "debian"])
def test_base_without_digest(engine, build, base):
    refused(engine, build, "default", "--base", base, says="carries no digest")


@pytest.mark.parametrize("words, says", [
    (["other"], "--engine ENGINE"), (["default", "--tag"], "--engine ENGINE"),
    (["default", "--what", "x"], "--engine ENGINE"), (["default", "--arch", "riscv64"], "riscv64"),
    (["default", "--oci-runtime", "", "--engine", "lxc"], "lxc")])
def test_usage(words, says):
    p = subprocess.run([ROOT / "scripts/build-harness-image", *words], capture_output=True,
                       text=True)
    assert p.returncode in (1, 2) and says in p.stderr and not p.stdout, p


def test_cloop_of_another_machine(engine, build):
    refused(engine, build, "default", "--arch", "arm64", says="is no program for arm64")


def test_base_of_a_registry(engine, build, images, docker_registry, tmp_path):
    """By its digest only, which the registry's answer has to have."""
    images("default")
    base = next(n for n in engine.lines("image", "ls", "--format={{.Repository}}:{{.Tag}}")
                if n.startswith("localhost/cloop-harness-base:"))
    conf = tmp_path / "registries.conf"
    conf.write_text(f'[[registry]]\nlocation = "{docker_registry}"\ninsecure = true\n')
    env = {"CONTAINERS_REGISTRIES_CONF": str(conf)}
    name, file = f"{docker_registry}/debian", tmp_path / "digest"
    engine.call("push", "--digestfile", file, base, f"{name}:12", env=env)
    digest = file.read_text()
    p = build("default", "--base", f"{name}@{digest}", "--tag", "localhost/cloop-images-based:1",
              env=env)
    assert p.returncode == 0, p.stderr
    labels = config(engine, p.stdout.strip())["Labels"]
    assert labels["org.opencontainers.image.base.name"] == name
    assert labels["org.opencontainers.image.base.digest"] == digest
    refused(engine, build, "default", "--base", f"{name}@sha256:{'0' * 64}", env=env, says=name)


def test_two_tarballs_for_one_program(engine, build, images, tmp_path):
    images("default")
    text = (ROOT / "images/pins/claude").read_text()
    (tmp_path / "claude").write_text(text + text.splitlines()[-2] + "\n")
    refused(engine, build, "default", "--pins", tmp_path, says="more than one tarball")


def test_docker_builds_and_runs_it(docker, build):
    p = build("default", "--tag", "localhost/cloop-images-docker:1", engine=docker)
    assert p.returncode == 0, p.stderr
    c = config(docker, p.stdout.strip())
    assert not c.get("Entrypoint") and c["User"] == "65532:65532"
    assert c["Labels"]["org.cloop.harnesses"] == LABELS["default"]
    with on_stage(docker) as s:
        s.config(image=p.stdout.strip())
        r = s.sh(" && ".join(version_call(w) for w in LABELS["default"].split(",")))
        assert r.rc == 0, r


def test_nothing_is_left(engine, images):
    for variant in VARIANTS:
        images(variant)
    assert engine.lines("ps", "--all", "--external", "--quiet") == []
    assert sorted(p.name for p in (ROOT / "build-images").iterdir()
                  if not re.fullmatch(r"base-[0-9a-f]{12}\.tar|tarballs", p.name)) == []
