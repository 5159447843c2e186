"""Where alerts are sent: webhooks, whose receivers can check the signature, and mail.

Above: the delivery. Below: the standard library.
"""

import hashlib
import hmac
import json
import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from http.client import HTTPException
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from prowess.alerts.alert import Alert, heading, letter, told
from prowess.config_alerts import AlertsConfig, MailConfig, WebhookConfig
from prowess.errors import AlertNotSent, SourceError
from prowess.sources.mcp.address import expand

SECONDS = 10.0
SIGNATURE = "X-Prowess-Signature"


class AlertChannel(Protocol):
    @property
    def name(self) -> str:
        """What it is called in the list of alerts."""

    def send(self, alerts: tuple[Alert, ...], now: datetime) -> None:
        """Send them together. Raises AlertNotSent."""


@dataclass(frozen=True, slots=True)
class AlertContext:
    """What every channel says besides the alerts, and where it looks up secrets."""

    workspace: str
    address: str
    environment: Mapping[str, str]

    def value(self, channel: str, name: str) -> str:
        found = self.environment.get(name, "")
        if not found:
            raise AlertNotSent(channel, f"secret {name} is not set", f"run: prowess secret set {name}")
        return found


@dataclass(frozen=True, slots=True)
class Webhook:
    name: str
    config: WebhookConfig
    surroundings: AlertContext

    def send(self, alerts: tuple[Alert, ...], now: datetime) -> None:
        from urllib.request import Request  # slow to import

        from prowess.sources.web import opener

        body = json.dumps(told(alerts, self.surroundings.workspace, self.surroundings.address)).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "prowess"}
        if self.config.secret:
            secret = self.surroundings.value(self.name, self.config.secret)
            headers[SIGNATURE] = signature(secret, int(now.timestamp()), body)
        try:
            url = expand(self.config.url, self.surroundings.environment)
            if urlsplit(url).scheme not in ("http", "https"):
                raise AlertNotSent(self.name, "its url is no http or https address", "correct it")
            with opener().open(Request(url, body, headers, method="POST"), timeout=SECONDS) as answer:
                answer.read(1024)
        except HTTPError as error:
            error.close()
            raise AlertNotSent(self.name, f"it answered HTTP {error.code}", "") from None
        except SourceError as error:
            raise AlertNotSent(self.name, error.what, error.remedy) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            raise AlertNotSent(self.name, f"it cannot be reached: {reason}", "") from None


def signature(secret: str, seconds: int, body: bytes) -> str:
    """What proves that a body was sent by whoever knows the secret, and when."""
    signed = hmac.new(secret.encode(), b"%d." % seconds + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={signed}"


@dataclass(frozen=True, slots=True)
class Mail:
    config: MailConfig
    surroundings: AlertContext

    @property
    def name(self) -> str:
        return "mail"

    def send(self, alerts: tuple[Alert, ...], now: datetime) -> None:
        text = letter(alerts, self.surroundings.workspace, self.surroundings.address)
        self.write(f"[prowess] {heading(alerts)}", text, now)

    def write(self, subject: str, text: str, now: datetime) -> None:
        """Send one mail. Raises AlertNotSent."""
        message = EmailMessage()
        message["Subject"] = " ".join(subject.split())[:200]
        message["From"], message["To"] = self.config.sender, ", ".join(self.config.to)
        message["Date"] = now
        message.set_content(text)
        try:
            with self._connected() as server:
                server.send_message(message)
        except (smtplib.SMTPException, OSError) as error:
            what = error.args[-1] if error.args else type(error).__name__
            said = what.decode(errors="replace") if isinstance(what, bytes) else str(what)
            raise AlertNotSent(self.name, f"{self.config.server} did not take it: {said[:200]}", "") from None

    def _connected(self) -> smtplib.SMTP:
        config = self.config
        if config.security == "tls":
            context = ssl.create_default_context()
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                config.server, config.port, timeout=SECONDS, context=context
            )
        else:
            server = smtplib.SMTP(config.server, config.port, timeout=SECONDS)
        try:
            if config.security == "starttls":
                server.starttls(context=ssl.create_default_context())
            if config.user:
                server.login(config.user, self.surroundings.value(self.name, config.password))
        except BaseException:
            server.close()
            raise
        return server


def channels(config: AlertsConfig, surroundings: AlertContext) -> tuple[AlertChannel, ...]:
    """Every channel of a configuration, each with a name of its own."""
    hooks = [
        Webhook(f"webhook {one.name or number}", one, surroundings)
        for number, one in enumerate(config.webhook, 1)
    ]
    return (*hooks, *([Mail(config.mail, surroundings)] if config.mail else []))
