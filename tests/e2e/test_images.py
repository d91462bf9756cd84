"""What an image says about its start is not followed (container-driver.md §6.2, §25.6)."""
import io
import tarfile
import time

import pytest

from engines import IMAGE, rootfs
from stage import parallel

DOCKERFILE = """FROM {base}
{lines}
"""
SETTINGS = {
    "words": ['ENTRYPOINT ["/bin/echo", "entrypoint"]', 'CMD ["echo", "cmd"]', "USER 0:0",
              "WORKDIR /bin", "STOPSIGNAL SIGKILL",
              "HEALTHCHECK --interval=1s CMD touch /workspace/unhealthy"],
    "shell": ["ENTRYPOINT echo entrypoint; exit 9", "CMD echo cmd", "USER nobody-knows",
              "ENV HOME=/nowhere", "ENV FOO=bar"],
    "volumes": ["VOLUME /data", "VOLUME /bin/../srv/"],
}
WORDS = ["-la", "--", "", "two words", "$(x)", "*", "\n", "ä"]


@pytest.fixture
def build(stage):
    """Makes an image FROM the common one with some settings."""
    def make(name):
        text = DOCKERFILE.format(base=IMAGE, lines="\n".join(SETTINGS[name]))
        words = ["build", "--tag", f"localhost/cloop-e2e-{name}:1"]
        words += ["--format=docker"] if stage.engine.kind == "podman" else []
        stage.engine.call(*words, "-", data=text.encode(), env={"DOCKER_BUILDKIT": "0"})
        return f"localhost/cloop-e2e-{name}:1"
    return make


def test_words_arrive_verbatim(stage, build):
    stage.write("show", '#!/bin/sh\nfor w; do printf "[%s]" "$w"; done; id -u; pwd\n', mode=0o755)
    wanted = "".join(f"[{w}]" for w in WORDS) + f"{stage.engine.owner[0]}\n/workspace\n"
    for name in SETTINGS:
        stage.config(image=build(name))
        r = stage.run("/workspace/show", *WORDS)
        assert (r.rc, r.out.decode()) == (0, wanted), (name, r)
        assert not (stage.project / "unhealthy").exists()
    assert stage.run("/bin/echo", "-la").out == b"-la\n"


def test_file_names_the_image(stage, build):
    image = build("shell")
    stage.spec({"image": image})
    r = stage.sh("echo $FOO; echo $HOME")
    assert r.out == b"bar\n/tmp\n"
    assert r.record["image_requested"] == image and r.record["image"]


def test_volumes_go_with_the_run(stage, build):
    stage.config(image=build("volumes"))
    before = stage.engine.lines("volume", "ls", "--quiet")
    runs = parallel(lambda _: stage.sh("ls -d /data"), range(12))
    assert all(r.rc == 0 and r.out == b"/data\n" for r in runs)
    end = time.monotonic() + 5
    while (after := stage.engine.lines("volume", "ls", "--quiet")) != before:
        assert time.monotonic() < end, after
    assert before == []


def test_image_with_links(stage):
    """The places of cloop are links to elsewhere in the image: never outside of it."""
    data = io.BytesIO(rootfs())
    with tarfile.open(fileobj=data, mode="a") as tar:
        for name, target in (("opt", "/srv/opt"), ("srv", None), ("srv/opt", None)):
            entry = tarfile.TarInfo(name)
            entry.type = tarfile.SYMTYPE if target else tarfile.DIRTYPE
            entry.linkname, entry.mode = target or "", 0o755
            tar.addfile(entry)
    stage.engine.call("import", "-", "localhost/cloop-e2e-links:1", data=data.getvalue())
    stage.config(image="localhost/cloop-e2e-links:1")
    stage.write("source/marker", "here")
    stage.spec({"mounts": [{"source": "source", "target": "/opt/x"}]})
    r = stage.run("/bin/cat", "/opt/x/marker", "/srv/opt/x/marker")
    assert (r.rc, r.out) == (0, b"herehere"), r
