"""A primary dies and its copy is promoted: nodes go on by themselves, with all that was acknowledged."""

import time
from collections.abc import Iterator

import pytest

from prowess.engine.search import STALE
from prowess.errors import StoreAway, StoreError
from tests.engine.conftest import OpenNode
from tests.support.postgres import StoppablePostgres
from tests.support.proxy import hanging_proxy
from tests.support.serving import SECONDS_TO_SERVE, acknowledged_turns, lost_turns, served_again

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def pair() -> Iterator[tuple[StoppablePostgres, StoppablePostgres]]:
    """A primary, and a copy that has every change before it is acknowledged."""
    primary = StoppablePostgres()
    try:
        primary.start()
        copy = StoppablePostgres(of=primary)
        try:
            copy.start()
            while not primary.is_followed():
                time.sleep(0.02)
            primary.acknowledge("its copy, too")
            yield primary, copy
        finally:
            copy.remove()
    finally:
        primary.remove()


def test_what_a_failover_lost_is_not_remembered_under_the_number_of_what_came_instead(
    pair: tuple[StoppablePostgres, StoppablePostgres], open_node: OpenNode
) -> None:
    first, second = pair
    both = f"postgresql://postgres@127.0.0.1:{first.port},127.0.0.1:{second.port}/postgres"
    first.acknowledge("it alone")
    node, other = open_node(both), open_node(both)
    with second.away():
        node.agents.bind("helper", "owner")
        assert node.decide("helper", "tool:mail").verdict == "allow"
        first.kill()
    second.promote()
    other.agents.bind("helper", "guest")
    assert node.decide("helper", "tool:mail").verdict == "deny"


def test_nodes_go_on_with_the_promoted_copy_and_never_with_what_it_replaced(
    pair: tuple[StoppablePostgres, StoppablePostgres], open_node: OpenNode
) -> None:
    first, second = pair
    both = f"postgresql://postgres@127.0.0.1:{first.port},127.0.0.1:{second.port}/postgres"
    with hanging_proxy(first.port) as proxy:
        nodes = [open_node(both), open_node(first.url.replace(str(first.port), str(proxy.port)))]
        offers = acknowledged_turns(nodes[0], 10) | acknowledged_turns(nodes[1], 10)
        nodes[0].agents.bind("helper", "owner")
        with pytest.raises(StoreError, match="a copy of another"):
            open_node(second.url)
        nodes[0].find("send a mail", "ada")
        first.kill()
        assert nodes[0].find("send a mail", "ada")[0].reasons[0].startswith(STALE), "the copy is not read"
        with pytest.raises(StoreAway):
            nodes[0].offer("send a mail")
        second.promote()
        proxy.turn(second.port)
        assert [node for node in nodes if served_again(node) > SECONDS_TO_SERVE] == []
        assert all(node.decide("helper", "tool:mail").verdict == "allow" for node in nodes)
        assert not lost_turns(nodes[1], offers)

        first.start()  # it does not know that it was replaced
        with second.away(), pytest.raises(StoreAway, match="was replaced by another"):
            nodes[0].offer("send a mail")
        assert served_again(nodes[0]) < SECONDS_TO_SERVE
