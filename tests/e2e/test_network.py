"""Networks of runs, as far as they exist."""
FILTER = {"enabled": True, "allow_cidrs": ["10.9.9.9/32"], "allow_ports": ["443"]}


def test_filter_is_never_left_out(stage):
    """Nothing applies it yet, so a run that it is meant for is refused; one without a network runs."""
    stage.config(network="bridge", egress_filter=FILTER)
    r = stage.refused("/bin/true", code="not_available_yet")
    assert b"egress_filter" in r.err
    stage.spec({"env": []})
    r = stage.sh("cat /proc/net/dev | wc -l")
    assert r.rc == 0 and r.out.split() == [b"3"], r  # two lines of titles, and lo
