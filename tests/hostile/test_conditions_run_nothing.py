"""A condition is read and never executed: whatever it says, nothing is imported, opened, called or built."""

import builtins

import pytest

from prowess.errors import PolicyError
from prowess.policy.conditions import Condition
from prowess.policy.definitions import define

HOSTILE = (
    "__import__('os').system('id') == 0",
    "().__class__.__bases__[0].__subclasses__() == []",
    "(lambda: 1)() == 1",
    "[x for x in arguments] == []",
    "f'{arguments}' == ''",
    "amount.__add__(1) == 2",
    "eval('1') == 1",
    "open('/etc/passwd') == 1",
    "(amount := 5) == 5",
    "has(amount, **arguments)",
    "only(*arguments)",
    "9 ** 9 ** 9 ** 9 > 1",
    "'a' * 10000000000 == to",
    "amount if has(amount) else 1",
    "b'x' == to",
    "print(amount)",
    "await amount",
    "size(globals()) > 0",
)
REACHING = (
    "arguments.__class__.__mro__[1] == 1",
    "amount.__class__ == 1",
    "arguments['__class__'] == 1",
    "amount.real == 5",
    "to.upper == 'X'",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_condition_is_refused_where_the_policy_is_read(text: str) -> None:
    rule = {"match": "tool:pay", "when": text}
    with pytest.raises(PolicyError):
        define({"profiles": {"p": {"additional_tools": [rule]}}})


@pytest.mark.parametrize("text", REACHING)
def test_a_condition_reaches_no_attribute_of_a_value_only_parts_of_arguments(text: str) -> None:
    assert Condition.read(text, "test").holds({"amount": 5, "to": "x"}) is None


def test_nothing_is_executed_while_a_condition_is_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*given: object, **named: object) -> None:
        raise AssertionError("something was executed")

    condition = Condition.read("amount <= 100 and only(to, '*@example.com') and under(path, '/srv')", "test")
    given = {"amount": 5, "to": ["a@example.com"], "path": "/srv/a"}
    condition.holds(given)  # by now the text has been read
    for name in ("eval", "exec", "open"):
        monkeypatch.setattr(builtins, name, refuse)
    held = condition.holds(given)
    monkeypatch.undo()
    assert held is True
