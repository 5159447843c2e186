"""Values as JSON for whoever is outside: the command line and the API write the same."""

import msgspec


def encoded(value: object) -> bytes:
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: object) -> str:
    """Text of a kind of its own, such as what came through the sanitiser for prompts, as text."""
    if isinstance(value, str):
        return str.__str__(value)
    raise NotImplementedError(type(value).__name__)
