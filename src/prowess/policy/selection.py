"""What an agent may use as a condition of SQL, for a catalogue that is too large to be held in memory.

    selection(snapshot, "ada").text
    "(substr(c.id, 1, 5) <> 'host:' AND NOT c.climbs AND c.provider = :s0 AND NOT c.effects LIKE :s1)"

Above: whoever searches a table of capabilities. Below: the rules alone. It says of each row what
`PolicySnapshot.reach` says of each capability; `columns_of` makes the row.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prowess.policy.attributes import Attributes, effects_of, is_value
from prowess.policy.dialect import POSTGRES, STARS, Dialect
from prowess.policy.mcp import INTERNAL
from prowess.policy.patterns import EVENT, HOST, KNOWN, Pattern, climbs, declared_grant, is_own_kind
from prowess.policy.ruleset import EffectiveGrants
from prowess.policy.snapshot import PolicySnapshot, declares
from prowess.policy.spelling import composed
from prowess.types import Capability

MAX_SEPARATE_GLOBS = 64
"""PostgreSQL looks up each of some globs in an index; of one array of globs it can look up none."""
STORABLE = str.maketrans({"\n": "\uffff", "\0": "\ufffe"})
"""A line feed stands between words of a list, and PostgreSQL keeps no NUL: in a word both are others."""
MAX_SIDE_BY_SIDE = 50
"""So many conditions stand side by side; more stand in groups, since SQLite allows no deep nesting."""
LISTS = {"tag": "tags", "effects": "effects"}
"""The attributes of which a thing may have more than one value -> the columns that list them."""


@dataclass(frozen=True, slots=True)
class RowSelection:
    """A condition of SQL over the rows of a table of capabilities, and the values of its parameters."""

    text: str
    """Such as `(c.kind = :s0 OR c.spelling LIKE :s1)`."""
    values: Mapping[str, object]
    """Parameter -> a text, or several as its database takes them."""
    everything: bool
    """Whether no rule leaves anything out, so that a search may look first and filter afterwards: the text
    then leaves out nothing but what no wildcard gives, and over MCP the system's own events."""


def columns_of(capability: Capability) -> dict[str, object]:
    """What a table holds of a capability, so that conditions can be asked of it; no column is ever null."""
    return {
        "id": capability.id,
        "spelling": composed(capability.id),
        "kind": _word(capability.kind),
        "provider": _word(composed(capability.provider)),
        "category": _word(composed(capability.category)),
        "source": capability.source,
        "tags": _list(map(composed, capability.tags)),
        "effects": _list(effects_of(capability)),
        "joined_grant": _word(declared_grant(capability)),
        "climbs": climbs(capability.id),
        "requires_auth": declares(capability, "requires_auth"),
    }


def selection(
    snapshot: PolicySnapshot,
    agent: str,
    authenticated: bool = True,
    over_mcp: bool = False,
    alias: str = "c",
    dialect: Dialect = POSTGRES,
) -> RowSelection:
    """What an agent may use, at once or with approval, of whatever the table holds.

    agent: whose profile counts, and those of all its ancestors.
    authenticated: whether it has proved who it is.
    over_mcp: whether to leave out what is kept from MCP clients.
    alias: the table's name in the statement.
    dialect: of the database that is asked.
    """
    key = ("selection", agent, authenticated, over_mcp, alias, dialect)

    def made() -> RowSelection:
        clauses = Clauses(alias, "s", snapshot.trust, dialect)
        return _selection(snapshot, agent, authenticated, over_mcp, clauses)

    return snapshot.remembered(key, made)


def pattern_condition(
    pattern: Pattern, trust: Mapping[str, str], alias: str = "c", prefix: str = "p",
    dialect: Dialect = POSTGRES,
) -> RowSelection:  # fmt: skip
    """What a pattern matches: a pinned rule, or a pattern on a page of policy.

    pattern: the rule; what it says of arguments does not count.
    trust: source -> how far it is trusted.
    alias: the table's name in the statement.
    prefix: what its parameters begin with, other than in every other condition of the statement.
    dialect: of the database that is asked.
    """
    clauses = Clauses(alias, prefix, trust, dialect)
    text = every([clauses.catalogued, clauses.matching([pattern])])
    return RowSelection(text, clauses.values(text), is_everything(pattern))


