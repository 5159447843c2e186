"""Rules that look at arguments: a small language that always ends, and denies what it cannot decide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import PolicyError
from prowess.policy.conditions import Condition

PAY = {
    "amount": 100,
    "to": "ada@ours.com",
    "path": "/srv/reports/a.txt",
    "list": ["a@ours.com", "b@ours.com"],
}


def holds(text: str, arguments: dict[str, object]) -> bool | None:
    return Condition.read(text, "here").holds(arguments)


@pytest.mark.parametrize(
    "text",
    [
        "amount <= 100",
        "0 < amount <= 100",
        "amount == 100.0",
        "amount in [1, 100]",
        "amount <= 5 or to == 'ada@ours.com'",
        "not (amount > 100)",
        "only(to, '*@ours.com', 'eve@theirs.com')",
        "only(list, ['*@ours.com'])",
        "under(path, '/srv/reports')",
        "under(path, '/srv/other', '/srv/')",
        "has(amount) and not has(cents)",
        "size(list) <= 2 and size(to) > 3",
        "arguments['to'] == 'ada@ours.com'",
        "list[0] == 'a@ours.com'",
        "'b@ours.com' in list",
        "host('https://api.github.com/x') == 'api.github.com'",
        "lower('ADA') == 'ada'",
    ],
)
def test_a_condition_that_holds(text: str) -> None:
    assert holds(text, PAY) is True
    assert holds(f"not ({text})", PAY) is False


@pytest.mark.parametrize(
    "text",
    [
        "amount < 100",
        "amount not in [100]",
        "amount <= 5 and nothing == 1",
        "only(to, '*@theirs.com')",
        "only(list, 'a@ours.com')",
        "under(path, '/srv/report')",
        "under(path, '/srv/reports/a')",
    ],
)
def test_a_condition_that_does_not_hold(text: str) -> None:
    assert holds(text, PAY) is False


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("amount <= 100", {}),
        ("amount <= 100", {"amount": "50"}),
        ("amount <= 100", {"amount": True}),
        ("amount <= 100", {"amount": None}),
        ("amount <= 100", {"amount": float("nan")}),
        ("amount != 100", {"amount": "100"}),
        ("amount == 100", {"amount": [100]}),
        ("amount in [100]", {"amount": "100"}),
        ("to.name == 'x'", {"to": "x"}),
        ("only(to, '*@ours.com')", {"to": "eve@theirs.com,ada@ours.com"}),
        ("only(to, '*@ours.com')", {"to": "Eve <eve@theirs.com> ada@ours.com"}),
        ("only(to, '*@ours.com')", {"to": ["ada@ours.com", 5]}),
        ("under(path, '/srv')", {"path": "/srv/../etc/passwd"}),
        ("under(path, '/srv')", {"path": "/srv/a/.."}),
        ("under(path, '/srv')", {"path": "srv/a"}),
        ("under(path, '/srv')", {"path": "~/a"}),
        ("under(path, '/srv')", {"path": "/srv/%2e%2e/etc"}),
        ("under(path, '/srv')", {"path": "/srv/..\\..\\etc"}),
        ("under(path, '/srv')", {"path": "file:///srv/a"}),
        ("under(path, '/srv')", {"path": "/srv/a\0b"}),
        ("under(path, '/srv')", {"path": "/SRV/a"}),
        ("under(path, '/srv')", {"path": "/srv/.. /a"}),
        ("under(path, '/srv')", {"path": 7}),
        ("host(url) == 'a.com'", {"url": "https://a.com\\@b.com/"}),
        ("host(url) == 'a.com'", {"url": "https://a.com@b.com/"}),
        ("host(url) == 'a.com'", {"url": "a.com"}),
    ],
)
def test_what_cannot_be_decided_is_neither_true_nor_false(text: str, arguments: dict[str, object]) -> None:
    assert holds(text, arguments) is None
    assert holds(f"not ({text})", arguments) is None


def test_one_half_of_an_or_may_be_unknown_where_the_other_holds() -> None:
    assert holds("missing == 1 or amount == 100", PAY) is True
    assert holds("missing == 1 or amount == 1", PAY) is None


def test_letters_are_compared_however_they_are_written() -> None:
    assert holds("name == 'caf\u00e9'", {"name": "cafe\u0301"}) is True


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "1 to 1000 characters"),
        ("amount <=", "is no condition"),
        ("__import__('os').system('x') == 1", "is not supported"),
        ("open('/etc/passwd') == 1", "there is no function open()"),
        ("undr(path, '/srv')", "did you mean under(...)"),
        ("under(path)", "takes 2 or more arguments"),
        ("(lambda: 1)() == 1", "is not supported"),
        ("[x for x in list] == []", "is not supported"),
        ("f'{amount}' == '1'", "is not supported"),
        ("amount + 1 == 2", "is not supported"),
        ("amount is 1", "is not supported"),
        ("b'x' == to", "is not supported"),
        ("list[x] == 1", "is not supported"),
        ("path == 'a\\\\b'", "has a backslash"),
        ("5", "is a value and no condition"),
        ("a" * 1001, "1 to 1000 characters"),
        ("(" * 300 + "a" + ")" * 300, "is no condition"),
        ("not " * 240 + "a", "more than 200 parts"),
    ],
)
def test_a_text_that_is_no_condition_is_one_clear_error(text: str, what: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Condition.read(text, "policy.yaml: profile 'p'")
    assert what in str(caught.value)
    assert "profile 'p'" in str(caught.value)
    assert caught.value.remedy


def test_why_it_does_not_hold_names_the_part_and_no_value() -> None:
    condition = Condition.read("has(to) and amount <= 100", "here")
    assert condition.why_not({"to": "x", "amount": 250}) == "amount <= 100 does not hold"
    assert condition.why_not({"to": "x"}) == "amount <= 100 cannot be decided without amount"
    assert condition.why_not(None) == "its arguments are not known"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
ATOMS = st.sampled_from(
    [
        *("a == b", "a <= 1", "a in b", "'x' in a", "a.b == 1", "a[0] != 'x'", "under(a, '/b')", "has(c)"),
        *(
            "only(a, 'x*')",
            "size(a) > 1",
            "host(a) == 'x'",
            "lower(a) == b",
            "a",
            "not b",
            "1 < a < 5",
            "a == -1",
        ),
    ]
)
WORDS = st.sampled_from(["and", "or"])
TEXTS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds(
            lambda one, word, other: f"({one}) {word} ({other})", inner, st.sampled_from(["and", "or"]), inner
        )
        | st.builds(lambda one: f"not ({one})", inner)
    ),
    max_leaves=5,
)


@given(TEXTS, st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_every_expression_has_one_of_three_values_and_never_fails(
    text: str, arguments: dict[str, object]
) -> None:
    condition = Condition.read(text, "here")
    found = condition.holds(arguments)
    assert found in (True, False, None)
    assert Condition.read(f"not ({text})", "here").holds(arguments) is (None if found is None else not found)
    if found is not True:
        assert condition.why_not(arguments)


SEGMENTS = st.lists(
    st.sampled_from(["srv", "a", "..", ".", "", "etc", "%2e%2e", "~", "a..", "..a"]), max_size=6
)


@given(SEGMENTS, st.sampled_from(["/", "", "//", "./", "../", "\\"]), st.sampled_from("/\\"))
def test_a_path_that_is_under_a_folder_is_there_for_every_reader(
    segments: list[str], start: str, between: str
) -> None:
    import posixpath
    from urllib.parse import unquote

    path = start + between.join(segments)
    if holds("under(path, '/srv')", {"path": path}):
        for read in (path, unquote(path), path.replace("\\", "/"), unquote(path).replace("\\", "/")):
            assert posixpath.normpath(read).lstrip("/").split("/")[0] == "srv"
            assert ".." not in read.replace("\\", "/").split("/")
