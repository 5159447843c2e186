"""The parts of a remote engine that say what exists, who may use it and who decides."""

from typing import TYPE_CHECKING, Any

import msgspec

from prowess.catalogue.catalogue import Version
from prowess.catalogue.view import View
from prowess.cli.remote_parts import Part, quoted
from prowess.learning.usage import UsageLine
from prowess.policy.agents import Agent
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.types import DEFAULT_AGENT, Capability, Detail, HeldCapability, Provider

if TYPE_CHECKING:
    from prowess.cli.remote import Server

# What is decided here is decided by whoever the token names; `by` is what a local command would record.


class RemoteCatalogue(Part):
    """What exists."""

    def list(self, agent: str | None = None, kind: str = "") -> tuple[Capability, ...]:
        return tuple(self._server.pages("/capabilities", Capability, agent=agent or "", kind=kind))

    def get(self, id: str) -> Capability:
        return self._server.get(f"/capabilities/{quoted(id)}", Capability)

    def detail(self, id: str) -> Detail:
        whole = self._server.get(f"/capabilities/{quoted(id)}", dict[str, Any])
        return msgspec.convert(whole["detail"], Detail)

    def history(self, id: str) -> tuple[Version, ...]:
        return self._server.get(f"/capabilities/{quoted(id)}/versions", tuple[Version, ...])

    def visible(self, agent: str, authenticated: bool = True) -> View:
        return View(version=0, capabilities=_Fetched(self._server, agent), providers={})

    def cost_of_everything(self, agent: str = DEFAULT_AGENT) -> int:
        return int(self._server.get(f"/agents/{quoted(agent)}/cost", dict[str, int])["tokens"])

    def usage(self) -> tuple[UsageLine, ...]:
        return self._server.get("/learning/usage", tuple[UsageLine, ...])


class RemoteProviders(Part):
    """What brings capabilities."""

    def list(self, agent: str | None = None) -> tuple[Provider, ...]:
        return self._server.get("/providers", tuple[Provider, ...], agent=agent)

    def activate(self, provider: str, agent: str = "") -> None:
        self._switch(provider, agent, on=True)

    def deactivate(self, provider: str, agent: str = "") -> None:
        self._switch(provider, agent, on=False)

    def _switch(self, provider: str, agent: str, on: bool) -> None:
        self._server.send(f"/providers/{quoted(provider)}", {"on": on, "agent": agent}, Provider, "PUT")


class RemoteQuarantine(Part):
    """What is held back."""

    def list(self) -> tuple[HeldCapability, ...]:
        return self._server.get("/quarantine", tuple[HeldCapability, ...])

    def difference(self, id: str) -> tuple[str, ...]:
        return tuple(self._server.get(f"/quarantine/{quoted(id)}", dict[str, Any])["difference"])

    def approve(self, id: str, by: str, digest: str = "") -> HeldCapability:
        return self._server.send(f"/quarantine/{quoted(id)}/approve", {"digest": digest}, HeldCapability)

    def reject(self, id: str, by: str, digest: str = "") -> HeldCapability:
        return self._server.send(f"/quarantine/{quoted(id)}/reject", {"digest": digest}, HeldCapability)


class RemoteAgents(Part):
    """Who is bound to which profile."""

    def list(self) -> tuple[Agent, ...]:
        return self._server.get("/agents", tuple[Agent, ...])

    def bind(self, name: str, profile: str) -> Agent:
        return self.spawn("", name, profile)

    def spawn(self, parent: str, name: str, profile: str) -> Agent:
        return self._server.send("/agents", {"name": name, "profile": profile, "parent": parent}, Agent)

    def retire(self, name: str) -> tuple[str, ...]:
        found = self._server.send(f"/agents/{quoted(name)}", None, dict[str, tuple[str, ...]], "DELETE")
        return found["removed"]


class RemoteApprovals(Part):
    """What policy asks people."""

    def list(self, every: bool = False) -> tuple[Approval, ...]:
        return self._server.get("/approvals", tuple[Approval, ...], every=every)

    def answer(self, approval: str, said: ApprovalAnswer) -> Approval:
        minutes = max(1, round(said.holds.total_seconds() / 60))
        body = {"yes": said.yes, "note": said.note, "minutes": minutes, "scope": said.scope}
        return self._server.send(f"/approvals/{quoted(approval)}/answer", body, Approval)


class _Fetched(dict[str, Capability]):
    """What an agent may use, each fetched when somebody asks for it."""

    def __init__(self, server: "Server", agent: str) -> None:
        super().__init__()
        self._server = server
        self._agent = agent

    def __missing__(self, id: str) -> Capability:
        path = f"/agents/{quoted(self._agent)}/capabilities/{quoted(id)}"
        found = self[id] = self._server.get(path, Capability)
        return found
