"""sandbox.image_policy on real engines (image-trust.md §3, §14.4, §14.12): what is refused is refused
before anything exists; what is allowed runs by its digest or its ID."""
import pytest

from engines import IMAGE

NAME = "ghcr.io/acme/tools"


def policy(**keys):
    return {"sandbox": {"image_policy": keys}}


@pytest.fixture
def tagged(stage):
    """An image of the store under a registry's name."""
    stage.engine.call("tag", IMAGE, f"{NAME}:1")
    yield f"{NAME}:1"
    stage.engine.call("rmi", f"{NAME}:1")


def denied(stage, rule, **more):
    before = stage.run_dirs()
    r = stage.refused("/bin/true", code="sandbox_image_denied", **more)
    assert f"(rule: {rule})" in r.err.decode()
    assert stage.run_dirs() == before
    return r


def test_refused_before_anything(stage, tagged):
    stage.spec({"image": tagged})
    for keys, rule in (
            ({"allowed_registries": ["quay.io"]}, "registry-allowlist"),
            ({"allowed_repos": ["ghcr.io/acme/tools/*"]}, "repository-allowlist"),
            ({"require_digest": True}, "digest-required")):
        stage.config(policy(**keys))
        r = denied(stage, rule)
        assert "ghcr.io" in r.err.decode()
    stage.spec({"image": "acme/tools:1"})
    stage.config(policy(allowed_registries=["*"]))
    denied(stage, "unqualified-reference")


def test_allowed_runs_pinned_or_by_id(stage, tagged):
    stage.spec({"image": tagged})
    stage.config(policy(allowed_registries=["ghcr.io"], allowed_repos=["ghcr.io/acme/*"]))
    r = stage.sh("echo ran")
    assert (r.rc, r.out) == (0, b"ran\n")
    warned = [w["code"] for w in r.record["warnings"]]
    if r.record["reproducible"]:
        assert r.record["image"] == f"{NAME}@{r.record['image_digest']}"
        assert warned == []
        stage.spec({"image": r.record["image"]})
        stage.config(policy(require_digest=True))
        assert stage.sh("true").rc == 0
    else:
        assert r.record["image"] == tagged and warned == ["image_not_pinned"]


def test_default_registry(stage, tagged):
    stage.spec({"image": "acme/tools:1"})
    stage.config(policy(allowed_registries=["ghcr.io"], default_registry="ghcr.io"))
    r = stage.sh("echo ran")
    assert (r.rc, r.out) == (0, b"ran\n")
    assert r.record["image"].startswith(NAME) and r.record["image_requested"] == "acme/tools:1"


def test_operator_images(stage):
    stage.config(policy(allowed_registries=["ghcr.io"]))
    assert stage.sh("true").rc == 0
    stage.config(policy(allowed_registries=["ghcr.io"], govern_operator_images=True))
    r = denied(stage, "registry-allowlist")
    assert "localhost" in r.err.decode()


def test_broken_between_two_runs(stage):
    """Whether the file names an image or not."""
    stage.config(policy(allowed_registries=["localhost"]))
    stage.spec({"image": IMAGE})
    assert stage.sh("true").rc == 0

    def refused(code):
        for spec in ({"image": IMAGE}, {}):
            stage.spec(spec)
            before = stage.run_dirs()
            answer = stage.answer("run", "-C", stage.project, "--", "/bin/true", status=125)
            assert (answer["code"], answer["rule"]) == (code, "policy-configuration"), answer
            assert answer["image"] == spec.get("image", ""), answer
            assert "(rule: policy-configuration): " in answer["error"], answer
            assert stage.run_dirs() == before
    stage.config(policy(allowed_registries=["localhost", ""]))
    refused("sandbox_image_denied")
    stage.config_file.write_text("sandbox: [")
    refused("config_invalid")
    stage.config_file.unlink()
    stage.config_file.mkdir()
    refused("config_unsafe")
    stage.config_file.rmdir()
