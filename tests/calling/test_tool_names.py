"""A capability has one name as a tool, made from its id, and the name leads back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.tool_names import MAX_TOOL_NAME_LENGTH, RESERVED, tool_id, tool_name

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,47}\Z")
"""What OpenAI, Anthropic, Gemini and MCP all take."""
IDS = st.one_of(
    st.text(max_size=80),
    st.builds(
        "{}:{}".format,
        st.sampled_from(["tool", "event", "skill", "prompt", "resource", "word"]),
        st.lists(st.sampled_from(["a", "b_c", "_", "__", "/", ":", "skill", "1", "-", "é", "a" * 20])).map(
            "".join
        ),
    ),
)


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("tool:github/create_issue", "github__create_issue"),
        ("tool:web-search", "web-search"),
        ("event:message:publish", "event__message__publish"),
        ("skill:pdf", "skill__pdf"),
        ("prompt:shop/greet", "prompt__shop__greet"),
    ],
)
def test_an_honest_name_carries_the_server_and_no_hash(id: str, name: str) -> None:
    assert tool_name(id) == name
    assert tool_id(name) == id


@pytest.mark.parametrize(
    "id", ["tool:skill/pdf", "tool:a__b", *(f"tool:{name}" for name in sorted(RESERVED))]
)
def test_what_reads_like_something_else_ends_in_a_hash(id: str) -> None:
    assert re.search(r"-x[0-9a-f]{10}\Z", tool_name(id))


@given(IDS)
def test_every_name_fits_every_provider_and_leads_back(id: str) -> None:
    name = tool_name(id)
    assert NAME.match(name) and len(name) <= MAX_TOOL_NAME_LENGTH
    assert tool_id(name, [id]) == id


@given(IDS, IDS)
def test_two_ids_never_have_one_name(first: str, second: str) -> None:
    assert (tool_name(first) == tool_name(second)) == (first == second)


@given(st.text(max_size=60))
def test_a_name_that_nobody_gave_stands_for_nothing(name: str) -> None:
    id = tool_id(name)
    assert not id or tool_name(id) == name
