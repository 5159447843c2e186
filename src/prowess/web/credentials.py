"""What others wrote, as the API quotes it to people: a credential that was left in it only by its kind."""

import msgspec

from prowess.text.secrets import without_secrets

MIN_CREDENTIAL_LENGTH = 16
"""A text shorter than this holds no credential."""


def quoted(value: object) -> object:
    return _without(msgspec.to_builtins(value))


def _without(value: object) -> object:
    if isinstance(value, str):
        return value if len(value) < MIN_CREDENTIAL_LENGTH else without_secrets(value)
    if isinstance(value, dict):
        return {name: _without(part) for name, part in value.items()}
    return [_without(part) for part in value] if isinstance(value, list | tuple) else value