def _selection(
    snapshot: PolicySnapshot, agent: str, authenticated: bool, over_mcp: bool, clauses: "Clauses"
) -> RowSelection:
    profiles = dict.fromkeys(snapshot.profile_of(one) for one in snapshot.line(agent))
    allowed = [_allowed(snapshot.rules.holding(one), clauses, over_mcp) for one in profiles]
    known = "TRUE" if authenticated else f"NOT {clauses.alias}.requires_auth"
    told = clauses.without(INTERNAL) if over_mcp else "TRUE"
    text = every([clauses.catalogued, known, told, *(one.text for one in allowed)])
    return RowSelection(text, clauses.values(text), authenticated and all(one.everything for one in allowed))


def _allowed(holding: EffectiveGrants, clauses: "Clauses", over_mcp: bool) -> RowSelection:
    """What one profile allows: what a grant or a list of its own gives, less what it disallows.

    What only quiet grants give is kept from MCP clients, so there they give nothing.
    """
    grants = [one for one in holding.grants.values() if not (over_mcp and one.mcp_tools is False)]
    patterns = [pattern for grant in grants for pattern in grant.patterns]
    patterns += [rule.pattern for rule in holding.profile.additional]
    joined = clauses.one_of("joined_grant", [grant.name for grant in grants])
    # Denials that look at arguments are decided when it is used.
    denials = [rule.pattern for rule in holding.profile.disallowed if rule.pattern.when is None]
    denied = clauses.matching(denials, climbing=True)
    text = every([some([clauses.matching(patterns), joined]), negated(denied)])
    return RowSelection(text, {}, denied == "FALSE" and any(map(is_everything, patterns)))


def is_everything(pattern: Pattern) -> bool:
    """Whether it is `*`, and nothing more."""
    return pattern.target == "everything" and pattern.where is None and not pattern.excepted


@dataclass(frozen=True, slots=True)
class Clauses:
    """Conditions on the columns of one table; equal values share a parameter."""

    alias: str
    prefix: str
    trust: Mapping[str, str]
    dialect: Dialect
    parameters: dict[str | tuple[str, ...], str] = field(default_factory=dict)
    """Value -> the name of its parameter."""

    def values(self, text: str) -> Mapping[str, object]:
        """The parameters of a condition: what was decided on the way needs none."""
        used = set(re.findall(rf":({self.prefix}\d+)", text))
        each = ((name, value) for value, name in self.parameters.items() if name in used)
        return {name: v if isinstance(v, str) else self.dialect.listed(v) for name, v in each}

    @property
    def catalogued(self) -> str:
        """The ids of a host's tools are not for a source to define."""
        return self.without(HOST)

    def without(self, prefix: str) -> str:
        """No id that begins so."""
        return f"substr({self.alias}.id, 1, {len(prefix)}) <> '{prefix}'"

    def matching(self, patterns: Iterable[Pattern], climbing: bool = False) -> str:
        """What one of these patterns gives or, with the names that climb, what one of them denies."""
        by_limits: dict[tuple[Attributes | None, tuple[Pattern, ...]], list[Pattern]] = {}
        for one in _needed(patterns, climbing):
            by_limits.setdefault((one.where, one.excepted), []).append(one)
        return some(
            every(
                [
                    self._named(same, climbing),
                    self._having(where),
                    # What leaves something out of a denial gives, and the other way round.
                    negated(self.matching(excepted, not climbing)),
                ]
            )
            for (where, excepted), same in by_limits.items()
        )

    def one_of(self, column: str, words: Iterable[str]) -> str:
        """A column has one of these values; of those with a star, one that fits."""
        stated = sorted({*words})
        exact = [word for word in stated if "*" not in word]
        return some([self._equal(column, exact), self._like(column, [w for w in stated if "*" in w])])

    def _named(self, patterns: Iterable[Pattern], climbing: bool) -> str:
        """The names that patterns look for, whatever else they say."""
        exact, globs, unprefixed = set[str](), set[str](), set[str]()
        for one in patterns:
            match one.target:
                case "everything":
                    globs.add(one.glob)
                case "ids" | "names" if one.exact:
                    exact.update({one.id, one.glob} if is_own_kind(one.glob) else {one.id})
                case "ids":
                    globs.add(one.glob)
                case "names":
                    globs.add(EVENT + one.glob)
                    (unprefixed if "*" in one.glob.partition(":")[0] else globs).update(_own_ids(one.glob))
        own = every([self._like("spelling", sorted(unprefixed)), self._is_own() if unprefixed else "FALSE"])
        found = some([self._like("spelling", sorted(globs)), own])
        climbs = "TRUE" if climbing else f"NOT {self.alias}.climbs"
        return some([self._equal("spelling", sorted(exact)), every([climbs, found])])

    def _is_own(self) -> str:
        """It is of a kind that only its user knows."""
        kind = self.dialect.before_colon(f"{self.alias}.spelling")
        return f"NOT {self.dialect.one_of(kind, self._parameter(sorted(KNOWN)))}"

    def _having(self, where: Attributes | None) -> str:
        stated = where.stated() if where else {}
        return every(self._has(name, words) for name, words in stated.items())

    def _has(self, name: str, words: Sequence[str]) -> str:
        if name == "trust":
            trusted = [s for s, level in self.trust.items() if any(is_value(word, level) for word in words)]
            return self._equal("source", sorted(trusted))
        known = [_word(word) for word in words]
        column = LISTS.get(name)
        return self._lists(column, known) if column else self.one_of(name, known)

    def _lists(self, column: str, words: Sequence[str]) -> str:
        """A column that is a list has one of these values."""
        if not any("*" in word for word in words):
            return self._any_like(column, [f"*{_list([word])}*" for word in sorted({*words})])
        fitting = "|".join(sorted({_expression(word) for word in words}))
        any_word = self._parameter(f"\n(?:{fitting})\n")
        return self.dialect.matching(f"{self.alias}.{column}", any_word)

    def _equal(self, column: str, values: Sequence[str]) -> str:
        if not values:
            return "FALSE"
        column = f"{self.alias}.{column}"
        if len(values) == 1:
            return f"{column} = {self._parameter(values[0])}"
        return self.dialect.one_of(column, self._parameter(values))

    def _like(self, column: str, globs: Sequence[str]) -> str:
        return "TRUE" if any(set(glob) == {"*"} for glob in globs) else self._any_like(column, globs)

    def _any_like(self, column: str, globs: Sequence[str]) -> str:
        column = f"{self.alias}.{column}"
        likes = list(dict.fromkeys(map(self.dialect.glob, globs)))
        if len(likes) > MAX_SEPARATE_GLOBS:
            return self.dialect.fitting_any(column, self._parameter(likes))
        return some(self.dialect.fitting(column, self._parameter(one)) for one in likes)

    def _parameter(self, value: str | Sequence[str]) -> str:
        key = value if isinstance(value, str) else tuple(value)
        return ":" + self.parameters.setdefault(key, f"{self.prefix}{len(self.parameters)}")


