"""What may be a secret in another program's configuration, turned into a reference to the environment.

Above: the importers. Below: text. A doubt is decided for the secret: what is kept is what is known to be
harmless by its name, or cannot be a secret by its form. Values are compared while an import runs, so that
two servers with different values for one name get two variables. What a reference stands for is handed on
beside it: the value, or the reference that the other program wrote for it.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prowess.sources.imports.harmless import (
    COMMAND_OPTIONS,
    ENVIRONMENT_OPTIONS,
    is_login_free,
    is_login_option,
    is_plain,
    is_plain_setting,
    is_secret_option,
)
from prowess.sources.imports.placeholders import Placeholders, variable_name

HARMLESS_WORDS = frozenset(
    {
        "NODE_ENV", "LOG_LEVEL", "LOGLEVEL", "FASTMCP_LOG_LEVEL", "RUST_LOG", "DEBUG", "VERBOSE", "PORT",
        "TZ", "LANG", "LC_ALL", "TERM", "NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED", "PYTHONIOENCODING",
        "PYTHONDONTWRITEBYTECODE", "PYTHONUTF8",
    }
)  # fmt: skip
HARMLESS_PATHS = frozenset({"PATH", "HOME", "PWD", "TMPDIR", "TEMP", "PYTHONPATH", "NODE_PATH", "JAVA_HOME"})
HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "mcp-protocol-version"})
HEADER_OPTIONS = ("-H", "--header")

_WORD = re.compile(r"[A-Za-z0-9_.,*-]{0,16}")
_PATHS = re.compile(r"[\w./:~\\ ${}-]*")
_HEADER_WORDS = re.compile(r"[A-Za-z0-9 /;=.,*+-]{0,80}")
_SECRET_NAME = re.compile(
    r"key|token|secret|pass|pwd|auth|cred|bearer|cookie|session|signature|\bsig\b|\bpat\b|\bcode\b|dsn|conn",
    re.I,
)
_SECRET_INSIDE = re.compile(r"(key|token|secret|passw\w*|pwd|credentials?|auth\w*)[\"']?\s*[:=]", re.I)
_KNOWN_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(sk-|sk_|pk_|rk_|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|ya29\.|eyJ|"
    r"ntn_|secret_|lin_api_|tvly-|hf_|npm_|pypi-|dop_v1_|SG\.|key-|fc-|pplx-|shpat_|whsec_)[A-Za-z0-9_.-]{6,}"
)
_RANDOM = re.compile(r"[A-Za-z0-9+/=_.:-]{16,}")
_WORDY = re.compile(r"[A-Z]?[a-z]{1,20}\d{0,2}|v?\d{1,4}|20\d{6}|[A-Z]{1,12}|")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)", re.DOTALL)
_OPTION = re.compile(r"(?P<option>--?[A-Za-z][\w.-]*)=(?P<value>.*)", re.DOTALL)
_GLUED_ASSIGNMENT = re.compile(r"(?P<option>-[eD])(?P<name>[A-Z_][A-Z0-9_]*)=(?P<value>.*)", re.DOTALL)
_GLUED_LOGIN = re.compile(r"(?P<option>-[puPka])(?P<value>(?=.*[^a-z-]).+)", re.DOTALL)
_HEADER = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*)\s*:\s*(?P<value>.*)", re.DOTALL)
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?:(?P<user>[^/?#]*)@)?(?P<host>[^/?#]*)(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.DOTALL,
)
_PORT = re.compile(r"[^:]*(:\d*)?|\[[0-9A-Fa-f:.]*\](:\d*)?|.*\$\{.*")
_ONE_REFERENCE = re.compile(r"(?P<scheme>(?:Bearer|Basic|Token|ApiKey) )?\$\{\w+\}")
_SCHEME = re.compile(r"(?P<scheme>(?:Bearer|Basic|Token|ApiKey) )?(?P<value>.*)", re.DOTALL | re.I)


@dataclass(slots=True)
class Redaction:
    """The variables one server needs; `taken` is shared by all servers of one import."""

    server: str
    taken: dict[str, str] = field(default_factory=dict)
    placeholders: Placeholders = field(default_factory=Placeholders)
    variables: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict, repr=False)
    """What stood in the place of a variable."""
    originals: dict[str, str] = field(default_factory=dict, repr=False)
    """The other program's own reference to what a variable holds, as its file has it."""

    def environment(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self._assigned(name, value, f"env {name}") for name, value in values.items()}

    def headers(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self._header(name, value) for name, value in values.items()}

    def arguments(self, args: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._arguments(args))

    def plain(self, text: str) -> str:
        """A command or a folder: kept, unless it looks as if a secret were in it."""
        text = self._own(text, "a path")
        return self._reference("VALUE", text, "a path") if _suspicious(text) else text

    def url(self, text: str, where: str = "url") -> str:
        text = self._own(text, where)
        parts = _URL.fullmatch(text)
        if not text:
            return ""
        # A slash in a password shifts every part behind it; then nothing in it can be trusted.
        if parts is None or not _PORT.fullmatch(parts["host"]):
            return self._reference("URL", text, where)
        user = f"{self._credentials(parts['user'], where)}@" if parts["user"] else ""
        path = "/".join(self._segment(segment, where) for segment in parts["path"].split("/"))
        query = f"?{self._query(parts['query'], where)}" if parts["query"] else ""
        return f"{parts['scheme']}{user}{parts['host']}{path}{query}"

    # --- parts -------------------------------------------------------------------------------

    def _arguments(self, args: tuple[str, ...]) -> Iterator[str]:
        before = ""
        for arg in args:
            yield self._argument(self._own(arg, "args"), before)
            before = arg

    def _argument(self, arg: str, before: str) -> str:
        if before in HEADER_OPTIONS:
            return self._header_line(arg)
        if before in COMMAND_OPTIONS and " " in arg:
            return self._command(arg)
        if glued := _GLUED_ASSIGNMENT.fullmatch(arg):
            value = self._assigned(glued["name"], glued["value"], "args")
            return f"{glued['option']}{glued['name']}={value}"
        if option := _OPTION.fullmatch(arg):
            return f"{option['option']}={self._valued(option['option'], option['value'])}"
        named = before.startswith("-") and "=" not in before and not arg.startswith("--")
        if named and (not arg.startswith("-") or is_secret_option(before, arg)):
            return self._valued(before, arg)
        return self._alone(arg)

    def _alone(self, arg: str) -> str:
        """An argument that belongs to no option."""
        if assignment := _ASSIGNMENT.fullmatch(arg):
            return f"{assignment['name']}={self._assigned(assignment['name'], assignment['value'], 'args')}"
        if "://" in arg:
            return self.url(arg, "args")
        if (glued := _GLUED_LOGIN.fullmatch(arg)) and not is_login_free(glued["value"]):
            return f"{glued['option']}{self._reference(glued['option'].strip('-'), glued['value'], 'args')}"
        doubtful = (" " in arg.strip() or arg[:1] in ("{", "[")) and not is_plain("", arg)
        return self._reference("ARGUMENT", arg, "args") if doubtful or _suspicious(arg) else arg

    def _command(self, text: str) -> str:
        """A command line in one argument: kept if each of its words would be."""
        try:
            words = tuple(shlex.split(text))
        except ValueError:
            return self._reference("COMMAND", text, "args")
        kept = Redaction(self.server).arguments(words) == words
        return text if kept else self._reference("COMMAND", text, "args")

    def _header_line(self, line: str) -> str:
        header = _HEADER.fullmatch(line)
        if header is None:
            return self._reference("HEADER", line, "args --header")
        return f"{header['name']}: {self._header(header['name'], header['value'])}"

    def _valued(self, option: str, value: str) -> str:
        """The value of an option."""
        if option in HEADER_OPTIONS:
            return self._header_line(value)
        if assignment := _ASSIGNMENT.fullmatch(value):
            return f"{assignment['name']}={self._pair(option, assignment['name'], assignment['value'])}"
        if "://" in value:
            return self.url(value, "args")
        if option in ENVIRONMENT_OPTIONS and _VARIABLE.fullmatch(value):
            return value
        harmless = is_login_free(value) if is_login_option(option) else is_plain(option, value)
        if harmless and not is_secret_option(option, value) and not _suspicious(value):
            return value
        return self._reference(option.strip("-") or "ARGUMENT", value, f"args {option}".strip())

    def _pair(self, option: str, name: str, value: str) -> str:
        if option in ENVIRONMENT_OPTIONS:
            return self._assigned(name, value, "args")
        return self._valued(f"--{name}", value)

    def _assigned(self, name: str, value: str, where: str) -> str:
        own = self._own(value, where)
        if not own or _harmless(name, own) or self._is_plain(name, own):
            return own
        reference = self._reference(name, own, where, natural=True)
        if "${" in own or own != value:
            variable = reference.removeprefix("${").removesuffix("}")
            self.values.pop(variable, None)
            self.originals.setdefault(variable, value)
        return reference

    def _is_plain(self, name: str, value: str) -> bool:
        """Whether a setting of this name is none that has to be kept secret."""
        if "://" in value:
            kept = Redaction(self.server).url(value) == value
            return kept and not is_secret_option(name.replace("_", "-"), "")
        return is_plain_setting(name, value) and not _suspicious(value)

    def _header(self, name: str, value: str) -> str:
        where = f"header {name}"
        value = self._own(value, where)
        if name.lower() in HARMLESS_HEADERS and _HEADER_WORDS.fullmatch(value):
            return value
        parts = _SCHEME.fullmatch(value)
        assert parts is not None
        return f"{parts['scheme'] or ''}{self._reference(name, parts['value'], where)}"

    def _credentials(self, user: str, where: str) -> str:
        return self._reference("CREDENTIALS", user, f"{where} before @")

    def _segment(self, segment: str, where: str) -> str:
        return self._reference("PATH_SECRET", segment, f"{where} path") if _suspicious(segment) else segment

    def _query(self, query: str, where: str) -> str:
        pairs = (pair.partition("=") for pair in query.split("&"))
        return "&".join(f"{name}{sign}{self._parameter(name, value, where)}" for name, sign, value in pairs)

    def _parameter(self, name: str, value: str, where: str) -> str:
        harmless = _WORD.fullmatch(value) and not _SECRET_NAME.search(name) and not _suspicious(value)
        return value if harmless else self._reference(name, value, f"{where} ?{name}=")

    def _own(self, text: str, where: str) -> str:
        """Other programs' references as ours, without defaults: those may be secrets themselves."""

        text, found = self.placeholders.translated(text)
        for name, original in found.items():
            self.variables.setdefault(name, f"{where}, which already named it")
            self.originals.setdefault(name, original)
        return text

    def _reference(self, name: str, value: str, where: str, natural: bool = False) -> str:
        """A reference in the place of a value; one that stands there already is kept."""
        if _ONE_REFERENCE.fullmatch(value) or not value:
            return value
        full = variable_name(f"{self.server}_{name}")
        variable = name if natural and _VARIABLE.fullmatch(name) else full
        if self.taken.setdefault(variable, value) != value:
            variable = self._free(full, value)
        self.variables[variable] = where
        if "${" not in value:
            self.values[variable] = value
        return f"${{{variable}}}"

    def _free(self, variable: str, value: str) -> str:
        number, free = 1, variable
        while self.taken.setdefault(free, value) != value:
            number += 1
            free = f"{variable}_{number}"
        return free


def _harmless(name: str, value: str) -> bool:
    if name.upper() in HARMLESS_WORDS:
        return bool(_WORD.fullmatch(value))
    return name.upper() in HARMLESS_PATHS and bool(_PATHS.fullmatch(value)) and not _KNOWN_TOKEN.search(value)


def _suspicious(text: str) -> bool:
    """Whether a text that nothing names as a secret looks like one: a known prefix, or no words in it."""
    if _KNOWN_TOKEN.search(text) or _SECRET_INSIDE.search(text):
        return True
    if text.startswith(("/", ".", "~", "@", "$", "-")) or not _RANDOM.fullmatch(text):
        return False
    return not all(_WORDY.fullmatch(piece) for piece in re.split(r"[-_./:=+]|(?<=[a-z])(?=[A-Z])", text))
