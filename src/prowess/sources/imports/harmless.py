"""Which arguments of a command cannot be a secret: by the name of their option, or by their form.

Above: `redaction`, which replaces everything else by a reference. What an argument is called counts first;
where that says nothing, only what plainly is a number, a path, a package, an address or a few small words is
kept.
"""

import json
import re

COMMAND_OPTIONS = ("-c", "-lc", "-ic", "/c", "/C", "-Command")
ENVIRONMENT_OPTIONS = frozenset({"-e", "--env", "--env-var", "--environment", "--build-arg", "--secret"})
LOGIN_OPTIONS = frozenset(
    {"u", "user", "username", "login", "account", "p", "P", "k", "a", "credential", "principal"}
)
"""Options that name somebody, a password or something else, depending on the program."""

_SECRET = re.compile(
    r"key(?!board|map|word)|token|secret|pass|pwd|auth(?!or)|cred|bearer|cookie|session|signature|\bsig\b|\bpat\b|"
    r"\bpins?\b|\botp\b|\bcode\b|\bmnemonic\b|\bseed\b|dsn|conn(?!ections?\Z)|licen[cs]e",
    re.I,
)
_COUNTS = re.compile(
    r"max|min|limit|count|size|length|ttl|timeout|expir|budget|per[-_]|num|window|days|seconds", re.I
)
_FILE_OPTION = re.compile(r"(file|path|dir|folder)\Z", re.I)
_TEXT_OPTION = re.compile(r"(name|title|description|label|prompt|filter|query)\Z", re.I)

_NUMBER = re.compile(r"[-+]?\d+([.:,x/-]\d+)*(ms|s|m|h|d|w|[kmgt]i?b?|%)?", re.I)
_PATH = re.compile(r"(~|\.{1,2})?[/\\].*|~|\.{1,2}|[A-Za-z]:[\\/].*|\$\{\w+\}([/\\].*)?", re.DOTALL)
_FILE = re.compile(r"[\w@. +-]*([/\\][\w@. +-]+)*\.[A-Za-z][A-Za-z0-9]{0,5}|[\w.-]+(/[\w.-]+)+/?")
_PACKAGE = re.compile(
    r"(@[a-z0-9._-]+/)?[a-z0-9._-]*[a-z-][a-z0-9._-]*(\[[a-z,_-]+\])?(@|[=~<>]=)[\w.^~*-]+", re.I
)
_SCOPED = re.compile(r"@[a-z0-9._-]+/[a-z0-9._-]+(@[\w.^~-]+)?", re.I)
_ADDRESS = re.compile(r"(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+|\[[0-9a-f:]+\]|::)(:\d+)?", re.I)
_PIECE = re.compile(r"[a-z]{1,20}\d{0,3}|\d{1,8}[a-z]{0,2}|[A-Z]?[a-z]{1,20}|[A-Z]{2,12}|\*|")
_JOINTS = re.compile(r"[-_./:+,]")
_VARIABLE = re.compile(r"\$\{\w+\}|\$\w+|%\w+%")


def is_secret_option(option: str, value: str) -> bool:
    """Whether an option is called like one that takes a secret."""
    name = option.lstrip("-")
    if not _SECRET.search(name):
        return False
    return not (value.isdigit() and _COUNTS.search(name)) and not (
        _FILE_OPTION.search(name) and is_path(value)
    )


def is_login_option(option: str) -> bool:
    name = option.lstrip("-")
    return option.startswith("-") and (name in LOGIN_OPTIONS or name.lower() in LOGIN_OPTIONS - {"P"})


def is_login_free(value: str) -> bool:
    """Whether a value of such an option is something else: a port, a path, a file, a package."""
    forms = (_NUMBER, _SCOPED, _PACKAGE, _FILE, _VARIABLE)
    joined = "-" in value and value.islower() and is_words(value)
    return is_path(value) or joined or any(form.fullmatch(value) for form in forms)


def is_plain(option: str, value: str) -> bool:
    """Whether a value cannot be a secret, whatever its option is for."""
    if value[:1] in "{[" and value[-1:] in "}]" and not _ADDRESS.fullmatch(value):
        return _is_plain_json(value)
    if " " in value.strip():
        return is_path(value) or (bool(_TEXT_OPTION.search(option)) and is_words(value.replace(" ", "-")))
    forms = (_NUMBER, _FILE, _PACKAGE, _SCOPED, _ADDRESS, _VARIABLE)
    if is_path(value) or is_words(value) or any(form.fullmatch(value) for form in forms):
        return True
    pairs = re.split(r"[,=]", value)
    return len(pairs) > 1 and all(is_plain(option, one) for one in pairs)


def is_plain_setting(name: str, value: str) -> bool:
    """Whether an environment variable cannot be a secret: by its name, and by the form of its value."""
    option = "-".join(name.split("_"))
    return is_plain(option, value) and not is_secret_option(option, value)


def is_path(value: str) -> bool:
    return bool(_PATH.fullmatch(value))


def is_words(value: str) -> bool:
    """Small words and numbers, with signs between them: `us-east-1`, `INFO`, `read,write`."""
    return len(value) <= 60 and all(_PIECE.fullmatch(piece) for piece in _JOINTS.split(value))


def _is_plain_json(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return _is_plain_value("", value)


def _is_plain_value(name: str, value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain_value(str(key), one) for key, one in value.items())
    if isinstance(value, list):
        return all(_is_plain_value(name, one) for one in value)
    if isinstance(value, str):
        return not is_secret_option(name, value) and not is_login_option(f"-{name}") and is_plain(name, value)
    return not (
        isinstance(value, int | float) and not isinstance(value, bool) and is_secret_option(name, str(value))
    )
