"""Cards from the web, exactly those somebody looked at: what arrives must have the digest that is pinned.

The document is one card (markdown), or a JSON list of objects with `name` and `text`. Another digest
than the pinned one means that nothing in it is read; what was there before stays, as unavailable.
"""

import hashlib
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from prowess.errors import ConfigError, SourceError
from prowess.sources.files.cards import MAX_CARD_BYTES, CardFiles
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import parse_json
from prowess.types import Draft, Problem, Provider, SourceEntry, SourceReading

LARGEST_DOCUMENT = 4 * 1024 * 1024
MOST_CARDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCardSource:
    """One document; `digest` is its sha256 in hexadecimal, perhaps after `sha256:`."""

    name: str
    url: str
    digest: str
    faculties: tuple[str, ...] = ()
    timeout: float = 30.0

    def __post_init__(self) -> None:
        place = f"source {self.name!r}"
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ConfigError(place, "the url is not http or https", "give the address of the cards")
        digest = self._pinned
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            remedy = 'look at the cards, then add: digest = "sha256:..." (what sha256sum prints)'
            raise ConfigError(place, "remote cards need a pinned digest", remedy)

    @property
    def kind(self) -> str:
        return "remote-cards"

    @property
    def place(self) -> str:
        """The address without what may be secret in it."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def _pinned(self) -> str:
        return self.digest.lower().removeprefix("sha256:")

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        progress(0, 1)
        try:
            text = self._fetched()
        except SourceError as error:
            return SourceReading(
                down=error.what, providers=(self._provider(error.what),), problems=(error.problem(self.name),)
            )
        finally:
            progress(1, 1)
        drafts, problems = self._cards(text)
        # A document with problems is read every time, so that they are reported every time.
        entry = SourceEntry(self.place, "" if problems else self._pinned, drafts)
        return SourceReading(entries=(entry,), providers=(self._provider(),), problems=problems)

    def _provider(self, down: str = "") -> Provider:
        return Provider(name=self.name, source=self.name, faculties=self.faculties, down=down)

    def _fetched(self) -> str:
        # Slow to import, and few sources are on the web.
        from prowess.sources.web import fetch

        text = fetch(self.url, self.place, self.timeout, LARGEST_DOCUMENT)
        found = hashlib.sha256(text.encode()).hexdigest()
        if found != self._pinned:
            what = f"has the digest {found[:12]}, not the pinned {self._pinned[:12]}"
            raise SourceError(self.place, what, f"look at what changed; if it is meant, pin sha256:{found}")
        return text

    def _cards(self, text: str) -> tuple[tuple[Draft, ...], tuple[Problem, ...]]:
        drafts: list[Draft] = []
        problems: list[Problem] = []
        try:
            texts = self._texts(text)
        except SourceError as error:
            return (), (error.problem(self.name),)
        for place, card in texts:
            try:
                drafts += self._card(place, card, problems)
            except SourceError as error:
                problems.append(error.problem(self.name))
        return tuple(drafts), tuple(problems)

    def _card(self, place: str, text: str, problems: list[Problem]) -> tuple[Draft, ...]:
        if len(text.encode()) > MAX_CARD_BYTES:
            raise SourceError(place, f"is larger than {MAX_CARD_BYTES // 1024} KiB", "shorten it or split it")
        contents = CardFiles(name=self.name, paths=(), faculties=self.faculties).parse(text, place)
        problems += contents.problems
        return contents.drafts

    def _texts(self, text: str) -> list[tuple[str, str]]:
        if not text.lstrip().startswith("["):
            return [(self.place, text)]
        listed = parse_json(text, self.place)
        if not isinstance(listed, list) or len(listed) > MOST_CARDS:
            raise SourceError(self.place, f"is not a list of at most {MOST_CARDS} cards", "split it")
        return [self._listed(number, one) for number, one in enumerate(listed, 1)]

    def _listed(self, number: int, one: object) -> tuple[str, str]:
        if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("text"), str):
            return f"{self.place}#{one['name']}", one["text"]
        raise SourceError(self.place, f"item {number} has no 'name' and 'text'", "list objects with both")
