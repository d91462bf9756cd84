"""Names of projects and mount sources, and what a source may be (container-driver.md §7.1, §25.4;
sandbox-spec.md §7.1, §16.12)."""
import os
import subprocess

import pytest

from engines import on
from stage import parallel

NAMES = [b"a:b", b"a,b", b'a"b"', b"a\nb", b" blank ", b"$(touch pwned)", "ümläut €".encode(),
         b"x" * 200, b"-v", b'a,b "c"', b"back\\slash", b"a=b", b"tab\tname", b"\rcr", b"'q'"]
# What the grammar of the file allows in a source.
SOURCES = [n.decode() for n in NAMES
           if not any(c in n for c in (b":", b"\n", b"\\", b"\t", b"\r"))
           and n.strip() == n] + ["deep/er/one"]


def test_project_names(stage):
    def one(name):
        project = stage.make_project(name)
        stage.write("marker", name.hex(), project=project)
        r = stage.sh("cat marker; echo done >made; pwd", project=project)
        assert r.rc == 0, (name, r)
        assert r.out == name.hex().encode() + b"/workspace\n"
        assert (project / "made").read_text() == "done\n"
        assert r.record["project"] == os.fsdecode(bytes(project))
        assert not any("pwned" in str(p) for p in stage.dir.glob("pwned"))
    parallel(one, NAMES)


@pytest.mark.parametrize("name", [b"bad\xff", b"cr\r\nlf"], ids=["no UTF-8", "CR LF"])
def test_names_no_engine_reads(stage, name):
    project = stage.make_project(name)
    stage.refused("/bin/true", project=project, code="path_unsupported")
    assert stage.run_dirs() == []


def mount(source, target, **more):
    return {"source": source, "target": target, **more}


def test_mount_sources(stage):
    """All names in one run: each at its own place, with its own content."""
    mounts = [mount(name, f"/mnt/{i}") for i, name in enumerate(SOURCES)]
    for name in SOURCES:
        stage.write(f"{name}/marker", name)
    stage.spec({"mounts": mounts})
    r = stage.sh("for i in $(seq 0 $1); do cat /mnt/$i/marker; echo; echo x >/mnt/$i/made; done",
                 str(len(SOURCES) - 1))
    assert r.rc == 0, r
    assert r.out.decode() == "".join(name + "\n" for name in SOURCES)
    for name in SOURCES:
        assert (stage.project / name / "made").read_text() == "x\n"
    assert r.record["sandbox_sha256"]


def test_mount_targets(stage):
    targets = ["/mnt/a,b", '/mnt/q"q', "/mnt/ ünter ä", "/mnt/-v", "/mnt/$(x)"]
    stage.write("source/marker", "here")
    stage.spec({"mounts": [mount("source", t) for t in targets]})
    r = stage.sh('for t; do cat "$t/marker" || exit 1; done', *targets)
    assert (r.rc, r.out) == (0, b"here" * len(targets)), r


def test_file_source_and_read_only(stage):
    stage.write("folder/file", "old")
    stage.write("one", "old")
    stage.spec({"mounts": [mount("folder", "/mnt/folder", read_only=True),
                           mount("one", "/mnt/one", read_only=True),
                           mount("one", "/mnt/two")]})
    r = stage.sh("echo n >/mnt/folder/file && echo W; echo n >/mnt/one && echo W; touch /mnt/folder/n"
                 " && echo W; echo new >/mnt/two; grep ' /mnt/folder ' /proc/self/mountinfo")
    assert b"W" not in r.out
    assert r.out.split()[5].startswith(b"ro")
    assert (stage.project / "folder/file").read_text() == "old"
    assert (stage.project / "one").read_text() == "new\n"


def test_missing_source_is_made(stage):
    stage.spec({"mounts": [mount("cache/of/tool", "/opt/cache")]})
    os.umask(0o077)
    try:
        r = stage.sh("echo hi >/opt/cache/file")
    finally:
        os.umask(0o022)
    assert r.rc == 0, r
    for path in ("cache", "cache/of", "cache/of/tool"):
        st = (stage.project / path).stat()
        assert (st.st_uid, st.st_gid, st.st_mode & 0o7777) == (*stage.engine.owner, 0o755)
    assert (stage.project / "cache/of/tool/file").read_text() == "hi\n"


def test_missing_source_of_a_refused_run_is_not_made(stage):
    stage.write("out")
    (stage.project / "out").unlink()
    (stage.project / "out").symlink_to("/etc")
    stage.spec({"mounts": [mount("cache", "/opt/cache"), mount("out", "/opt/out")]})
    stage.refused("/bin/true", code="mount_escapes")
    assert not (stage.project / "cache").exists()


