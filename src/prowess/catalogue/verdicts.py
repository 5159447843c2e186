"""What the guard made of capabilities, kept in the store: what is known is not judged again, by any process.

Above: the intake, which asks for one capability after the other. Below: the store, and the guard, which is
not even opened where everything is known. A verdict is for all that a capability says, for whose it is, and
for one version of the guard.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from prowess.guard.integrity import fault, guard_digest
from prowess.store.database import Database, Transaction
from prowess.types import Draft, SourceRef

if TYPE_CHECKING:
    from prowess.catalogue.findings import Judge

MOST_KEPT = 50_000
"""More than any catalogue has: what is gone for good makes room."""
NOWHERE = SourceRef("", "")


class TextVerdicts:
    """A judge that remembers. Nothing is written before somebody calls `keep`."""

    def __init__(self, database: Database, open_judge: "Callable[[], Judge]") -> None:
        self._database = database
        self._open_judge = open_judge
        self._new: dict[str, str] = {}

    def __call__(self, draft: Draft, is_own: bool, changed: bool) -> str:
        """Why a text may not be shown, given whose it is and whether it was another before."""
        if fault():  # a damaged guard cannot judge, and may be mended
            return self._open_judge()(draft, is_own, changed)
        content = _hash(draft, is_own, changed)
        reason = self._new.get(content, self._kept(content))
        if reason is None:
            reason = self._new[content] = self._open_judge()(draft, is_own, changed)
        return reason

    def keep(self, transaction: Transaction) -> None:
        """Write down what was judged; verdicts of another guard make room."""
        new, self._new = self._new, {}
        if not new:
            return
        guard = guard_digest()
        (count,) = transaction.one("SELECT COUNT(*) FROM text_verdict WHERE workspace = :workspace") or (0,)
        transaction.run(
            "DELETE FROM text_verdict WHERE workspace = :workspace AND (guard <> :guard OR :full = 1)",
            guard=guard,
            full=int(count > MOST_KEPT),
        )
        transaction.many(
            "INSERT INTO text_verdict (workspace, guard, content, reason)"
            " VALUES (:workspace, :guard, :content, :reason) ON CONFLICT DO NOTHING",
            ({"guard": guard, "content": content, "reason": reason} for content, reason in new.items()),
        )

    def _kept(self, content: str) -> str | None:
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT reason FROM text_verdict"
                " WHERE workspace = :workspace AND guard = :guard AND content = :content",
                guard=guard_digest(),
                content=content,
            )
        return str(row[0]) if row else None


def _hash(draft: Draft, is_own: bool, changed: bool) -> str:
    """Of everything it says, wherever it was read from."""
    said = replace(draft.capability, source="", source_ref=NOWHERE, provider="", digest="", unavailable=())
    whole = msgspec.json.encode((said, draft.detail, is_own, changed), enc_hook=str, order="sorted")
    return hashlib.blake2b(whole, digest_size=20).hexdigest()
