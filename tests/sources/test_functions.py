"""Python callables as tools: what the docstring and the signature say."""

import enum
import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, TypedDict

import pytest

from prowess.errors import SourceError
from prowess.sources.python.docstrings import parse_docstring
from prowess.sources.python.functions import Functions, tool
from prowess.types import Capability, Draft, SourceReading


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Place:
    city: str
    zip: str = ""


class Options(TypedDict):
    deep: bool


class Strange:
    pass


def search(
    query: str,
    *,
    limit: int = 5,
    order: Literal["new", "old"] = "new",
    size: Size = Size.SMALL,
    near: Place | None = None,
    options: Options | None = None,
    folder: Path | None = None,
    noted: Annotated[int, "Said beside the type"] = 0,
) -> list[str]:
    """Search the web
    for current information.

    More words that are not the description.

    Args:
        query: The search query,
            on two lines.
        limit (int, optional): How many results.

    Returns:
        What was found.
    """
    return [query]


def read(*functions: Callable[..., object]) -> SourceReading:
    return Functions(name="f", functions=functions, faculties=("Tool",)).read({})


def draft(function: Callable[..., object]) -> Draft:
    reading = read(function)
    assert reading.problems == ()
    return reading.entries[0].drafts[0]  # type: ignore[index]


def schema(function: Callable[..., object]) -> Any:
    return draft(function).detail.input_schema


def test_a_function_is_a_tool_with_its_name_description_and_schema() -> None:
    capability = draft(search).capability
    assert (capability.id, capability.kind, capability.category) == ("tool:search", "tool", "general")
    assert capability.description == "Search the web for current information."
    assert capability.parameters[:2] == ("query", "limit")
    assert capability.has_side_effects
    assert (capability.provider, capability.source) == (__name__, "f")
    assert (capability.source_ref.place, capability.source_ref.entry) == (__name__, "search")


def test_the_schema_comes_from_the_signature_with_types_defaults_and_descriptions() -> None:
    found = schema(search)
    assert found["required"] == ["query"] and found["additionalProperties"] is False
    properties = found["properties"]
    assert properties["query"] == {"type": "string", "description": "The search query, on two lines."}
    assert properties["limit"] == {"type": "integer", "description": "How many results.", "default": 5}
    assert properties["order"] == {"type": "string", "enum": ["new", "old"], "default": "new"}
    assert properties["size"] == {"type": "string", "enum": ["small", "large"], "default": "small"}
    assert properties["near"]["default"] is None
    assert properties["noted"]["description"] == "Said beside the type"
    assert set(found["$defs"]) == {"Place", "Options"}
    assert found["$defs"]["Place"]["required"] == ["city"]


def test_open_arguments_methods_partials_objects_classes_and_coroutines_are_described() -> None:
    def open_ended(first, *rest: int, **more: int) -> None:  # type: ignore[no-untyped-def]
        """Take anything."""

    async def later(x: int) -> int:
        """Wait."""
        return x

    class Adder:
        """Add numbers."""

        def __call__(self, a: int, b: int = 2) -> int:
            return a + b

        def method(self, a: int) -> None:
            """Do it."""

    assert schema(open_ended) == {
        "type": "object",
        "properties": {"first": {}},
        "required": ["first"],
        "additionalProperties": {"type": "integer"},
    }
    assert schema(later)["properties"] == {"x": {"type": "integer"}}
    assert schema(Adder())["properties"] == {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}}
    assert schema(Adder().method)["required"] == ["a"]
    partial = functools.partial(search, limit=9)
    assert read(partial).entries[0].drafts[0].detail.input_schema["properties"]["limit"]["default"] == 9  # type: ignore[index]


