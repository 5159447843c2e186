"""prowess.toml: the one configuration file.

An argument wins over the environment (`PROWESS_STORE`, `PROWESS_WEB__RATE`), that over the file,
that over the default. Secrets are named here by variable, never written. An unknown key is an
error that names the nearest known one. Only `open()` and the faces read this; stages get values.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from prowess.config_alerts import AlertsConfig
from prowess.config_problems import config_error
from prowess.config_spelling import cards_in_snake_case
from prowess.config_variables import variables, with_variables
from prowess.errors import ConfigError
from prowess.types import Trust

FILE = "prowess.toml"
DEFAULT_STORE = "sqlite:.prowess/prowess.db"
NO_VARIABLES: Mapping[str, str] = {}


Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Whole = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class LimitsConfig(_Section, frozen=True):
    """`[source.limits]`: what a started server may use up; 0 is no limit."""

    processes: Whole = 0
    memory_mb: Whole = 0
    files: Whole = 0


class IsolationConfig(_Section, frozen=True):
    """`[source.isolation]`: what a started server may reach."""

    sandbox: Literal["none", "bubblewrap"] = "none"
    home: Literal["user", "own"] = "user"
    read: list[str] = []
    write: list[str] = []
    network: bool = True


class ParameterOverrideConfig(_Section, frozen=True):
    """`[source.tools.NAME.parameters.NAME]`: another name for a parameter of a tool, or other words."""

    name: str = ""
    description: str | None = None


class ToolOverrideConfig(_Section, frozen=True):
    """`[source.tools.NAME]`: another name for a tool of a server or an API, or other words."""

    name: str = ""
    description: str | None = None
    parameters: dict[str, ParameterOverrideConfig] = {}


class SourceConfig(_Section, frozen=True):
    """One `[[source]]`: what kind it is, and where it finds what it reads."""

    type: str
    name: str = ""
    path: str = ""
    places: list[Literal["project", "user", "packages"]] = []
    module: str = ""
    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    login: Literal["agent", "shared"] = "agent"
    """Whose login a server is shown: the calling agent's own, or one that all of them share."""
    digest: str = ""
    faculties: list[str] | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    trust: Trust | None = None
    isolation: IsolationConfig = IsolationConfig()
    limits: LimitsConfig = LimitsConfig()
    tools: dict[str, ToolOverrideConfig] = {}
    disabled: list[str] = []
    category: Annotated[str, msgspec.Meta(max_length=64)] = ""
    """What all of it is about, where a capability does not say so itself."""


class SecretsConfig(_Section, frozen=True):
    """`[secrets]`: where secrets are looked up besides the environment, which wins."""

    env_file: str = ""
    keep: Literal["auto", "keyring", "file"] = "auto"
    folder: str = ""


class PolicyConfig(_Section, frozen=True):
    files: list[str] = []


class DiscoveryConfig(_Section, frozen=True):
    tier0_token_budget: Whole = 200
    tier1_token_budget: Whole = 800
    tier2_token_budget: Whole = 2000
    tier1_top_k: Whole = 5
    tier2_top_k: Whole = 2
    tier1_min_relevance: Share = 0.3
    use_graph_reranking: bool = True
    graph_boost_factor: Share = 0.15
    collection_name: str = "capability_index"
    embedding_model_id: str = ""
    kind: str = "any"
    category: str = ""
    provider: str = ""
    exclude: list[str] = []
    only_available: bool = True
    few_tools_whole: bool = False
    read_closely: bool = True


class CardProfileConfig(_Section, frozen=True):
    """One `[cards.profiles.NAME]`: what is different for the agents that have it."""

    max_tokens: Whole | None = None
    confidence_threshold: Share | None = None
    force_include: list[str] | None = None
    exclude: list[str] | None = None
    only: list[str] | None = None
    timezone: str | None = None


