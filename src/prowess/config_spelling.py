"""`[cards]` of prowess.toml, whose keys may be written in camelCase."""

import re
from typing import Any

from prowess.errors import ConfigError


def cards_in_snake_case(section: dict[str, Any], place: str) -> dict[str, Any]:
    """`[cards]` as the system it follows wrote it, too; the names of profiles stay as they are."""
    keys = _snake_keys(section, place)
    profiles = keys.get("profiles")
    if isinstance(profiles, dict):
        keys["profiles"] = {
            name: _snake_keys(profile, place) if isinstance(profile, dict) else profile
            for name, profile in profiles.items()
        }
    return keys


def _snake_keys(values: dict[str, Any], place: str) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, value in values.items():
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
        name = "workspace" if name == "allow_workspace_cards" else name
        if name in renamed:
            raise ConfigError(place, f"{name!r} is given twice in [cards]", "keep one of them")
        renamed[name] = value
    return renamed
