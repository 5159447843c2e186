"""URIs: what a template of RFC 6570 stands for, and which URIs a server could take for one another."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.catalogue.uris import is_plain, template

FITS = [
    ("note://{id}", "note://42"),
    ("note://{id}", "note://"),
    ("note://{id}", "note://a%2Fb"),
    ("{+any}", "note://a/b?c#d"),
    ("file:///{+path}", "file:///a/b.txt"),
    ("a{?q,r}", "a"),
    ("a{?q,r}", "a?r=1&q=2"),
    ("a{?q}{&r}", "a?r=1"),
    ("a?f=1{&r}", "a?f=1&r=2"),
    ("a{?q*}", "a?x=1&y=2"),
    ("a{/x,y}", "a/b/c"),
    ("a{/x*}", "a/b/c/d"),
    ("f{.e}", "f.txt"),
    ("f{;v}", "f;v=1"),
    ("f{#part}", "f#top/x"),
    ("{a}-{b}", "x-y-z"),
    ("a{x:3}", "abc"),
    ("plain://x", "plain://x"),
]
MISFITS = [
    ("note://{id}", "secret://payroll"),
    ("note://{id}", "note://a/b"),
    ("note://{id}", "note://a?b"),
    ("note://{id}", "NOTE://a"),
    ("note://{id}/end", "note://a/end/more"),
    ("a{?q}", "a?z=1"),
    ("a{?q}", "a?q=1&q=2"),
    ("a?f=1{&r}", "a?f=1&z=2"),
    ("a{/x,y}", "a/b/c/d"),
    ("f{.e}", "f.a.b"),
    ("plain://x", "plain://xy"),
]


@pytest.mark.parametrize(("text", "uri"), FITS)
def test_a_template_fits_what_it_can_become(text: str, uri: str) -> None:
    found = template(text)
    assert found is not None and found.matches(uri)


@pytest.mark.parametrize(("text", "uri"), MISFITS)
def test_a_template_fits_nothing_else(text: str, uri: str) -> None:
    found = template(text)
    assert found is not None and not found.matches(uri)


@pytest.mark.parametrize("text", ["a{b", "{}", "{a b}", "a}b", "{a{b}}", "{!x}", "x" * 3000])
def test_what_is_no_template_is_none(text: str) -> None:
    assert template(text) is None


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_template_or_none_and_is_answered(text: str, uri: str) -> None:
    found = template(text)
    assert found is None or found.matches(uri) in (True, False)
    assert found is None or found.matches(found.sample)


@pytest.mark.parametrize("text", ["{a}" * 30 + "!", "{a}b" * 30, "{+a}b" * 30, "{/a*}{/b*}" * 15])
def test_no_template_takes_long(text: str) -> None:
    found = template(text)
    assert found is not None
    began = time.process_time()
    assert not found.matches("ab" * 4000 + "/c")
    assert time.process_time() - began < 5


def test_the_template_that_says_more_is_the_more_specific() -> None:
    texts = ["{+any}", "{any}", "note://{+any}", "note://{id}", "note://{id}/x"]
    order = [found.specificity for text in texts if (found := template(text))]
    assert order == sorted(order) and len(set(order)) == len(texts)


def test_a_climbing_or_hidden_uri_is_not_plain() -> None:
    assert is_plain("note://a.b/..c/d…/e%20f")
    for uri in ("a://b/../c", "a://%2e%2e/c", "a://%252e%252e%252fc", "a://b\x00", "a://..%5cc", "a:../b"):
        assert not is_plain(uri)
    assert not is_plain("a://%252525252525252541") and not is_plain("a://" + "b" * 9000)


@pytest.mark.parametrize(
    "text",
    ["http://host:80/x/{id}", "http://me@host/x/{id}", "http://host//x/./{id}", "HTTP://host/%78/{id}"],
)
def test_a_template_stands_for_a_uri_however_its_own_words_are_written(text: str) -> None:
    found = template(text)
    assert found is not None
    assert found.may_mean("http://host/x/7") and found.may_mean("http://host:80/x//7")
    assert not found.may_mean("http://host/y/7") and not found.may_mean("http://other/x/7")
