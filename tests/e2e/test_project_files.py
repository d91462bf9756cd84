"""The control files of a project under a writable workspace (container-driver.md §7.2, §25.5)."""
import os

import pytest

from engines import on

PROTECTED = (".git/config", ".git/config.worktree", ".git/commondir", ".git/hooks/pre-commit",
             ".git/modules/m/config", ".git/worktrees/w/gitdir", ".cloop/sandbox.yaml")
FOLDERS = (".git/hooks", ".git/modules", ".git/worktrees")
PINNED = (".git", ".cloop")

TRY_FILES = """
for f; do
	(echo evil >>$f) 2>/dev/null && echo "written $f"
	(echo evil >$f) 2>/dev/null && echo "replaced $f"
	rm -f $f 2>/dev/null
	[ -e $f ] || echo "unlinked $f"
	mv $f $f.old 2>/dev/null && echo "renamed $f"
	echo x >/tmp/new; mv /tmp/new $f 2>/dev/null && echo "moved over $f"
	ln -sf /tmp/new $f 2>/dev/null && echo "linked over $f"
	chmod 0777 $f 2>/dev/null && echo "mode of $f"
done
"""
TRY_FOLDERS = """
for d; do
	mv $d $d.old 2>/dev/null && echo "renamed $d"
	rm -rf $d 2>/dev/null
	[ -d $d ] || echo "removed $d"
done
"""


def contents(root):
    """Without what cloop itself tells those who work inside, anew in every run."""
    files = {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
    files.pop(".cloop/sandbox-run.json", None)
    return files


def fill(stage):
    for path in PROTECTED:
        stage.write(path, "# original\n" if path.endswith("yaml") else "original\n")
    stage.write(".git/HEAD", "ref: refs/heads/main\n")
    stage.write(".git/objects/ab/cdef", "object")
    stage.write("source.c", "int x;\n")


def test_protected_files(stage):
    fill(stage)
    before = contents(stage.project)
    r = stage.sh(TRY_FILES, *PROTECTED)
    assert r.out == b"", r.out.decode()
    assert contents(stage.project) == before


def test_protected_folders(stage):
    fill(stage)
    before = contents(stage.project)
    r = stage.sh(TRY_FOLDERS + "touch .git/hooks/x .git/modules/x .git/worktrees/x && echo made",
                 *FOLDERS)
    assert r.out == b"", r.out.decode()
    r = stage.sh("mv .git x && echo moved; mv .cloop y && echo moved; rmdir .cloop && echo gone")
    assert r.out == b"", r.out.decode()
    assert contents(stage.project) == before


def test_work_goes_on(stage):
    """What a commit does: objects, refs, HEAD and the index change."""
    fill(stage)
    r = stage.sh("mkdir -p .git/objects/12 && echo o >.git/objects/12/34 && echo i >.git/index.lock"
                 " && mv .git/index.lock .git/index && mkdir -p .git/refs/heads"
                 " && echo 1234 >.git/refs/heads/main && echo x >.git/HEAD"
                 " && rm .git/objects/ab/cdef && mkdir .cloop/artifacts && echo a >.cloop/artifacts/a"
                 " && echo new >source.c")
    assert r.rc == 0, r
    assert r.record["warnings"] == []
    assert (stage.project / ".git/refs/heads/main").read_text() == "1234\n"


def test_file_named_git(stage):
    """A worktree's .git is a file."""
    stage.write(".git", "gitdir: /elsewhere\n")
    r = stage.sh("echo evil >.git && echo W; mv .git x && echo M; rm -f .git && echo U")
    assert r.out == b"" and (stage.project / ".git").read_text() == "gitdir: /elsewhere\n"


def test_hooks_are_made(stage):
    stage.write(".git/config", "x")
    r = stage.sh("touch .git/hooks/pre-commit && echo made; exit 0")
    assert r.out == b"" and r.rc == 0
    st = (stage.project / ".git/hooks").stat()
    assert (st.st_uid, st.st_gid, st.st_mode & 0o7777) == (*stage.engine.owner, 0o755)


@on("PD")
def test_hooks_are_of_the_owner_of_git(stage):
    stage.write(".git/config", "x")
    os.chown(stage.project / ".git", 1234, 1235)
    assert stage.sh("true").rc == 0
    st = (stage.project / ".git/hooks").stat()
    assert (st.st_uid, st.st_gid, st.st_mode & 0o7777) == (1234, 1235, 0o755)


@pytest.mark.parametrize("path,make", [
    (".git/hooks", "link"), (".git", "link"), (".git/config", "link"), (".git/config", "dir"),
    (".git/hooks", "file"), (".cloop/sandbox.yaml.d", None), (".git/commondir", "fifo"),
], ids=str)
def test_unsafe_kinds(stage, path, make):
    at = stage.project / path
    at.parent.mkdir(exist_ok=True)
    if make == "link":
        at.symlink_to("/tmp")
    elif make == "dir":
        at.mkdir()
    elif make == "fifo":
        os.mkfifo(at)
    else:
        at.write_text("x")
    stage.engine.own(stage.project, recursive=True)
    if make is None:
        assert stage.sh("true").rc == 0  # any other name is nobody's business
        return
    stage.refused("/bin/true", code="protected_path_unsafe")


def test_created_control_files_are_told(stage):
    stage.write(".git/HEAD", "x")
    r = stage.sh("echo /elsewhere >.git/commondir; mkdir .git/hooks; mkdir .cloop;"
                 " echo 'env: []' >.cloop/sandbox.yaml")
    assert r.rc == 0
    told = [w for w in r.record["warnings"] if w["code"] == "project_control_file_created"]
    assert len(told) == 1
    for path in (".git/commondir", ".git/hooks", ".cloop", ".cloop/sandbox.yaml"):
        assert path in told[0]["message"]


def test_created_git(stage):
    r = stage.sh("mkdir .git; echo x >.git/config")
    assert [w["code"] for w in r.record["warnings"]] == ["project_control_file_created"]


def test_option_off_restores_everything(stage):
    fill(stage)
    stage.config(protect_project_files=False)
    r = stage.sh("for f; do echo evil >$f || exit 1; done; mv .git x", *PROTECTED)
    assert r.rc == 0, r
    assert (stage.project / "x/config").read_text() == "evil\n"


def test_protected_source_only_read_only(stage):
    fill(stage)
    (stage.project / "link").symlink_to(".git/hooks")
    stage.engine.own(stage.project / "link")
    stage.spec({"mounts": [{"source": "link", "target": "/mnt/x"}]})
    stage.refused("/bin/true", code="mount_source_protected")
    stage.spec({"mounts": [{"source": ".git/hooks", "target": "/mnt/x", "read_only": True}]})
    r = stage.sh("cat /mnt/x/pre-commit; touch /mnt/x/new && echo made")
    assert r.out == b"original\n"
