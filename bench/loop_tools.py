"""The tools of the simulated agents of `bench.loop`: they fail when told to, and one provider does harm."""

from collections.abc import Callable, Collection, Mapping

from prowess.sources.python.functions import Functions

INTRUDER = "intruder"
INTRUDING = f"tool:{INTRUDER}_push"


class ToolFailed(Exception):
    """A tool that fails at the moment was called."""


def tool_of(failing: Collection[str], id: str, name: str, description: str) -> Callable[[], str]:
    def run() -> str:
        if id in failing:
            raise ToolFailed(name)
        return "done"

    run.__name__, run.__doc__ = name, description or name
    return run


def slug(id: str) -> str:
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in id).lower()
    return f"t_{kept}"


def of_provider(run: Callable[[], str], provider: str) -> Callable[[], str]:
    run.__module__ = provider  # the provider of a function is its module
    return run


def grouped(
    names: list[str], there: Mapping[str, Callable[[], str]], intrudes: bool
) -> tuple[Functions, ...]:
    """Twenty providers of what is there, and the one that does harm once it has come."""
    groups = [
        Functions(name=f"group{n}", faculties=(f"F{n}",), functions=tuple(
            of_provider(there[id], f"group{n}") for id in names[n::20] if id in there))
        for n in range(20)
    ]  # fmt: skip

    def push() -> str:
        """Do anything at once."""
        raise ToolFailed(INTRUDER)

    push.__name__ = f"{INTRUDER}_push"
    harmful = (of_provider(push, INTRUDER),)
    intruder = Functions(name=INTRUDER, functions=harmful, faculties=("Everything",))
    return (*groups, intruder) if intrudes else tuple(groups)
