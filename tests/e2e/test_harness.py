"""The programs that an image says it carries (image-trust.md §10, §14.13)."""
import pytest

from engines import IMAGE

LABEL = "org.cloop.harnesses"


@pytest.fixture
def labelled(stage):
    """Images FROM the common one; removed at the end."""
    made = set()

    def make(name, label):
        image = f"localhost/cloop-e2e-harness-{name}:1"
        lines = f'LABEL {LABEL}="{label}"\n' if label is not None else "ENV A=b\n"
        words = ["build", "--tag", image]
        words += ["--format=docker"] if stage.engine.kind == "podman" else []
        stage.engine.call(*words, "-", data=f"FROM {IMAGE}\n{lines}".encode(),
                          env={"DOCKER_BUILDKIT": "0"})
        made.add(image)
        return image
    yield make
    stage.home_is_free()
    for image in made:
        stage.engine.call("rmi", "--force", image)


def set_provider(stage, provider):
    stage.answer("project", "set", "-C", stage.project, "provider", provider)


def lacks(stage, image, program, carries):
    answer = stage.answer("run", "-C", stage.project, "--", "/bin/true", status=125)
    assert (answer["code"], answer["status"]) == ("sandbox_image_lacks_harness", 409), answer
    assert image in answer["image"] and answer["carries"] == carries
    assert program in answer["error"] and image.split("/")[1].split(":")[0] in answer["error"]
    return answer


def test_provider(stage, labelled):
    image = labelled("claude", "claude, cloop")
    stage.config(image=image)
    for provider in ("none", "claudecode"):
        set_provider(stage, provider)
        assert stage.sh("true").rc == 0
    set_provider(stage, "copilot")
    answer = lacks(stage, image, "copilot", ["claude", "cloop"])
    assert "ghcr.io/blechschmidt/cloop-harness-copilot" in answer["remediation"]
    stage.home_is_free()
    assert stage.engine.left() == []
    # The operator's image is judged like the project's.
    stage.config()
    stage.spec({"image": image})
    lacks(stage, image, "copilot", ["claude", "cloop"])
    explained = stage.answer("sandbox", "explain", "-C", stage.project, status=1)
    assert explained["code"] == "sandbox_image_lacks_harness"
    set_provider(stage, "none")
    explained = stage.answer("sandbox", "explain", "-C", stage.project)
    assert explained["image"]["harness"] == {
        "result": "ok", "wanted": [], "carries": ["claude", "cloop"]}


def test_git_of_the_file(stage, labelled):
    image = labelled("nogit", "claude")
    stage.spec({"image": image, "capabilities": {"git": True}})
    answer = lacks(stage, image, "git", ["claude"])
    assert "blechschmidt" not in answer["remediation"]
    set_provider(stage, "claudecode")
    lacks(stage, image, "git", ["claude"])
    stage.spec({"image": image, "capabilities": {"git": False}})
    assert stage.sh("true").rc == 0
    both = labelled("both", "git claude")
    stage.spec({"image": both, "capabilities": {"git": True}})
    assert stage.sh("true").rc == 0
    explained = stage.answer("sandbox", "explain", "-C", stage.project)
    assert explained["image"]["harness"]["wanted"] == ["claude", "git"]
    assert {"git", "harnesses"} <= set(explained["requirements"])


def test_a_label_that_says_nothing(stage, labelled):
    set_provider(stage, "claudecode")
    for name, label in (("none", None), ("empty", ""), ("blank", " , "), ("words", "a/b =c"),
                        ("long", "x," * 2049)):
        stage.spec({"image": labelled(name, label), "capabilities": {"git": True}})
        r = stage.sh("true")
        assert r.rc == 0, (name, r)
    # Case matters, and a word is whole.
    for name, label in (("case", "Claude"), ("part", "claude-code"), ("edge", "x," * 2047 + "y")):
        stage.spec({"image": labelled(name, label)})
        r = stage.refused("/bin/true", code="sandbox_image_lacks_harness")
        assert "claude" in r.record["remediation"]


def test_a_relabelled_image_is_read_again(stage, labelled):
    """The engine's answer is kept while its store is as it was, and no longer."""
    set_provider(stage, "claudecode")
    stage.spec({"image": labelled("moving", "git")})
    for _ in range(2):
        stage.refused("/bin/true", code="sandbox_image_lacks_harness")
    labelled("moving", "git,claude")
    assert stage.sh("true").rc == 0
