"""What marks in a request mean."""

import pytest

from prowess.discovery.mentions import with_mentions


def test_a_channel_that_is_named_is_a_place_for_messages() -> None:
    assert with_mentions("tell #general we are back") == "tell #general we are back (message channel)"


@pytest.mark.parametrize(
    "request_",
    ["fix #12 and #parse", "paint it, from #fff to #00ff7f", "https://a.example/in #!top", "#Sunday"],
)
def test_numbers_colours_and_words_are_no_channels(request_: str) -> None:
    assert with_mentions(request_) == ""