class CardsConfig(_Section, frozen=True):
    """`[cards]`; keys may also be written in camelCase."""

    enabled: bool = True
    max_tokens: Whole = 1500
    confidence_threshold: Share | None = None
    force_include: list[str] = []
    exclude: list[str] = []
    log_level: Literal["none", "summary", "detailed"] = "summary"
    mode: Literal["monitor", "sessions", "full"] = "full"
    sessions: list[str] = []
    messages: Positive = 5
    workspace: bool = False
    scorer: str = "relevance"
    experiment: dict[str, Annotated[float, msgspec.Meta(gt=0)]] = {}
    tokens_per_message: Whole = 0
    most_tokens: Whole = 3000
    profile: str = "full"
    profiles: dict[str, CardProfileConfig] = {}
    agents: dict[str, str] = {}
    auto_disable_threshold: Share = 0.3
    auto_disable_window_hours: Positive = 24
    reference: tuple[str, ...] = ("docs/SYSTEM_ARCHITECTURE.md",)
    timezone: str = ""
    """Where the agents are, such as Europe/Berlin; empty for where the machine is."""


class CallsConfig(_Section, frozen=True):
    """`[calls]`: what a call may take and bring, from a program, the gateway or the API alike."""

    max_result_characters: Positive = 100_000
    neutralise_results: bool = False
    check_results: bool = True
    concurrency: Positive = 32
    """Calls that one server gets at once; others wait."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    max_timeout: Annotated[float, msgspec.Meta(gt=0)] = 3600.0
    """How long a call may take altogether while its server reports progress."""
    idle: Annotated[float, msgspec.Meta(gt=0)] = 600.0
    """How long a connection that shows an agent's own login is kept without a call."""
    keep_keys_hours: Positive = 24
    """How long a repeated `key` is answered with the first result."""


class TokenAgentConfig(_Section, frozen=True):
    """`[[gateway.authorization.agent]]`: who a token is that has all of these claims."""

    agent: str
    claims: dict[str, str]


class AuthorizationConfig(_Section, frozen=True):
    """`[gateway.authorization]`: the identity provider whose tokens are let in over HTTP."""

    issuer: str
    resource: str
    audience: str = ""
    scopes: list[str] = []
    claim: str = ""
    agent: list[TokenAgentConfig] = []


class GatewayConfig(_Section, frozen=True):
    """`[gateway]`: what `prowess serve mcp` allows its clients."""

    poll: Annotated[float, msgspec.Meta(ge=0)] = 300.0
    rate: Whole = 1200
    hosts: list[str] = []
    approvals: Literal["people", "client"] = "people"
    authorization: AuthorizationConfig | None = None
    tools: Literal["auto", "pinned", "all"] = "auto"
    """Which capabilities are tools of their own: what a profile pins, all, or all where that is little."""


class OidcGroupConfig(_Section, frozen=True):
    """`[[web.oidc.group]]`: what the people of a group may do, and in which workspace."""

    group: str
    role: Literal["viewer", "operator", "admin"] = "viewer"
    workspace: str = ""


class OidcConfig(_Section, frozen=True):
    """`[web.oidc]`: the identity provider at which people sign in."""

    issuer: str
    client_id: str
    url: str
    """Where browsers reach this server."""
    secret: str = ""
    name: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    name_claim: str = "email"
    audience: str = ""
    """What access tokens must be for to be taken by the API."""
    session_minutes: Positive = 60
    group: list[OidcGroupConfig] = []


class WebConfig(_Section, frozen=True):
    """`[web]`: what the dashboard and the API allow those who ask."""

    hosts: list[str] = []
    rate: Whole = 1200
    max_body_bytes: Positive = 1_000_000
    change_servers: Literal["local", "always", "never"] = "local"
    """Whether admins add and change servers from pages: `local`, where only this machine can reach them."""
    oidc: OidcConfig | None = None


class LearningConfig(_Section, frozen=True):
    """`[learning]`: whether skills are gathered from use, and what it takes to rely on one."""

    mode: Literal["off", "accumulate"] = "off"
    min_gain: Share = 0.01
    judges: Literal["others", "anyone"] = "others"
    benchmark: str = ""
    auto: bool = False
    every_minutes: Annotated[float, msgspec.Meta(ge=0, le=10_000_000)] = 1.0
    """How often a gateway reads what happened; 0 leaves that to whoever asks."""


class EvolutionConfig(_Section, frozen=True):
    """`[evolution]`: when agents are evaluated by themselves (by default never), and what follows."""

    every_outcomes: Whole = 0
    every_minutes: Annotated[float, msgspec.Meta(ge=0, le=10_000_000)] = 0.0
    on_regression: Literal["warn", "propose", "roll_back"] = "roll_back"
    """What a regression may do to agents whose parameters do not say it."""


