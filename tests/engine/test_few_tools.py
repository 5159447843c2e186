"""Where an agent has few tools, an offer may carry all of them, and goes on to while a few more come."""

from prowess.prompt.small_sets import MOST_TOOLS, STAYS
from prowess.testing import StaticSource, capability
from prowess.types import Message, Turn
from tests.support.stores import OpenEngine

EVERYTHING = "profiles: {p: {additional_tools: ['*'], agents: [default]}}"


def shelf(count: int) -> StaticSource:
    mail = capability("tool:send_mail", "Send a mail to somebody.")
    others = [capability(f"tool:count_{n:02}", f"Counts sheep in field {n}.") for n in range(count - 1)]
    return StaticSource(capabilities=[*others, mail])


def test_few_tools_are_offered_whole_with_what_fits_first_and_the_offer_says_so(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine(shelf(5), policy=EVERYTHING)
    engine.sync(vectors=False)
    offer = engine.offer("send a mail", few_tools_whole=True)
    assert [tool["name"] for tool in offer.tools][:2] == ["discover_capabilities", "send_mail"]
    assert len(offer.tools) == 6
    assert [hit.id for hit in offer.hits] == ["tool:send_mail"]
    assert offer.mode == "discovery; all tools are offered, because they are few"


def test_without_the_setting_only_what_fits_is_offered(open_engine: OpenEngine) -> None:
    engine = open_engine(shelf(5), policy=EVERYTHING)
    engine.sync(vectors=False)
    offer = engine.offer("send a mail")
    assert [tool["name"] for tool in offer.tools] == ["discover_capabilities", "send_mail"]
    assert offer.mode == "discovery"


def test_a_tight_budget_or_a_filter_leaves_room_for_what_fits_alone(open_engine: OpenEngine) -> None:
    engine = open_engine(shelf(5), policy=EVERYTHING)
    engine.sync(vectors=False)
    tight = engine.offer(Turn(messages=(Message("user", "send a mail"),), budget=1000), few_tools_whole=True)
    narrow = engine.offer("send a mail", few_tools_whole=True, kind="tool")
    assert len(tight.tools) == len(narrow.tools) == 2


def test_one_tool_more_or_less_does_not_turn_an_offer_over(open_engine: OpenEngine) -> None:
    source, most = shelf(MOST_TOOLS), int(MOST_TOOLS * STAYS)
    engine = open_engine(source, policy=EVERYTHING)

    def offered(count: int) -> int:
        source.capabilities = shelf(count).capabilities
        engine.sync(vectors=False)
        return len(engine.offer("send a mail", few_tools_whole=True).tools) - 1

    assert [offered(count) for count in (MOST_TOOLS, most, MOST_TOOLS + 1)] == [12, 15, 13]
    assert offered(most + 1) == 1
    assert [offered(count) for count in (most, MOST_TOOLS)] == [1, 12]


def test_a_conversation_over_few_tools_has_all_of_them_from_the_first_turn(open_engine: OpenEngine) -> None:
    engine = open_engine(shelf(MOST_TOOLS), policy=EVERYTHING)
    engine.sync(vectors=False)
    talk = engine.conversation()
    talk.turn("send a mail")
    assert len(talk.names) == MOST_TOOLS
