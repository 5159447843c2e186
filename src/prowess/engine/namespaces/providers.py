"""`engine.providers`: what brings capabilities, switched on and off."""

from dataclasses import dataclass

from prowess.catalogue.catalogue import Catalogue
from prowess.evolution.generations import Generations
from prowess.journal import Journal
from prowess.journal.entries import switched
from prowess.store.database import Database
from prowess.types import Provider
from prowess.world import Worlds


@dataclass(frozen=True, slots=True)
class Providers:
    """What brings capabilities: a server, a module, a folder. Each is on or off, for all or for one agent."""

    _database: Database
    _journal: Journal
    _catalogue: Catalogue
    _generations: Generations
    _worlds: Worlds

    def list(self, agent: str | None = None) -> tuple[Provider, ...]:
        """Every provider, in order of name.

        agent: say what is off for this agent; without it, what is off for everybody.
        """
        return self._worlds.now().view.providers_for(agent or "")

    def activate(self, provider: str, agent: str = "") -> None:
        """Switch a provider on again; a rollback lets go of it.

        provider: its name, such as "github".
        agent: only for this agent; empty for everybody.
        """
        self._switch(provider, agent, None)

    def deactivate(
        self,
        provider: str,
        agent: str = "",
        reason: str = "switched off by a person",
        automatic: bool = False,
    ) -> None:
        """Switch a provider off: what it brings is in no answer.

        provider: its name, such as "github".
        agent: only for this agent; empty for everybody.
        reason: what people are told when they ask why it is off.
        automatic: a program decided it, so a rollback may switch it on again.
        """
        self._switch(provider, agent, reason, "program" if automatic else "person")

    def _switch(self, provider: str, agent: str, why_off: str | None, decided: str = "person") -> None:
        with self._database.writing() as transaction:
            if why_off is None:
                self._generations.release(transaction, agent, provider)
            if self._catalogue.switch(transaction, provider, agent, why_off, decided):
                self._journal.append(transaction, switched(provider, why_off, why_off or ""), agent)
