"""libcloop as a program uses it (container-driver.md §22, §25.20): tests/library/library-user.c knows
nothing but <cloop/container.h>, ignores SIGCHLD, and checks what it gets."""
import glob
import os
import shutil
import signal
import subprocess

import pytest

from crashing import until
from engines import BUILD, IMAGE, ROOT, on

VALGRIND = ("valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full",
            "--errors-for-leak-kinds=definite", "--child-silent-after-fork=yes")
SECONDS = 300


def use(stage, scenario, *more, before=(), home=True):
    """What the program printed; it prints `ok` at the end, and the library nothing at all."""
    e = stage.engine
    env = {"LD_LIBRARY_PATH": str(e.bin), "CLOOP_LIBEXEC_DIR": str(e.bin)}
    words = [*before, e.bin / "library-user", stage.home if home else "", e.kind, e.oci_runtime,
             IMAGE, stage.project, scenario, *more]
    p = e.popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stage.started.append(p)
    out, err = p.communicate(timeout=SECONDS)
    assert (p.returncode, err) == (0, b""), (p.returncode, out, err)
    *lines, last = out.decode().splitlines()
    assert last == "ok"
    return lines


def supervisor_of(handle):
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0] == b"cloop-shim" and handle.encode() in words:
            return int(path.split("/")[2])
    return None


@on("P")
def test_every_function(stage):
    assert use(stage, "all") == []
    stage.home_is_free()
    assert stage.answer("ps", "--all")["runs"]


@on("RD")
def test_a_run(stage):
    assert use(stage, "some") == []
    stage.home_is_free()


@on("P")
def test_another_process_goes_on(stage):
    """The supervisor dies in between; who adopts the home finds the run and its output."""
    handle, = use(stage, "start")
    os.kill(supervisor_of(handle), signal.SIGKILL)
    assert use(stage, "adopt", handle) == []
    stage.home_is_free()


@on("P")
def test_private_home_leaves_nothing(stage):
    before = set(glob.glob("/tmp/cloop-home-*"))
    assert use(stage, "private", home=False) == []
    until(lambda: not stage.engine.left(), "end of the container")
    assert set(glob.glob("/tmp/cloop-home-*")) <= before


@on("P")
def test_memory(stage):
    if not shutil.which("valgrind"):
        pytest.fail("valgrind is not installed: apt-get install valgrind")
    log = stage.dir / "valgrind.log"
    assert use(stage, "some", before=(*VALGRIND, f"--log-file={log}")) == [], log.read_text()
    stage.home_is_free()


@on("P")
def test_example(stage, tmp_path):
    """examples/embed, built by pkg-config against the library as it is installed, shared and static; the
    first time the command is told to end."""
    root = tmp_path / "root"
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root],
                   check=True, stdout=subprocess.DEVNULL)
    libcloop, = root.rglob("libcloop.pc")
    flags = {"PKG_CONFIG_PATH": str(libcloop.parent), "PKG_CONFIG_SYSROOT_DIR": str(root)}
    embed = tmp_path / "embed"
    shutil.copytree(ROOT / "examples" / "embed", embed)
    subprocess.run(["make", "-s", "-C", embed, "embed", "embed-static"], check=True,
                   env={**os.environ, **flags, "CFLAGS": "-Wall -Wextra -Werror"})
    needed = subprocess.run(["readelf", "-d", embed / "embed-static"], check=True, capture_output=True).stdout
    assert b"libcloop" not in needed and b"libjansson" in needed
    shim, = root.rglob("cloop-shim")
    env = {"CLOOP_LIBEXEC_DIR": str(shim.parent)}

    def run(program, seconds, *command, **more):
        words = [embed / program, stage.home, stage.engine.oci_runtime, IMAGE, seconds, *command]
        p = stage.engine.popen(words, env={**env, **more}, cwd=stage.project, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        return *p.communicate(timeout=SECONDS), p.returncode

    stubborn = "trap 'echo told; exit 7' TERM; echo begun; while :; do sleep 0.05; done"
    out, said, code = run("embed", "1", "sh", "-c", stubborn, LD_LIBRARY_PATH=str(libcloop.parent.parent))
    assert (out, code) == (b"begun\ntold\n", 7) and said.endswith(b" ended: nonzero\n")
    assert run("embed-static", "60", "echo", "hello") == (b"hello\n", b"", 0)
    stage.home_is_free()
