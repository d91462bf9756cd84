"""An engine whose client does not do one thing."""
import contextlib
import json
import pathlib
import shutil
import tempfile

import crashing

REFUSE = "echo 'Error: not this time' >&2; exit 125"
HANG = "exec sleep 300"


@contextlib.contextmanager
def engine_without(stage, verb, instead=REFUSE):
    """The stage's engine, which does `instead` where it is called with this verb."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-e2e-", dir="/usr/local/lib"))
    place.chmod(0o755)
    real = shutil.which(stage.engine.kind, path=stage.engine.env["PATH"])
    client = place / stage.engine.kind
    client.write_text(f'#!/bin/sh\nfor w; do\n\tcase $w in {verb}) {instead};; esac\ndone\n'
                      f'exec {real} "$@"\n')
    client.chmod(0o755)
    whole = json.loads(stage.config_file.read_text())
    whole["executors"]["container"]["runtime"] = str(client)
    stage.config_file.write_text(json.dumps(whole))
    try:
        yield
    finally:
        for run in stage.run_dirs():  # their supervisors still need the client
            crashing.wait_unsupervised(stage, run.name)
        shutil.rmtree(place)
