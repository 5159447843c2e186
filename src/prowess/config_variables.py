"""Keys of prowess.toml in the environment: `PROWESS_WEB__RATE=60` is `rate` in `[web]`.

A value is written as in TOML; what is none is a text, so that most need no quotes.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

VARIABLE = re.compile(r"PROWESS((?:_[A-Z0-9]+)+(?:__[A-Z0-9]+(?:_[A-Z0-9]+)*)+)")


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that stand for a key: a section and a key, with two underscores between."""
    return {name: environment[name] for name in environment if VARIABLE.fullmatch(name)}


def with_variables(data: dict[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """What a file says, with what the environment says otherwise."""
    merged = dict(data)
    for name, text in given.items():
        *sections, key = name.removeprefix("PROWESS_").lower().split("__")
        inner = merged
        for section in sections:
            before = inner.get(section)
            inner[section] = dict(before) if isinstance(before, dict) else {}
            inner = inner[section]
        inner[key] = _value(text)
    return merged


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
