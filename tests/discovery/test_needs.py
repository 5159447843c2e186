"""Requests with several needs are cut; requests with one are left whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.discovery.needs import Splitter
from prowess.discovery.text import Words

split = Splitter(Words().terms).split


@pytest.mark.parametrize(
    ("request_text", "needs"),
    [
        ("Search the web for AI news and summarize it", ("Search the web for AI news", "summarize it")),
        (
            "Book a flight to Paris, then email the itinerary to Bob",
            ("Book a flight to Paris", "email the itinerary to Bob"),
        ),
        (
            "Please translate this letter. Additionally, find a hotel in Rome.",
            ("Please translate this letter.", "find a hotel in Rome."),
        ),
        (
            "What is the weather in Oslo? What is the price of gold?",
            ("What is the weather in Oslo?", "What is the price of gold?"),
        ),
        ("- create a repository\n- invite my colleagues", ("create a repository", "invite my colleagues")),
        ("搜索新闻，然后发送邮件", ("搜索新闻", "发送邮件")),
    ],
)
def test_separate_needs_are_told_apart(request_text: str, needs: tuple[str, ...]) -> None:
    assert tuple(need.lstrip("- ") for need in split(request_text)) == needs


@pytest.mark.parametrize(
    "request_text",
    [
        "",
        "hello",
        "Find a hotel with a pool and a gym",
        "I'm tired of my job. Can you find me a new one?",
        "I need to check my orders. Can you log me in?",
        "Create a ticket. The title is 'Crash and burn, then restart'.",
        "Play 'search and destroy'",
        "Extract the figures from this report and show me the result",
        "Convert 3.5 kilometres to miles",
    ],
)
def test_one_need_stays_whole(request_text: str) -> None:
    assert split(request_text) == ()


def test_no_more_needs_are_served_than_allowed() -> None:
    request = (
        "Find a hotel, book a flight, send an email, create a ticket, translate a letter and play a song"
    )
    assert len(Splitter(Words().terms, most=3).split(request)) == 3


@given(st.text(max_size=300))
def test_any_text_can_be_cut_and_no_part_is_invented(text: str) -> None:
    needs = split(text)
    assert len(needs) != 1
    assert all(word in text for need in needs for word in need.split())
