"""What the guard made of the texts of cards, kept in the store: a new process judges nothing that is known.

Above: the card service, which asks for one text after the other. Below: the store. Reading the guard's rules
and networks takes most of the time of a first injection; a text that was judged by the same guard needs
neither. Nothing is written before somebody calls `keep`.
"""

import hashlib
from collections.abc import Callable

import msgspec

from prowess.cards.card import Guard, Guarded
from prowess.guard.integrity import fault, guard_digest
from prowess.store.database import Database, Transaction

MOST_KEPT = 20_000
"""More texts than any deck has: what is gone for good makes room."""


class KeptVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """A verdict as it is stored; the text only where the guard changed it."""

    reasons: tuple[str, ...] = ()
    absolute: tuple[str, ...] = ()
    mended: str | None = None


Decoder = msgspec.json.Decoder(KeptVerdict)


class CardVerdicts:
    """A guard that remembers: `judge` is asked for what is in the store neither."""

    def __init__(self, database: Database, open_judge: Callable[[], Guard]) -> None:
        self._database = database
        self._open_judge = open_judge
        self._judge: Guard | None = None
        self._known: dict[str, str] | None = None
        self._new: dict[str, str] = {}

    def __call__(self, text: str) -> Guarded:
        content = _hash(text.encode("utf-8", "surrogatepass"))
        known = self._read()
        if content not in known:
            known[content] = self._new[content] = _stored(self._judged(text), text)
        kept = Decoder.decode(known[content])
        mended = text if kept.mended is None else kept.mended
        return Guarded(mended, kept.reasons, kept.mended is not None, kept.absolute)

    def keep(self, transaction: Transaction) -> None:
        """Write down what was judged since; verdicts of another guard make room."""
        new, self._new = self._new, {}
        if not new or fault():  # a damaged guard judges by its rules alone, and may be mended
            return
        guard = guard_digest()
        transaction.run(
            "DELETE FROM card_verdict WHERE workspace = :workspace AND (guard <> :guard OR :full = 1)",
            guard=guard,
            full=int(len(self._read()) > MOST_KEPT),
        )
        transaction.many(
            "INSERT INTO card_verdict (workspace, guard, content, verdict)"
            " VALUES (:workspace, :guard, :content, :verdict) ON CONFLICT DO NOTHING",
            ({"guard": guard, "content": content, "verdict": verdict} for content, verdict in new.items()),
        )

    @property
    def has_news(self) -> bool:
        return bool(self._new)

    def _judged(self, text: str) -> Guarded:
        if self._judge is None:
            self._judge = self._open_judge()
        return self._judge(text)

    def _read(self) -> dict[str, str]:
        if self._known is None:
            with self._database.reading() as transaction:
                rows = transaction.all(
                    "SELECT content, verdict FROM card_verdict"
                    " WHERE workspace = :workspace AND guard = :guard",
                    guard=guard_digest(),
                )
            self._known = dict(rows)
        return self._known


def _stored(judged: Guarded, text: str) -> str:
    mended = judged.text if judged.changed or judged.text != text else None
    return msgspec.json.encode(KeptVerdict(judged.reasons, judged.absolute, mended)).decode()


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=20).hexdigest()
