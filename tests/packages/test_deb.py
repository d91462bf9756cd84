"""The life of the packages in a Debian: installed, used, removed while runs are alive, purged. The tests
of this file are one after the other."""
import json
import pathlib
import subprocess

import pytest

from root import ROOT

DEBS = sorted((ROOT / "build-deb").glob("*.deb"))
PACKAGES = ["cloop", "libcloop-dev", "libcloop0"]
IMAGE = "localhost/cloop-test:1"
# Only what the runtime of this host can do; the subnet is of the namespace of the test.
CONFIG = {"executors": {"container": {"runtime": "podman", "oci_runtime": "runc", "image": IMAGE}}}
FILTERED = {"executors": {"container": {
    **CONFIG["executors"]["container"], "network": "bridge",
    "egress_filter": {"enabled": True, "allow_public_internet": True, "allow_ports": ["80"]}}}}
# What apt, dpkg, ld.so, man and the machinery of services note of any package.
NOTES = ("var/cache/", "var/lib/apt/", "var/lib/dpkg/", "var/lib/systemd/deb-systemd-", "var/log/",
         "etc/ld.so.cache", "var/lib/ucf/", "etc/resolv.conf")


def write(debian, path, text):
    debian.sh('mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1"', path, text)


def dpkg_files(debian, package):
    return debian.run("dpkg", "-L", package).split("\n")[:-1]


@pytest.fixture(scope="module")
def installed(debian):
    debian.apt("update")
    for deb in DEBS:
        if "-dbgsym" not in deb.name:
            (debian.srv / deb.name).write_bytes(deb.read_bytes())
    # What the packages depend on comes first, so that what they change is theirs.
    debian.sh("cd /srv && apt-get -qq -y --no-install-recommends install ./*.deb", network=False)
    return debian


@pytest.fixture(scope="module")
def project(installed):
    """A project and an image of busybox, for root's podman."""
    installed.sh("""
        mkdir -p /srv/image/bin /srv/image/etc /srv/image/tmp && cp /bin/busybox /srv/image/bin/
        for applet in sh sleep echo true; do ln -s busybox /srv/image/bin/$applet; done
        echo root:x:0:0:root:/:/bin/sh >/srv/image/etc/passwd
        echo root:x:0: >/srv/image/etc/group
        tar -C /srv/image -cf /srv/image.tar .
        mkdir -p /srv/project && chown 12345:12345 /srv/project
        podman import --change "ENV PATH=/bin" /srv/image.tar "$1" """, IMAGE)
    write(installed, "/etc/cloop/config.yaml", json.dumps(CONFIG))
    return "/srv/project"


def detach(debian, project, *options, call=None):
    words = ["cloop", "run", "-C", project, "--detach", *options, "--", "sleep", "600"]
    return (call or debian.run)(*words).strip()


def kill_supervisor(debian, handle):
    debian.sh("""
        for process in /proc/[0-9]*; do
            [[ $(readlink "$process/exe") == *cloop-shim* ]] && grep -q "$1" "$process/cmdline" &&
                kill -KILL "${process#/proc/}" && exit
        done
        exit 1""", handle)


def test_install(installed):
    assert installed.run("dpkg", "--audit") == ""
    assert installed.run("dpkg", "--verify", *PACKAGES) == ""
    assert installed.run("cloop", "version").startswith("cloop ")
    assert installed.run("ldconfig", "-p").count("libcloop.so.0 ") == 1


def test_doctor(installed, project):
    r = installed.run("cloop", "doctor", "--offline", "--json", status=None)
    failed = [c for c in json.loads(r.stdout)["checks"] if c["level"] == "fail"]
    assert (r.returncode, failed) == (0, []), failed


def test_run(installed, project):
    r = installed.run("cloop", "run", "-C", project, "--record", "/srv/record.json", "--",
                      "sh", "-c", "echo out; echo err >&2; exit 7", status=None)
    assert (r.returncode, r.stdout) == (7, "out\n"), r
    record = json.loads((installed.srv / "record.json").read_text())
    assert (record["outcome"], record["exit_code"]) == ("nonzero", 7)


