"""Whose a URI is: the server's that offered it first. Owns the table `uri_claim`.

A claim stays as long as its server is configured, also while the server does not offer the URI: otherwise
another could take it in that moment. Two that came in the same sync are equal, and then nobody has it.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from prowess.catalogue.uris import NormalizedUri, address, template
from prowess.catalogue.view import View
from prowess.store.database import Transaction
from prowess.types import Capability, Problem

MOST_NAMED = 3
DecodeAll = msgspec.json.Decoder(list[Capability])


def claim_of(capability: Capability) -> str:
    """What a resource claims: its URI as others could write it, or the shape of its template."""
    if uri := capability.metadata.get("uri"):
        return written(address(str(uri)))
    found = template(str(capability.metadata.get("uri_template") or ""))
    return f"{{template}} {found.shape}" if found else ""


def written(place: NormalizedUri) -> str:
    return "?".join([place.path, "&".join(sorted(place.query))]) if place.query else place.path


def are_known(transaction: Transaction) -> bool:
    """Whether anything was taken down yet: a store of an earlier version has no claims."""
    return transaction.one("SELECT uri FROM uri_claim WHERE workspace = :workspace LIMIT 1") is not None


def update(transaction: Transaction, offered: Iterable[Capability] | None = None) -> bool:
    """Take down who offers what of these, or of everything there is; true if that is news."""
    resources = _resources(transaction) if offered is None else offered
    claimed = {(claim, one.provider): one.id for one in resources if (claim := claim_of(one))}
    rows = transaction.among(
        "SELECT uri, provider FROM uri_claim WHERE workspace = :workspace AND uri IN (:listed)",
        list({claim for claim, _ in claimed}),
    )
    held = {(uri, provider) for uri, provider in rows}
    new = {key: id for key, id in claimed.items() if key not in held}
    transaction.many(
        "INSERT INTO uri_claim (workspace, uri, provider, since)"
        " VALUES (:workspace, :uri, :provider, :since)",
        (
            {"uri": uri, "provider": provider, "since": _since(transaction, id, uri)}
            for (uri, provider), id in new.items()
        ),
    )
    return bool(new)


def forget(transaction: Transaction) -> bool:
    """Whoever is configured no more has no claim; true if anybody had one."""
    gone = transaction.run(
        "DELETE FROM uri_claim WHERE workspace = :workspace AND provider NOT IN"
        " (SELECT name FROM provider WHERE workspace = :workspace)"
    )
    return bool(gone)


def owners(transaction: Transaction) -> dict[str, tuple[str, ...]]:
    """Of everything that several servers offer: who offered it first."""
    rows = transaction.all(
        "SELECT uri, since, provider FROM uri_claim WHERE workspace = :workspace AND uri IN"
        " (SELECT uri FROM uri_claim WHERE workspace = :workspace GROUP BY uri HAVING COUNT(*) > 1)"
        " ORDER BY uri, since, provider"
    )
    found = {}
    for uri, claims in groupby(rows, key=lambda row: str(row[0])):
        offered = list(claims)
        found[uri] = tuple(str(row[2]) for row in offered if row[1] == offered[0][1])
    return found


def _resources(transaction: Transaction) -> list[Capability]:
    rows = transaction.all(
        "SELECT t.capability FROM capability c JOIN capability_text t"
        " ON t.workspace = c.workspace AND t.id = c.id AND t.digest = c.digest"
        " WHERE c.workspace = :workspace AND c.id LIKE :resources",
        resources="resource:%",
    )
    return DecodeAll.decode(f"[{','.join(row[0] for row in rows)}]")


def _since(transaction: Transaction, id: str, claim: str) -> int:
    """Since when a capability offers this: it may have had another URI before."""
    rows = transaction.all(
        "SELECT since, capability FROM capability_text WHERE workspace = :workspace AND id = :id", id=id
    )
    offered = [row[0] for row in rows if claim_of(msgspec.json.decode(row[1], type=Capability)) == claim]
    return int(min(offered))


# --- what is wrong -------------------------------------------------------------------------------


def collisions(view: View) -> tuple[Problem, ...]:
    """URIs that several servers offer, and templates that reach into another server's."""
    return (*_contested(view), *_unreadable(view), *_covering(view))


def _contested(view: View) -> Iterator[Problem]:
    listed: dict[str, dict[str, Capability]] = {}
    for one in view.resources.all:
        listed.setdefault(claim_of(one.capability), {}).setdefault(one.capability.provider, one.capability)
    for claim, providers in listed.items():
        if len(providers) > 1:
            first = view.owner(claim, providers)
            what = f"is offered by {_names(providers)}; " + (
                f"it is {first}'s, who offered it first"
                if first
                else "all offered it at once, so nobody has it"
            )
            place = str(next(iter(providers.values())).metadata["uri"])
            yield _problem(min(providers), place, what)


def _unreadable(view: View) -> Iterator[Problem]:
    for one in view.resources.templated:
        if template(one.text) is None:
            what = f"its template {one.text[:100]!r} is not one (RFC 6570): it stands for no URI"
            yield Problem(one.capability.source, one.capability.id, what, "tell whoever makes the server")


def _covering(view: View) -> Iterator[Problem]:
    for one in view.resources.templated:
        found = template(one.text)
        if found is None:
            continue
        reached: dict[str, str] = {}
        for other in view.resources.all:
            who = other.capability.provider
            if who != one.capability.provider and who not in reached and found.matches(other.text):
                reached[who] = other.text
        for other in view.resources.templated:
            who, theirs = other.capability.provider, template(other.text)
            if who != one.capability.provider and who not in reached and theirs and found.covers(theirs):
                reached[who] = other.text
        for who, text in sorted(reached.items()):
            what = f"its template {one.text!r} covers {text!r} of {who}"
            yield _problem(one.capability.provider, one.capability.id, what)


def _problem(source: str, place: str, what: str) -> Problem:
    remedy = "look at both servers, and switch off or take out the one you do not trust"
    return Problem(source, place, what, remedy, "warning")


def _names(providers: Iterable[str]) -> str:
    names = sorted(providers)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
