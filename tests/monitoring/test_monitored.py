"""Whether a server lives, can serve, and how much it does: to whom it says so, and what."""

import pytest
from starlette.testclient import TestClient

from prowess.errors import ConfigError
from prowess.monitoring.monitored import Monitored, ServerState, networks
from prowess.testing import StaticSource, capability
from prowess.web.app import create_app
from tests.support.stores import OpenEngine
from tests.support.web import HERE


def looking(app: Monitored, address: str = "127.0.0.1", base: str = HERE) -> TestClient:
    return TestClient(app, base_url=base, client=(address, 50000))


@pytest.fixture
def app(open_engine: OpenEngine) -> Monitored:
    engine = open_engine(StaticSource(capabilities=[capability("tool:read", "Read a file")]))
    return Monitored(
        create_app(engine), ServerState(engine.internals.database.check), networks(["10.0.0.0/8"])
    )


def test_a_server_is_ready_while_its_store_answers_and_lives_on_when_it_does_not(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine(StaticSource())
    app = Monitored(create_app(engine), ServerState(engine.internals.database.check))
    assert [looking(app).get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]
    engine.close()
    assert [looking(app).get(path).status_code for path in ("/healthz", "/readyz")] == [200, 503]


def test_requests_are_counted_by_face_and_outcome(app: Monitored) -> None:
    client = looking(app)
    for path in ("/api/v1/me", "/api/v1/me", "/login"):
        client.get(path)
    lines = client.get("/metrics").text.splitlines()
    assert 'prowess_requests_total{face="api",method="GET",status="401"} 2' in lines
    assert 'prowess_requests_total{face="dashboard",method="GET",status="200"} 1' in lines
    assert 'prowess_request_seconds_bucket{face="api",le="+Inf"} 2' in lines
    assert 'prowess_request_seconds_count{face="dashboard"} 1' in lines
    assert any(line.startswith("process_cpu_seconds_total ") for line in lines)


@pytest.mark.parametrize(
    ("address", "base", "answered"),
    [
        ("127.0.0.1", HERE, True),
        ("127.0.0.1", "http://agents.example", False),  # through a proxy on this machine
        ("192.0.2.7", HERE, False),
        ("10.3.2.1", "http://agents.example", True),
    ],
)
def test_only_this_machine_and_named_networks_are_told(
    app: Monitored, address: str, base: str, answered: bool
) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert (looking(app, address, base).get(path).status_code == 200) is answered


def test_what_is_no_network_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"10\.0\.0\.0/8"):
        networks(["everybody"])
