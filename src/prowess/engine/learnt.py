"""What should an agent keep, and what can it still not do? The part of the engine that learns.

What was promoted reaches the turn in one way only: the next sync takes it in, as examples for discovery
and as capabilities of several steps, which policy then judges like anything else.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from prowess.catalogue.view import View
from prowess.engine.allowed import REMEMBERED_AGENTS
from prowess.engine.changed import WhatChanged
from prowess.engine.learning import Learning
from prowess.engine.lessons import Learnt as Lesson
from prowess.engine.reading import SyncProgress, no_progress
from prowess.engine.trial import Lessons, lessons_of, procedures_of, trial, with_procedures
from prowess.engine.usage import Closing, UsageLine, closing, usage
from prowess.learning.curriculum import Gap
from prowess.sources.learnt import NAME, Learnt, Procedure
from prowess.sources.source import silent
from prowess.types import DEFAULT_AGENT, Capability, SyncReport

if TYPE_CHECKING:
    from prowess.engine.offering import Offering

NOTHING: Lessons = {}


class WhatIsLearnt(WhatChanged):
    lessons: tuple[int, Lessons] | None = None
    """What discovery was taught, and by which lesson."""
    procedures: Mapping[str, Capability] | None = None
    """Skills of several steps on trial; none outside one."""
    _extended: tuple[View, View] | None = None

    @cached_property
    def learning(self) -> Learning:
        chosen = self._ways.learning
        folder = str(self._ways.root / chosen.benchmark) if chosen.benchmark else ""
        return Learning(
            self._database,
            self.journal,
            msgspec.structs.replace(chosen, benchmark=folder),
            self._clock,
            lambda: trial(self),
        )

    def learn(self) -> Lesson:
        """Turn what happened since the last time into skills and gaps."""
        return self.learning.learn()

    def sync(self, *names: str, vectors: bool = True, progress: SyncProgress = no_progress) -> SyncReport:
        """Make the catalogue hold what the sources offer now, and what was promoted be relied on."""
        if self.learning.on:
            self.learning.teach()
            if all(source.kind != "learnt" for source in self.sources):
                self.sources = (*self.sources, Learnt(self._procedures))
        return super().sync(*names, vectors=vectors, progress=progress)

    def view(self) -> View:
        """The catalogue as it is now; in a trial, with the skills that are tried."""
        view = super().view()
        if self.procedures is None:
            return view
        if self._extended is None or self._extended[0] is not view:
            tried = with_procedures(view.capabilities, self.procedures)
            self._extended = (view, replace(view, capabilities=tried))
        return self._extended[1]

    def visible(self, agent: str, authenticated: bool = True) -> View:
        """What an agent may use; a skill of several steps only where it may use every step."""
        seen = super().visible(agent, authenticated)
        held = self._with_all_steps.get((agent, authenticated))
        if held is None or held[0] is not seen:
            whole = self.view().capabilities
            hidden = [id for id, c in seen.capabilities.items() if c.provider == NAME and
                      not set(whole[id].required_tools) <= seen.capabilities.keys()]  # fmt: skip
            kept = {id: c for id, c in seen.capabilities.items() if id not in hidden}
            if len(self._with_all_steps) >= REMEMBERED_AGENTS:
                self._with_all_steps.clear()
            held = (seen, replace(seen, capabilities=kept) if hidden else seen)
            self._with_all_steps[agent, authenticated] = held
        return held[1]

    @cached_property
    def _with_all_steps(self) -> dict[tuple[str, bool], tuple[View, View]]:
        return {}

    def usage(self) -> tuple[UsageLine, ...]:
        """What each provider and skill costs, and what use was made of it."""
        offered, tried = self.learning.counts()
        prepared = self._prepared()
        return usage(self.view(), offered, tried, lambda c: prepared.cost_of_everything([c]))

    def what_would_close(self, span: str, agent: str, failed: str = "") -> Closing:
        """Why nothing answered a need, as things are now; `failed` is what was tried for it."""
        view = self.view()
        near = self._prepared().nearest(span, view.capabilities, 1)
        return closing(near, view, self.visible(agent).capabilities, agent, failed)

    def closing(self, gap: Gap) -> Closing:
        """What would close a gap, for the first of those who met it."""
        return self.what_would_close(gap.span, (gap.agents or (DEFAULT_AGENT,))[0], gap.failed)

    # --- small parts -------------------------------------------------------------------------

    def _procedures(self) -> tuple[Procedure, ...]:
        return procedures_of(self.learning.taught())

    def _lessons(self) -> Lessons:
        if self.procedures is not None and self.lessons:
            return self.lessons[1]
        if not self.learning.on:
            return NOTHING
        lesson = self.learning.lesson()
        if self.lessons is None or self.lessons[0] != lesson:
            self.lessons = (lesson, lessons_of(self.learning.taught()))
        return self.lessons[1]

    def _prepared(self) -> "Offering":
        """The search over the catalogue as it is now, with what was learnt."""
        search, view = self._search, self.view()
        followed = search.index.follow(view.capabilities, self._lessons())
        if followed and not search.index.is_encoded(view.version):
            self._begin_vectors()
        return search

    def _make_vectors(self, progress: Callable[[int, int], None] = silent) -> None:
        search, view = self._search, self.view()
        lessons = self._lessons()
        if lessons:
            search.index.follow(view.capabilities, lessons)
        if not search.index.is_encoded(view.version):
            search.index.follow(view.capabilities, lessons)
            search.index.encode(view.version, progress)