@pytest.mark.parametrize("shell,script", [
    ("bash", ". /usr/share/bash-completion/bash_completion; _completion_loader cloop;"
             "COMP_WORDS=(cloop execu); COMP_CWORD=1; COMP_LINE='cloop execu'; COMP_POINT=11;"
             "$(complete -p cloop | sed -E 's/.*-F ([^ ]+).*/\\1/') cloop execu cloop;"
             "echo \"${COMPREPLY[@]}\""),
    ("zsh", "autoload -Uz compinit && compinit -u -D && echo $_comps[cloop] &&"
            "autoload +X _cloop && echo executor: ${functions[_cloop]} | grep -o executor"),
    ("fish", "complete --do-complete 'cloop execu'"),
])
def test_completion(installed, shell, script):
    r = installed.run(shell, "-c", script, status=None)
    assert r.returncode == 0 and "executor" in r.stdout and not r.stderr, r
    if shell == "zsh":
        assert r.stdout.startswith("_cloop\n")


def test_man_pages(installed):
    pages = [f for p in PACKAGES for f in dpkg_files(installed, p)
             if f.startswith("/usr/share/man/") and f.endswith(".gz")]
    names = {pathlib.PurePath(p).name for p in pages}
    assert {"cloop.1.gz", "cloop-run.1.gz", "cloop.yaml.5.gz"} <= names
    script = 'for p; do man --warnings -l -Tutf8 "$p" >/srv/page || exit; [ -s /srv/page ] || exit; done'
    r = installed.run("bash", "-c", script, "bash", *pages, status=None, env={"MANWIDTH": "80"})
    # A long word is no mistake.
    warnings = [w for w in r.stderr.splitlines() if not w.endswith(("adjust line", "break line"))]
    assert (r.returncode, warnings) == (0, [])
    # As apropos finds them.
    assert "run(1)" in installed.sh("mandb -q && apropos cloop | tr -d ' '")


def test_units(installed):
    units = [f for f in dpkg_files(installed, "cloop") if f.endswith((".service", ".timer"))]
    assert len(units) == 4
    for unit in units:
        mode = ["--user"] if "/user/" in unit else []
        r = installed.run("systemd-analyze", *mode, "--man=no", "verify", unit, status=None,
                          env={"XDG_RUNTIME_DIR": "/run"})
        assert r.returncode == 0 and not [w for w in r.stderr.splitlines() if "cloop" in w], r
    exposure = installed.run("systemd-analyze", "security", "--offline=true", "--threshold=80",
                             "/lib/systemd/system/cloop-reap.service", status=None)
    assert exposure.returncode == 0, exposure.stdout
    link = "/etc/systemd/system/timers.target.wants/cloop-reap.timer"
    assert installed.run("readlink", link).strip() == "/lib/systemd/system/cloop-reap.timer"


def test_service(installed, project):
    """What the service does: a run whose supervisor was killed gets a new one."""
    handle = detach(installed, project)
    kill_supervisor(installed, handle)
    service = installed.sh("sed -n s/^ExecStart=//p /lib/systemd/system/cloop-reap.service")
    installed.run(*service.split())
    record = json.loads(installed.run("cloop", "status", "--json", handle))
    assert record["state"] == "running"
    installed.run("cloop", "stop", "--grace", "0", handle)


LIBRARY = r"""
#include <cloop/base.h>
#include <cloop/container.h>
#include <stdio.h>
int main(void) { puts("linked"); return 0; }
"""


def test_library(installed):
    """Headers compile in C99 and C++; what is linked with the flags of pkg-config runs."""
    write(installed, "/srv/user.c", LIBRARY)
    for flags in ("--libs libcloop", "--static --libs libcloop | sed 's/-lcloop/-l:libcloop.a/'"):
        installed.sh("cc -std=c99 -Wall -Wextra -Werror /srv/user.c -o /srv/user "
                     f"$(pkg-config --cflags {flags})")
        assert installed.run("/srv/user") == "linked\n"
    version = installed.run("pkg-config", "--modversion", "libcloop").strip()
    assert installed.run("cloop", "version").strip() == f"cloop {version}"


def test_example(installed, project):
    """The example of libcloop-dev, built by its README, ends a run with nothing of it left."""
    installed.sh("""
        cp -r /usr/share/doc/libcloop-dev/examples/embed /srv/embed && cd /srv/embed
        eval "$(grep '^cc -o embed ' README.md) -Wall -Wextra -Werror" """)
    command = "trap 'echo told; exit 7' TERM; echo begun; while :; do sleep 0.05; done"
    r = installed.sh("""
        cd "$1" && valgrind --quiet --error-exitcode=9 --leak-check=full --child-silent-after-fork=yes \
            --log-file=/srv/valgrind.log /srv/embed/embed "" runc "$2" 1 sh -c "$3"
        """, project, IMAGE, command, status=None)
    assert (r.returncode, r.stdout) == (7, "begun\ntold\n"), (r, (installed.srv / "valgrind.log").read_text())
    assert left_of_runs(installed, "root") == []