def test_link_inside(stage):
    stage.write("real/marker", "here")
    (stage.project / "link").symlink_to("real")
    stage.spec({"mounts": [mount("link", "/mnt/x")]})
    assert stage.sh("cat /mnt/x/marker").out == b"here"


def refuse_cases(stage):
    p = stage.project
    secret = stage.dir / "secret"
    secret.mkdir()
    (secret / "file").write_text("foreign")
    (p / "etc").symlink_to("/etc")
    (p / "up").symlink_to("../secret")
    (p / "deep").mkdir()
    (p / "deep/up").symlink_to("../../secret")
    (p / "dangling").symlink_to("nowhere")
    (p / "proc").symlink_to("/proc/self/root")
    (p / "self").symlink_to(".")
    (p / "git").symlink_to(".git")
    (p / ".git").mkdir()
    os.mkfifo(p / "fifo")
    stage.write("real/file")
    (p / "target").symlink_to("real")
    stage.engine.own(p, recursive=True)
    return [
        ("etc", "/mnt/x", "mount_escapes"), ("up", "/mnt/x", "mount_escapes"),
        ("deep/up/file", "/mnt/x", "mount_escapes"), ("proc", "/mnt/x", "mount_escapes"),
        ("dangling", "/mnt/x", "mount_source_type"), ("fifo", "/mnt/x", "mount_source_type"),
        ("self", "/mnt/x", "mount_source_protected"), ("git", "/mnt/x", "mount_source_protected"),
        ("real", "/workspace/target", "mount_target_missing"),
        ("real", "/workspace/absent", "mount_target_missing"),
        ("real/file", "/workspace/real", "mount_target_missing"),
    ]


def tree(path):
    return sorted((str(p.relative_to(path)), p.lstat().st_mode) for p in path.rglob("*"))


def test_refused_mounts(stage):
    cases = refuse_cases(stage)
    stage.spec({})
    before = tree(stage.project)
    for source, target, code in cases:
        stage.spec({"mounts": [mount(source, target)]})
        r = stage.refused("/bin/true", code=code)
        assert source.encode() in r.err or target.encode() in r.err
        check = stage.answer("sandbox", "check", str(stage.project))
        assert check["ok"]  # the text is fine; the tree is not
    assert tree(stage.project) == before
    assert stage.run_dirs() == []


@on("P")
@pytest.mark.root
def test_filesystem_below_the_project(stage):
    """The engines take mounts of the host along, and leave them writable below read-only ones."""
    stage.write("real/sub/marker")
    subprocess.run(["mount", "-t", "tmpfs", "cloop-sub", stage.project / "real/sub"], check=True)
    try:
        r = stage.refused("/bin/true", code="unexpected_mount")
        assert '"/workspace/real/sub"' in r.record["error"] and "unmount it" in r.record["remediation"]
        stage.spec({"mounts": [{**mount("real", "/mnt/x"), "read_only": True}]})
        stage.refused("/bin/true", code="mount_source_type")
    finally:
        subprocess.run(["umount", "--lazy", stage.project / "real/sub"], check=True)


def test_mount_below_the_workspace(stage):
    stage.write("real/marker", "here")
    stage.write("place/hidden", "x")
    stage.spec({"mounts": [mount("real", "/workspace/place")]})
    r = stage.sh("ls place")
    assert r.out == b"marker\n"
    assert (stage.project / "place/hidden").exists()


def test_project_by_link(stage):
    """Links in the operator's own path are the operator's business."""
    link = stage.dir / "link"
    link.symlink_to(stage.project)
    r = stage.sh("echo x >made", project=link)
    assert r.rc == 0 and r.record["project"] == str(stage.project)
    assert (stage.project / "made").exists()


def test_forbidden_projects(stage):
    for path, code in (("/", "work_dir_refused"), ("/etc", "work_dir_refused"),
                       (stage.home, "work_dir_refused"), (stage.dir / "absent", "not_a_project"),
                       (stage.config_file, "not_a_project")):
        assert stage.refused("/bin/true", project=path, code=code)
    link = stage.dir / "home-link"
    link.symlink_to(stage.project)
    for home in (stage.project, f"{stage.project}/", link):  # the user's own, however HOME writes it
        stage.refused("/bin/true", code="work_dir_refused", env={"HOME": str(home)})