def _needed(patterns: Iterable[Pattern], climbing: bool) -> Sequence[Pattern]:
    """The same without what `*` gives anyway: beside it only names that climb have to be named."""
    each = list(dict.fromkeys(patterns))
    widest = [one for one in each if is_everything(one)][:1]
    if not widest:
        return each
    return widest if climbing else [*widest, *(one for one in each if one.exact and climbs(one.id))]


def _own_ids(glob: str) -> Sequence[str]:
    """A glob over ids for one over event names, where its ids may be of a user's own kind."""
    kind = glob.partition(":")[0]
    return [glob] if "*" in kind or is_own_kind(glob) else []


def _word(text: str) -> str:
    return text.translate(STORABLE)


def _list(words: Iterable[str]) -> str:
    """Words as one text, a line feed before and after each."""
    each = [f"{_word(word)}\n" for word in words]
    return "".join(["\n", *each]) if each else ""


def _expression(glob: str) -> str:
    """A glob as a regular expression over one word of a list."""
    return "[^\n]*".join(map(re.escape, STARS.split(glob)))


def some(parts: Iterable[str]) -> str:
    """One of these conditions holds."""
    return _together(parts, " OR ", "FALSE", "TRUE")


def every(parts: Iterable[str]) -> str:
    """All of these conditions hold."""
    return _together(parts, " AND ", "TRUE", "FALSE")


def negated(part: str) -> str:
    return {"TRUE": "FALSE", "FALSE": "TRUE"}.get(part, f"NOT {part}")


def _together(parts: Iterable[str], word: str, without: str, decided: str) -> str:
    """Equal parts once; a part that changes nothing goes, and one that decides stands for all."""
    each = [one for one in dict.fromkeys(parts) if one != without]
    if decided in each:
        return decided
    while len(each) > MAX_SIDE_BY_SIDE:
        rows = (each[at : at + MAX_SIDE_BY_SIDE] for at in range(0, len(each), MAX_SIDE_BY_SIDE))
        each = [f"({word.join(row)})" for row in rows]
    return without if not each else each[0] if len(each) == 1 else f"({word.join(each)})"
