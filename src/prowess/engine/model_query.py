"""What a model searches for, read from what it says; searching itself is done elsewhere."""

from dataclasses import dataclass

from prowess.types import JsonObject

USUAL_HITS = 6
HITS_OF_A_NEED = 4
MOST_HITS = 20
MOST_NEEDS = 10
QUERY_MISSING = (
    'query is missing: say in plain words what should be done, {"query": "..."},'
    ' or each step of your plan, {"needs": ["...", "..."]}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuery:
    """What a model searches for: one query, or the steps of its plan."""

    query: str = ""
    needs: tuple[str, ...] = ()
    kind: str = "any"
    category: str = ""
    limit: int | None = None

    @classmethod
    def read(cls, given: JsonObject) -> "ModelQuery":
        """From the arguments of a call; what is no text is left aside."""
        listed = given.get("needs")
        needs = [one for one in listed if isinstance(one, str)] if isinstance(listed, list | tuple) else []
        limit = given.get("limit")
        return cls(
            query=_text(given, "query"),
            needs=tuple(one for one in needs if one.strip())[:MOST_NEEDS],
            kind=_text(given, "kind") or "any",
            category=_text(given, "category"),
            limit=limit if isinstance(limit, int) and 1 <= limit <= MOST_HITS else None,
        )

    @property
    def each(self) -> tuple[str, ...]:
        """What is ranked by itself; nothing where nothing is said."""
        return self.needs or ((self.query,) if self.query.strip() else ())

    @property
    def text(self) -> str:
        """All of it as one text, for the journal."""
        return self.query if self.query.strip() else "\n".join(self.needs)

    @property
    def places(self) -> int:
        """How many capabilities are shown at most."""
        usual = USUAL_HITS if len(self.each) <= 1 else HITS_OF_A_NEED * len(self.each)
        return self.limit or min(MOST_HITS, usual)


def _text(given: JsonObject, key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
