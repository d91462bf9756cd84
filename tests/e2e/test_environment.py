"""Routes of variables into a sandbox (container-driver.md §8.4, §25.7)."""
import os
import shutil
import subprocess

import pytest

DUMP = "cat /proc/self/environ >env.bin"
LIBRARY = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void)
{
	char name[64] = "";
	int in = open("/proc/self/comm", O_RDONLY);
	int out = open("%s", O_WRONLY | O_APPEND);
	if (in >= 0 && out >= 0 && read(in, name, sizeof(name) - 1) > 0)
		dprintf(out, "%%s", name);
}
"""


def arrived(stage, env, script=DUMP):
    """What /proc/self/environ of the workload held, byte for byte."""
    options = [w for name in env for w in ("--env", name)]
    r = stage.sh(script, options=options, env=env)
    assert r.rc == 0, r
    entries = (stage.project / "env.bin").read_bytes().split(b"\0")[:-1]
    return dict(entry.split(b"=", 1) for entry in entries)


def test_values_byte_for_byte(stage):
    env = {
        "PLAIN": "value", "EMPTY": "", "LINES": "one\ntwo\r\nthree\n", "BLANKS": "  a b\t ",
        "EQUALS": "a=b=c", "QUOTES": "'\"`$(x)\\", "LETTERS": "äöü€𝄞", "STAR": "*",
        "BIG": "x" * 102_400,
        # NAME=VALUE with its NUL is 131072 bytes, all that the kernel takes.
        "BIGGEST": "y" * (131_072 - len("BIGGEST=") - 1),
        "HTTP_PROXY": "http://proxy:1", "no_proxy": "a,b", "My_Proxy": "c",
        "DOCKER_HOST": stage.engine.env.get("DOCKER_HOST", "unix:///somewhere"),
        "LC_ALL": "C.UTF-8", "TZ": "Europe/Berlin", "GOFLAGS": "#not a comment",
        "LANG": "  blanks at the ends  ", "SSL_CERT_FILE": "'quoted' \"text\"", "PS4": "${x}",
    }
    got = arrived(stage, env)
    for name, value in env.items():
        assert got[name.encode()] == os.fsencode(value), name
    assert got[b"HOME"] == b"/tmp"


def test_what_the_file_withholds_is_told(stage):
    stage.spec({"env": ["WANTED"]})
    r = stage.sh("echo ${WANTED-unset} ${OTHER-unset}", options=["--env", "WANTED", "--env", "OTHER"],
                 env={"WANTED": "a", "OTHER": "b"})
    assert r.out == b"a unset\n"
    assert [w["message"].split()[0] for w in r.record["warnings"] if w["code"] == "env_withheld"] == ['"OTHER"']


def test_bytes_that_engines_replace(stage):
    """No UTF-8 survives their JSON; what arrived is compared, and the run is refused."""
    r = stage.refused("/bin/true", code="env_mismatch", options=["--env", "BYTES"],
                      env={"BYTES": os.fsdecode(b"x\xff\xfe\x80")})
    assert b"BYTES" in r.err


def test_home_and_path(stage):
    env = {"HOME": stage.engine.env["HOME"], "PATH": "/bin:/workspace/bin:" + stage.engine.env["PATH"]}
    got = arrived(stage, env)
    assert got[b"HOME"] == env["HOME"].encode() and got[b"PATH"] == env["PATH"].encode()


def test_nothing_else_arrives(stage):
    """The image's PATH, our HOME and what the engines add; nothing of the host."""
    proxies = {n: "http://host:1" for n in ("HTTP_PROXY", "https_proxy", "ALL_PROXY", "NO_PROXY")}
    stage.engine.env["SECRET_OF_THE_HOST"] = "x"
    try:
        r = stage.sh(DUMP, env={**proxies, "FTP_PROXY": "x"})
    finally:
        del stage.engine.env["SECRET_OF_THE_HOST"]
    assert r.rc == 0
    names = {e.split(b"=")[0] for e in (stage.project / "env.bin").read_bytes().split(b"\0")[:-1]}
    assert names <= {b"PATH", b"HOME", b"HOSTNAME", b"TERM", b"container", b"PWD", b"SHLVL",
                     b"OLDPWD", b"_"}


def test_proxies_of_docker_config(stage):
    """~/.docker/config.json of the user would make docker inject them."""
    if stage.engine.key != "D":
        return
    folder = stage.dir / "user/.docker"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"proxies": {"default": {"httpProxy": "http://evil:1"}}}')
    r = stage.sh(DUMP, env={"HOME": str(folder.parent)})
    assert r.rc == 0
    assert b"evil" not in (stage.project / "env.bin").read_bytes()


def test_the_file_filters(stage):
    env = {"WANTED": "w", "OTHER": "o", "LD_LIBRARY_PATH": "/x"}
    stage.spec("env: [WANTED, LD_LIBRARY_PATH]")
    got = arrived(stage, env)
    assert got[b"WANTED"] == b"w" and got[b"LD_LIBRARY_PATH"] == b"/x" and b"OTHER" not in got
    stage.spec("env: []")
    got = arrived(stage, env)
    assert not {b"WANTED", b"OTHER", b"LD_LIBRARY_PATH"} & set(got)


@pytest.mark.parametrize("name,value,code", [
    ("LD_PRELOAD", "two\nlines", "env_reserved_multiline"),
    ("LD_PRELOAD", "x" * 32769, "env_value_too_large"),
    ("LD_PRELOAD", os.fsdecode(b"\xff"), "env_reserved_encoding"),
    ("a-b", "x", "env_name_invalid"),
    ("x" * 257, "x", "env_name_too_long"),
], ids=lambda v: v[:20] if isinstance(v, str) and len(v) < 30 else "long")
def test_refused(stage, name, value, code):
    r = stage.refused("/bin/true", code=code, options=["--env", name], env={name: value})
    assert stage.run_dirs() == []
    assert b"two\\nlines" not in r.err


def test_library_of_the_project_is_loaded_by_no_host_process(stage):
    """Only cloop itself, in whose environment the test puts it, may load it."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.fail("no compiler: apt-get install gcc libc6-dev")
    canary = stage.dir / "canary"
    canary.touch()
    canary.chmod(0o666)
    source = stage.write("evil.c", LIBRARY % canary)
    library = stage.project / "evil.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    got = arrived(stage, {"LD_PRELOAD": str(library)})
    assert got[b"LD_PRELOAD"] == bytes(library)
    assert set(canary.read_text().split()) == {"cloop"}
