"""docs/tutorial.md, as it stands: its shell blocks run in order in one shell, and each says what the
text block behind it shows (… stands for anything). What runs have on record is documented."""
import json
import pathlib
import re
import subprocess

from engines import on

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IMAGE = "localhost/tutorial:1"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.S | re.M)
MARK = "@@ end of block"


def steps():
    """[script, [lines that it shows]] of each block that is run."""
    found = []
    for kind, text in BLOCK.findall((ROOT / "docs/tutorial.md").read_text()):
        if kind == "sh":
            found.append([text, []])
        elif kind == "text":
            found[-1][1] += text.splitlines()
    assert len(found) > 5
    return found


def run_all(stage, scripts):
    """What each script printed, stdout and stderr as they came."""
    whole = "set -eu\n" + "".join(f"{s}echo '{MARK}'\n" for s in scripts)
    env = stage.cloop_env({"CLOOP_HOME": str(stage.home), "HOME": str(stage.dir)})
    env["PATH"] = f"{stage.engine.bin}:{stage.engine.env['PATH']}"
    p = stage.engine.popen(["sh", "-c", whole], env=env, cwd=stage.dir, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    stage.started.append(p)
    out = p.communicate(timeout=300)[0].decode()
    parts = out.split(MARK + "\n")
    assert p.returncode == 0, f"block {len(parts)} failed: {parts[-1]}"
    return parts


def shows(output, line):
    pattern = ".*".join(re.escape(part) for part in line.split("…"))
    return re.search(f"^{pattern}$", output, re.M)


@on("PR")
def test_tutorial(stage):
    stage.config_file.unlink()
    blocks = steps()
    try:
        for (script, lines), output in zip(blocks, run_all(stage, [s for s, _ in blocks])):
            for line in lines:
                assert shows(output, line), f"{script}\nshould say: {line}\nbut says:\n{output}"
        undocumented(stage)
    finally:
        stage.engine.call("rmi", "--force", IMAGE, check=False)


def undocumented(stage):
    """Every member of these runs' records is in docs/reference/record.md."""
    page = (ROOT / "docs/reference/record.md").read_text()
    told = set(re.findall(r"^\| `([^`]+)`", page, re.M)) | {"supervision"}
    records = [json.loads(f.read_text()) for f in stage.home.glob("runs/c-*/status.json")]
    assert records
    for record in records:
        for name, value in record.items():
            names = {f"{name}.{k}" for k in value} if isinstance(value, dict) else {name}
            if isinstance(value, list):
                names = {f"{name}[].{k}" for item in value for k in item}
            if name != "supervision":
                missing = {n for n in names if not any(n == t or t.startswith(n + "[]") for t in told)}
                assert not missing, missing
