"""YAML, JSON and frontmatter as plain values, and what is refused with line and column."""

import json
import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.errors import SourceError
from prowess.text import documents
from prowess.text.documents import body_of, parse_json, parse_page, parse_yaml
from prowess.text.values import Json

MEBIBYTE = 1 << 20


def yaml_refusal(text: str) -> str:
    with pytest.raises(SourceError) as caught:
        parse_yaml(text, "a.yaml")
    assert caught.value.remedy and len(str(caught.value)) < 300
    return caught.value.what


def json_refusal(text: str) -> str:
    with pytest.raises(SourceError) as caught:
        parse_json(text, "a.json")
    return caught.value.what


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment", None),
        ("a: 1\nb: [x, 2.5, true, null, ~]", {"a": 1, "b": ["x", 2.5, True, None, None]}),
        ("at: 2026-01-31\nnorway: no\ntime: 12:30\nswitch: on", None),
        ("1: a\ntrue: b\n~: c", {"1": "a", "true": "b", "~": "c"}),
        ("a: !!str 12\nb: '1'\nc: \"x\"", {"a": "12", "b": "1", "c": "x"}),
        (
            "a: 0x1f\nb: 0o17\nc: .inf\nd: 1e999\ne: -3",
            {"a": 31, "b": 15, "c": ".inf", "d": "1e999", "e": -3},
        ),
        ("base: &b {x: 1, y: 2}\nc: {<<: *b, y: 3}", {"base": {"x": 1, "y": 2}, "c": {"x": 1, "y": 3}}),
        ("&k key: *k", {"key": "key"}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
    ],
)
def test_yaml_becomes_plain_values(text: str, value: Json) -> None:
    if "norway" in text:
        value = {"at": "2026-01-31", "norway": "no", "time": "12:30", "switch": "on"}
    assert parse_yaml(text, "a.yaml") == value


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: [1, 2", "did not find expected"),
        ("a: b\n  c: d", "line 2, column 4"),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the key 'a' is given twice"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document begins"),
        ("? [a]\n: b", "a key is not text"),
        ("a: !!python/object/apply:os.system [ls]", "is not supported"),
        ("a: !!binary aGk=", "is not supported"),
        ("a: *nowhere", "refers to nothing"),
        ("a: &a [*a]", "refers to nothing"),
        ('a: "\\0"', "not allowed"),
        ("a: \x01", "not valid YAML"),
        ("<<: 3", "merges something"),
        ("a:\tb\n\t- c", "not valid YAML"),
    ],
)
def test_bad_yaml_is_refused_with_its_place(text: str, what: str) -> None:
    assert what in yaml_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 50_000 + "]" * 50_000,
        "{a: " * 100_000,
        "- " * 100_000,
        "\n".join(" " * depth + "a:" for depth in range(1000)),
        "? " * 100_000,
    ],
)
def test_deep_nesting_is_refused_at_once_and_crashes_nothing(text: str) -> None:
    start = time.perf_counter()
    yaml_refusal(text)
    assert time.perf_counter() - start < 10


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    assert "aliases stand for too much" in yaml_refusal("\n".join(lines))


def test_aliases_cannot_stack_nesting_beyond_the_limit() -> None:
    lines = [f"a{i}: &a{i} {'[' * 40}{f'*a{i - 1}' if i else 'x'}{']' * 40}" for i in range(20)]
    assert "aliases stand for too much" in yaml_refusal("\n".join(lines))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "[" + "a," * (MEBIBYTE // 2) + "]",
        "a " * (MEBIBYTE // 2),
        "a" * MEBIBYTE + ": b",
        '"' + "\\x41" * (MEBIBYTE // 4) + '"',
        "!" * MEBIBYTE,
        "- &a b\n" + "- *a\n" * (MEBIBYTE // 6),
        "[a]," * (MEBIBYTE // 4),
    ],
)
def test_the_largest_file_allowed_is_parsed_or_refused_in_bounded_time(text: str) -> None:
    start = time.perf_counter()
    try:
        parse_yaml(text, "a.yaml")
    except SourceError as error:
        assert len(str(error)) < 300
    assert time.perf_counter() - start < 30


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1,}', "line 1, column"),
        ('{"a": 1, "a": 2}', "given twice"),
        ("[" * 100_000, "nested"),
        ("[" * 70 + "]" * 70, "nested"),
        ("NaN", "not a JSON number"),
        ("1e999", "too large"),
        ("1" * 5000, "not valid JSON"),
        ('"\\ud800"', "not allowed"),
        ('{"\\u0000": 1}', "not allowed"),
        ("", "not valid JSON"),
    ],
)
def test_bad_json_is_refused(text: str, what: str) -> None:
    assert what in json_refusal(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_frontmatter_is_split_from_the_body_whatever_ends_a_line(newline: str) -> None:
    page = parse_page(newline.join(["---", "name: x", "--- ", "", "# Title", "---", "end", ""]), "a.md")
    assert page.header == {"name": "x"}
    assert page.body == "# Title\n---\nend"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "does not begin"),
        ("# Title", "does not begin"),
        ("---\nname: x\n", "does not end"),
        ("---\n---\nbody", "is empty"),
        ("---\n- a\n---\n", "must be a mapping"),
        ("---\na: 1\nb: [\n---\n", "line "),
    ],
)
def test_frontmatter_that_is_not_one_is_refused(text: str, what: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_page(text, "a.md")
    assert what in caught.value.what


def test_lines_are_counted_from_the_top_of_the_file_and_not_of_the_frontmatter() -> None:
    with pytest.raises(SourceError) as caught:
        parse_page("---\na: 1\na: 2\n---\n", "a.md")
    assert caught.value.what.startswith("line 3,")


def test_a_body_is_found_with_and_without_frontmatter() -> None:
    assert body_of("---\nanything: [\n---\nbody") == "body"
    assert body_of("body\n---\nmore") == "body\n---\nmore"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_what_json_can_say_is_read_back_the_same(value: Json) -> None:
    assert parse_json(json.dumps(value), "a.json") == value
    assert parse_json(json.dumps(value, ensure_ascii=False), "a.json") == value


@pytest.mark.parametrize(
    "text", ['"\\UFFFFFFFF"', '"\\ud800"', "[" * 10_000, "a: \x01", "%YAML 1." + "9" * 5000 + "\n---\na"]
)
def test_without_the_c_parser_the_same_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_LOADER", yaml.SafeLoader)
    yaml_refusal(text)
    assert parse_yaml("a: [1, {b: no}]", "a.yaml") == {"a": [1, {"b": "no"}]}


@settings(max_examples=300)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`#?,<~ \n\t01.\\x\u20ac", max_size=80))
def test_no_text_makes_the_yaml_reader_raise_anything_but_a_source_error(text: str) -> None:
    try:
        value = parse_yaml(text, "a.yaml")
    except SourceError as error:
        assert error.remedy
        return
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