def test_a_type_without_a_schema_accepts_anything_and_is_a_warning() -> None:
    def odd(a: Strange, b: "Nowhere", c: int) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Odd."""

    def fine(a: Strange | int, c: int) -> None:
        """Fine."""

    reading = read(odd, fine)
    assert {p.severity for p in reading.problems} == {"warning"}
    assert (
        ["'a'" in p.what or "'b'" in p.what for p in reading.problems].count(True)
        == len(reading.problems)
        >= 3
    )
    drafts = reading.entries[0].drafts or ()
    assert drafts[1].detail.input_schema["properties"] == {"a": {}, "c": {"type": "integer"}}  # type: ignore[index]


def test_a_default_that_json_cannot_say_still_makes_the_parameter_optional() -> None:
    def odd(a: float = float("inf"), b: object = Strange()) -> None:
        """Odd."""

    found = schema(odd)
    assert "required" not in found and found["properties"] == {"a": {"type": "number"}, "b": {}}


def test_the_mark_says_what_the_function_does_not() -> None:
    @tool(
        name="web-search",
        description="Find.",
        tags=["search", "web"],
        category="information",
        side_effects=False,
    )
    def anything() -> None:
        pass

    capability = draft(anything).capability
    assert capability.id == "tool:web-search" and capability.description == "Find."
    assert (capability.tags, capability.category) == (("search", "web"), "information")
    assert not capability.has_side_effects


def test_the_mark_leaves_the_function_as_it_is() -> None:
    @tool
    def double(x: int) -> int:
        """Double it."""
        return 2 * x

    assert double(4) == 8 and double.__name__ == "double"


def test_what_cannot_be_marked_says_so() -> None:
    with pytest.raises(SourceError, match="cannot be marked"):
        tool(len)


def test_a_nameless_callable_is_skipped_and_the_others_are_kept() -> None:
    reading = read(lambda: None, search)
    assert [d.capability.id for d in reading.entries[0].drafts or ()] == ["tool:search"]
    assert "no name of its own" in reading.problems[0].what


def test_a_function_without_docstring_is_kept_with_a_warning() -> None:
    def send_mail() -> None:
        pass

    reading = read(send_mail)
    assert (reading.entries[0].drafts or ())[0].capability.description == "Send Mail"
    assert reading.problems[0].severity == "warning"


def test_a_builtin_without_signature_is_kept_with_a_warning() -> None:
    reading = read(iter)
    assert len(reading.entries[0].drafts or ()) == 1
    assert "the signature" in reading.problems[0].what


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    made = ModuleType("sample_tools")
    monkeypatch.setitem(sys.modules, "sample_tools", made)
    yield made


def test_a_module_offers_its_marked_functions_once_in_order(module: ModuleType) -> None:
    @tool
    def second() -> None:
        """Two."""

    @tool
    def first() -> None:
        """One."""

    class Everything:
        def __getattr__(self, name: str) -> object:
            return self

        def __call__(self) -> None: ...

    vars(module).update(b=second, a=first, again=second, plain=search, everything=Everything())
    reading = Functions(name="f", module="sample_tools").read({})
    found: list[Capability] = [d.capability for e in reading.entries for d in e.drafts or ()]
    assert [capability.name for capability in found] == ["second", "first"]
    assert reading.problems == () and reading.down == ""


def test_a_module_without_marks_is_a_warning(module: ModuleType) -> None:
    reading = Functions(name="f", module="sample_tools").read({})
    assert reading.down == "" and "no marked function" in reading.problems[0].what


@pytest.mark.parametrize(
    "code", ["1 / 0", "import sys; sys.exit(3)", "def (", "raise BaseException.__new__(OSError)"]
)
def test_a_module_that_cannot_be_imported_is_down_with_the_reason(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_tools.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "broken_tools", raising=False)
    reading = Functions(name="f", module="broken_tools").read({})
    assert "broken_tools: cannot be imported" in reading.down
    assert reading.problems[0].remedy and reading.providers[0].down


def test_a_module_that_does_not_exist_is_down() -> None:
    assert "ModuleNotFoundError" in Functions(name="f", module="no_such_module_anywhere").read({}).down


GOOGLE = """Do it.

Args:
    a: First.
    *rest (int): The rest: all of it.
    **more: More.
Raises:
    ValueError: never.
"""
NUMPY = """
    Do it.

    Parameters
    ----------
    a : int
        First.
    *rest : int
        The rest: all of it.
    **more
        More.

    Returns
    -------
    nothing : None
        Not a parameter.
    """
REST = """Do it.

:param int a: First.
:param rest: The rest:
    all of it.
:keyword more: More.
:returns: nothing
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST])
def test_three_styles_of_docstring_say_the_same(text: str) -> None:
    found = parse_docstring(text)
    assert found.summary == "Do it."
    assert found.parameters == {"a": "First.", "rest": "The rest: all of it.", "more": "More."}


def test_an_empty_docstring_says_nothing() -> None:
    assert parse_docstring(None) == parse_docstring("") == parse_docstring("  \n ")
