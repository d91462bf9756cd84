"""Secrets and grants of a stage, for the tests that use them."""
import time

VALUE = "canary-8d2e6b04-value"
MASK = b"[redacted]"


def mint(stage, name, kind, payload, *options):
    """The id of a new secret."""
    data = payload if isinstance(payload, bytes) else payload.encode()
    file = stage.dir / f"payload-{stage.unique()}"
    file.write_bytes(data)
    stage.engine.own(file)
    try:
        return stage.answer("secret", "mint", name, "--kind", kind, "--file", file, *options)["id"]
    finally:
        file.unlink()


def grant(stage, name, to="any", *options):
    return stage.answer("secret", "grant", name, "--to", to, *options)["id"]


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "not in time"
        time.sleep(0.05)
    return value


def actions(stage):
    return [row["action"] for row in stage.answer("audit", "list", "--limit", "0")["rows"]]
