"""`[alerts]` of prowess.toml: what people are told without looking, where to, and when not."""

from typing import Annotated, Literal, TypeAlias

import msgspec

AlertKind: TypeAlias = Literal[
    "agent_stopped", "server_down", "quarantined", "approval_waiting", "error_rate", "budget"
]
KINDS: tuple[AlertKind, ...] = (
    "agent_stopped", "server_down", "quarantined", "approval_waiting", "error_rate", "budget"
)  # fmt: skip
Port = Annotated[int, msgspec.Meta(ge=1, le=65_535)]
Hours = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$|^$")]


class _AlertSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class WebhookConfig(_AlertSection, frozen=True):
    """One `[[alerts.webhook]]`; its secrets are named, never written."""

    url: str
    """May hold `${NAME}`: the addresses of chats are secrets themselves."""
    name: str = ""
    secret: str = ""
    """The variable whose value signs what is sent; empty for no signature."""


class MailConfig(_AlertSection, frozen=True):
    """`[alerts.mail]`: the server that takes mail, and who gets it."""

    server: str
    sender: str
    to: Annotated[list[str], msgspec.Meta(min_length=1)]
    port: Port = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    password: str = ""
    """The variable that holds it."""


class AlertsConfig(_AlertSection, frozen=True):
    """`[alerts]`."""

    about: list[AlertKind] = msgspec.field(default_factory=lambda: list(KINDS))
    every_seconds: Annotated[float, msgspec.Meta(ge=1)] = 60.0
    quiet: Hours = ""
    """Such as 22:00-07:00: what comes then is sent afterwards."""
    timezone: str = ""
    """Of the quiet hours, such as Europe/Berlin; empty for where the machine is."""
    error_rate: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    """Share of failed calls of one server; 0 is never."""
    error_minutes: Annotated[int, msgspec.Meta(ge=1)] = 60
    error_calls: Annotated[int, msgspec.Meta(ge=1)] = 20
    """So many calls within that time say something."""
    tokens_per_day: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Tokens of the offers of one agent since midnight; 0 is any number."""
    address: str = ""
    """Of the dashboard, as those who are told reach it."""
    webhook: list[WebhookConfig] = []
    mail: MailConfig | None = None