def left_of_runs(debian, name):
    """Containers, networks and supervisors that are there, of root or a user; tables of nft."""
    ask = debian.run if name == "root" else lambda *words: debian.user(name, *words)
    found = [f"container {c}" for c in ask("podman", "ps", "--all", "--quiet").split()]
    found += [f"network {n}" for n in ask("podman", "network", "ls", "--quiet").split() if n != "podman"]
    found += [t for t in debian.run("nft", "list", "tables").splitlines() if "cloop" in t]
    found += debian.sh("ls -l /proc/[0-9]*/exe 2>/dev/null | grep -o '[^ ]*cloop-.*' || :").splitlines()
    found += debian.sh("ls -d /dev/shm/cloop-* 2>/dev/null || :").splitlines()
    return found


@pytest.fixture(scope="module")
def alive(installed, project):
    """Runs of root, one of them behind a filter, and of an ordinary user."""
    installed.sh("""
        useradd --create-home --home-dir /srv/someone --shell /bin/bash someone
        install -d -o someone -m 0700 "/run/user/$(id -u someone)"
        install -d -o someone /srv/theirs /srv/someone/.config /srv/someone/.config/cloop
        install -m 0644 /etc/cloop/config.yaml /srv/someone/.config/cloop/config.yaml""")
    installed.user("someone", "podman", "import", "--change", "ENV PATH=/bin", "/srv/image.tar", IMAGE)
    write(installed, "/srv/filtered.yaml", json.dumps(FILTERED))
    return {
        "root": [detach(installed, project), detach(installed, project, "--config", "/srv/filtered.yaml")],
        "someone": [detach(installed, "/srv/theirs", call=lambda *w: installed.user("someone", *w))],
    }


def test_upgrade(installed, alive):
    """A new version leaves runs alone, and can be asked about them."""
    before = left_of_runs(installed, "root")
    installed.sh("dpkg --install /srv/cloop_*.deb")
    now = [word.removesuffix(" (deleted)") for word in left_of_runs(installed, "root")]
    assert sorted(now) == sorted(before)
    for handle in alive["root"]:
        assert json.loads(installed.run("cloop", "status", "--json", handle))["state"] == "running"


def test_remove(installed, alive):
    """Removal ends the runs of everybody, and leaves what they wrote."""
    for name, expected in (("root", ["container", "container", "inet cloop_"]), ("someone", ["container"])):
        left = " ".join(left_of_runs(installed, name))
        assert all(left.count(word) >= expected.count(word) for word in expected), left
    kill_supervisor(installed, alive["root"][0])
    said = installed.apt("remove", "cloop")
    for name, handles in alive.items():
        assert left_of_runs(installed, name) == []
        for handle in handles:
            assert f"stopping the run {handle} of " in said, said
            home = "/var/lib/cloop" if name == "root" else "/srv/someone/.local/state/cloop"
            record = json.loads(installed.run("cat", f"{home}/runs/{handle}/status.json"))
            assert record["outcome"] == "cancelled", record
    assert installed.run("ls", "/usr/bin/cloop", status=None).returncode != 0
    assert installed.run("ls", "/etc/cloop", "/var/lib/cloop").split()


def changed(debian):
    """What of the upper folder is neither a note nor a folder that the base has."""
    found = []
    for line in subprocess.run(["find", ".", "-not", "-type", "d", "-printf", "%P\n", "-o", "-empty", "-printf",
                                "%P/\n"], cwd=debian.upper, capture_output=True, text=True,
                               check=True).stdout.splitlines():
        if not line.startswith(NOTES):
            found.append(line)
    return found


def test_purge(installed, alive):
    """Nothing of the packages is left; homes and images are their owners'."""
    installed.apt("purge", "cloop")
    installed.apt("autoremove", "--purge")
    left = [f for f in changed(installed) if "cloop" in f]
    assert left == []
    assert installed.run("ls", "/srv/someone/.local/state/cloop/runs").split() == alive["someone"]
    print("left by other packages and tools:", *changed(installed), sep="\n  ")
