"""Which resource a URI means, whose it is, and what must be allowed besides before it is read.

A URI that a server lists is that resource, whatever template would cover it too: its own verdict decides.
A template opens only what no server lists. Everything is looked up in the whole catalogue and not in what
the caller sees: what is denied, held back or off keeps its URI closed.
"""

from dataclasses import dataclass
from itertools import takewhile

from prowess.catalogue.claims import claim_of
from prowess.catalogue.uris import Specificity, is_plain, template
from prowess.catalogue.view import View
from prowess.types import Capability


@dataclass(frozen=True, slots=True)
class ResourceLocation:
    """What is read, and at which URI."""

    capability: Capability
    uri: str
    also: tuple[str, ...] = ()
    """Other ids that must be allowed, since the server could read the URI for theirs."""


@dataclass(frozen=True, slots=True)
class NoPlace:
    """A URI that this capability does not stand for."""

    why: str


def placed(view: View, capability: Capability, uri: object) -> ResourceLocation | NoPlace:
    """Where a resource is read that a caller names by its id, and by a URI if it is a template."""
    if listed := capability.metadata.get("uri"):
        return ResourceLocation(capability, str(listed))
    text = str(capability.metadata.get("uri_template") or "")
    if not isinstance(uri, str) or not uri:
        return NoPlace(f'it needs the argument "uri", like {text}')
    ready = template(text)
    if ready is None or not ready.matches(uri) or not is_plain(uri):
        return NoPlace(f"the uri does not fit {text}")
    provider = capability.provider
    meant = view.resources.meant_by(uri)
    own_exact = [one for one in meant if one.provider == provider and one.metadata.get("uri") == uri]
    if own_exact:
        return ResourceLocation(own_exact[0], uri, tuple(one.id for one in own_exact[1:]))
    if any(one.provider != provider for one in meant):
        return NoPlace("the uri belongs to another server")
    own = view.resources.near(uri).get(provider, ())
    closer = takewhile(lambda one: one.specificity > ready.specificity, own)
    return ResourceLocation(
        capability, uri, (*(one.id for one in meant), *(one.capability.id for one in closer))
    )


def resource_at(view: View, visible: View, uri: str) -> Capability | None:
    """What a URI means to a caller who sees this much of the whole; none where nothing does."""
    meant = view.resources.meant_by(uri)
    exact = [one for one in meant if one.metadata.get("uri") == uri]
    if exact:
        owner = view.owner(claim_of(exact[0]), {one.provider for one in exact})
        ids = [one.id for one in exact if one.provider == owner]
        return visible.capabilities[ids[0]] if ids and visible.capabilities.keys() >= set(ids) else None
    best = _most_specific(view, visible, uri)
    claims = {claim_of(one) for one in best}
    if len({one.provider for one in best}) > 1:
        owner = view.owner(claims.pop(), {one.provider for one in best}) if len(claims) == 1 else ""
        best = [one for one in best if one.provider == owner]
    return visible.capabilities[best[0].id] if best else None


def _most_specific(view: View, visible: View, uri: str) -> list[Capability]:
    """Of the templates that open this URI to the caller, those than which none is more specific."""
    found: list[Capability] = []
    least: Specificity | None = None
    for one, ready in view.resources.templates_for(uri):
        if least is not None and ready.specificity < least:
            break  # a server may have thousands, and each costs time
        if one.id in visible.capabilities and isinstance(placed(view, one, uri), ResourceLocation):
            found.append(one)
            least = ready.specificity
    return found


def has_own_uri(view: View, capability: Capability) -> bool:
    """Whether a listed resource is read under the URI its server gave it."""
    uri = str(capability.metadata["uri"])
    exact = [one for one in view.resources.meant_by(uri) if one.metadata.get("uri") == uri]
    return view.owner(claim_of(capability), {one.provider for one in exact}) == capability.provider
