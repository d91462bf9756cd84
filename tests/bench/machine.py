"""What the figures were taken on."""
import os
import pathlib
import re
import subprocess
import time


def said(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"


def cgroups():
    return "v2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "v1"


def facts(engines, place, load):
    cpu = re.search(r"model name\s*: (.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    runtimes = ", ".join(f"{e.title}: {e.oci_runtime or 'its default'}" for e in engines)
    commit = said("git", "describe", "--always", "--dirty")
    return [
        f"- {time.strftime('%Y-%m-%d', time.gmtime())}, commit {commit}",
        f"- {cpu[1] if cpu else 'unknown CPU'}, {os.cpu_count()} CPUs, {memory:.0f} GiB, "
        f"Linux {os.uname().release}, cgroup {cgroups()}, "
        f"home on {said('stat', '-f', '-c', '%T', str(place))}",
        f"- {said('podman', '--version')}; {said('docker', '--version')}; "
        f"{said('runc', '--version').splitlines()[0]}; {said('crun', '--version').splitlines()[0]}"
        f"; OCI runtime: {runtimes}",
        f"- load average at the start: {load[0]:.1f}",
    ]