class JournalConfig(_Section, frozen=True):
    """`[journal]`: what is kept beside the journal, redacted, and for how long."""

    keep_days: Whole = 30
    """How long what a model was shown can be shown again; 0 keeps nothing."""
    keep_arguments: bool = False
    keep_results: bool = False


class PresetConfig(_Section, frozen=True):
    name: str
    capabilities: list[str]


class Config(_Section, frozen=True):
    store: str = DEFAULT_STORE
    replica: str = ""
    """A copy of a PostgreSQL store, which may answer what only reads."""
    workspace: str = "default"
    owner: str = ""
    stale_for: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 30.0
    """Seconds for which searches are answered from memory while the store does not answer; 0: never."""
    in_memory: Positive = 100_000
    """Capabilities that a process holds in memory; a larger catalogue is looked up in the store."""
    source: list[SourceConfig] = []
    preset: list[PresetConfig] = []
    secrets: SecretsConfig = SecretsConfig()
    policy: PolicyConfig = PolicyConfig()
    discovery: DiscoveryConfig = DiscoveryConfig()
    cards: CardsConfig = CardsConfig()
    learning: LearningConfig = LearningConfig()
    evolution: EvolutionConfig = EvolutionConfig()
    journal: JournalConfig = JournalConfig()
    calls: CallsConfig = CallsConfig()
    gateway: GatewayConfig = GatewayConfig()
    web: WebConfig = WebConfig()
    alerts: AlertsConfig = AlertsConfig()


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration and the folder its relative paths start from."""

    config: Config
    root: Path
    file: Path | None = None

    def path(self, text: str) -> Path:
        return self.root / Path(text).expanduser()


def find(environment: Mapping[str, str], start: Path) -> Path | None:
    """The file named by PROWESS_CONFIG, or the nearest prowess.toml at or above `start`."""
    named = environment.get("PROWESS_CONFIG")
    if named:
        return Path(named)
    return next((folder / FILE for folder in [start, *start.parents] if (folder / FILE).is_file()), None)


def load(file: Path | None, start: Path, environment: Mapping[str, str]) -> Settings:
    """Read a configuration; without a file, the defaults hold in `start`. What the environment says wins."""
    given = variables(environment)
    if file is None:
        return Settings(parse("", "the environment", given), start)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise ConfigError(
            str(file), f"cannot be read ({failure})", "check the path or run: prowess init"
        ) from None
    found = parse(text, file.name)  # what is wrong in the file is said with its line
    found = parse(text, "the environment", given) if given else found
    return Settings(found, file.resolve().parent, file)


def parse(text: str, place: str = FILE, given: Mapping[str, str] = NO_VARIABLES) -> Config:
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as failure:
        raise ConfigError(place, f"is not TOML: {failure}", "mend that line") from None
    data = with_variables(data, given)
    if isinstance(data.get("cards"), dict):
        data["cards"] = cards_in_snake_case(data["cards"], place)
    learning = data.get("learning")
    if isinstance(learning, dict) and isinstance(learning.get("mode"), str):
        learning["mode"] = learning["mode"].strip().lower()
    try:
        return msgspec.convert(data, Config)
    except msgspec.ValidationError as failure:
        raise config_error(str(failure), text, place, Config) from None


def with_arguments(
    section: DiscoveryConfig, given: Mapping[str, Any], opening: bool = False
) -> DiscoveryConfig:
    """[discovery] with what a caller says otherwise, held to the same rules as the file."""
    for key in () if opening else ("collection_name", "embedding_model_id", "read_closely"):
        if given.get(key, getattr(section, key)) != getattr(section, key):
            remedy = f"open another engine: prowess.open(..., {key}=...)"
            raise ConfigError("arguments", f"{key} belongs to an engine, not to one call", remedy)
    if "agent" in given:
        raise ConfigError("arguments", "agent belongs to the turn", 'write Turn(messages=..., agent="NAME")')
    return _given("discovery", section, given).discovery


def cards_with_arguments(section: CardsConfig, given: Mapping[str, Any]) -> CardsConfig:
    """[cards] with what a caller says otherwise, held to the same rules as the file."""
    return _given("cards", section, given).cards


def _given(name: str, section: _Section, given: Mapping[str, Any]) -> Config:
    values = {**{key: getattr(section, key) for key in section.__struct_fields__}, **given}
    try:
        return msgspec.convert({name: values}, Config)
    except msgspec.ValidationError as failure:
        raise config_error(str(failure), "", "arguments", Config) from None
