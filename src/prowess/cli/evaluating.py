"""The commands of `prowess evolve` by which people and programs evaluate an agent, or say how good it is."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from prowess.cli.session import connected, emit, json_option, say
from prowess.errors import EvolutionError
from prowess.evolution.scores import parse_axes
from prowess.operations import evolution as ops
from prowess.types import DEFAULT_AGENT, Json

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Only say what would happen; nothing is written or switched."
)
agent_option = click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="Whose evolution.")
score_option = click.option(
    "--score", "scores", multiple=True, metavar="AXIS=VALUE",
    help="One axis, from 0 to 1, or autonomy from L0 to L5; may be repeated.",
)  # fmt: skip


@click.command()
@score_option
@click.option("--scores", "file", type=click.Path(), help="Some axes or all of them, as a JSON object.")
@dry_run_option
@agent_option
@json_option
def evaluate(scores: tuple[str, ...], file: str | None, dry_run: bool, agent: str, as_json: bool) -> None:
    """Evaluate an agent now; axes without a score are computed from the journal."""
    given = {**(_read(Path(file)) if file else {}), **_scores(scores)}
    asked = ops.Evaluate(scores=_asked(given) if given else None, dry_run=dry_run)
    with connected() as backend:
        done = backend.call(ops.evaluate, asked, agent=agent)
    if as_json:
        emit(done)
        return
    say_if_dry(dry_run)
    _say_evaluated(done)


@click.command()
@click.argument("trigger")
@click.option("--reason", required=True, help="Why, for people.")
@click.option(
    "--provider", default="", help="The provider that brings the gain, or that is to be switched off."
)
@click.option("--faculty", default="", help="What is gained.")
@dry_run_option
@agent_option
@json_option
def trigger(
    trigger: str, reason: str, provider: str, faculty: str, dry_run: bool, agent: str, as_json: bool
) -> None:
    """Trigger a transition, such as SafetyBreach or CapabilityGain, because of something outside prowess."""
    order = ops.Order(trigger=trigger, reason=reason, provider=provider, faculty=faculty, dry_run=dry_run)
    with connected() as backend:
        done = backend.call(ops.trigger, order, agent=agent)
    if as_json:
        emit(done)
    else:
        say_if_dry(dry_run)
        _say_evaluated(done)


@click.command()
@click.argument("scores", nargs=-1, required=True, metavar="AXIS=VALUE...")
@click.option("--source", default="", help="What measured it, such as the name of an evaluation tool.")
@agent_option
def contribute(scores: tuple[str, ...], source: str, agent: str) -> None:
    """Say how good an agent is on some axes; the next evaluation counts it."""
    asked = ops.Contribution(scores=_asked(_scores(scores)), source=source)
    with connected() as backend:
        backend.call(ops.contribute, asked, agent=agent)
    say(f"counted at the next evaluation of {agent}")


@click.command()
@click.argument("what")
@click.option("--capability", default="", help="What it was done with.")
@agent_option
def violation(what: str, capability: str, agent: str) -> None:
    """Report that an agent did something it must never do; WHAT describes it."""
    with connected() as backend:
        backend.call(ops.report_violation, ops.Violation(what=what, capability=capability), agent=agent)
    say(f"the safety of {agent} is 0 at its next evaluation; to evaluate it now: prowess evolve evaluate")


@click.command()
@click.argument("what")
@agent_option
def intervention(what: str, agent: str) -> None:
    """Report that a person corrected something an agent did; WHAT describes it."""
    with connected() as backend:
        backend.call(ops.report_intervention, ops.Intervention(what=what), agent=agent)
    say(f"counted at the next evaluation of {agent}")


@click.command()
@agent_option
def accept(agent: str) -> None:
    """Accept a proposal: switch off the likeliest cause of a regression, to see whether that helps."""
    _answer(agent, True)


@click.command()
@agent_option
def decline(agent: str) -> None:
    """Decline a proposal: nothing is switched off, and the lower fitness counts as normal from now on."""
    _answer(agent, False)


def _answer(agent: str, accepted: bool) -> None:
    with connected() as backend:
        _say_evaluated(backend.call(ops.answer, ops.ProposalAnswer(accept=accepted), agent=agent))


EVALUATING = (evaluate, trigger, contribute, violation, intervention, accept, decline)


# --- for people ------------------------------------------------------------------------------


def say_if_dry(dry_run: bool) -> None:
    if dry_run:
        say("nothing is written or switched; it would be:")


def say_rolled_back(done: ops.Evaluated, wanted: int) -> None:
    """What a rollback brought back, and what it switched."""
    target = done.restored
    if target is None:
        say(f"{done.agent} is stopped: {done.stopped}; run: prowess evolve resume --agent {done.agent}")
        return
    further = f" (generation {wanted} was brought back three times already)" if target != wanted else ""
    say(f"generation {done.generation} brings back generation {target}{further}")
    for provider in done.off:
        way_back = f"prowess provider on {provider} --agent {done.agent}"
        say(f"{provider} is off for {done.agent}; to have it back, run: {way_back}")
    for provider in done.on:
        say(f"{provider} is on for {done.agent}")
    for provider in done.kept_off:
        say(f"{provider} stays off: a person decided it")
    for provider, why in done.missing.items():
        say(f"{provider} stays away: {why}")


def _say_evaluated(done: ops.Evaluated) -> None:
    for event in done.events:
        if line := _told(event):
            say(line)
    if done.restored is not None:
        say_rolled_back(done, done.restored)
    elif done.stopped:
        say(f"{done.agent} is stopped: {done.stopped}; run: prowess evolve resume --agent {done.agent}")
    said = done.trigger or "nothing to note"
    say(f"{done.agent}: {said}; generation {done.generation}, fitness {done.fitness:.3f}")


def _told(event: Json) -> str:
    """What a person wants to know of an event besides the generation that it led to."""
    match event:
        case {"type": "EvolutionTrial", "reason": reason}:
            return str(reason)
        case {"type": "EvolutionCapability", "provider": provider, "faculty": faculty}:
            verbs = {"lost": "no longer brings", "returned": "is back and brings"}
            verb = verbs.get(event.get("direction", ""), "brings")
            cause = f" ({event['cause']})" if event.get("cause") else ""
            return f"{provider} {verb} {faculty}{cause}"
        case {"type": "EvolutionWarning", "affected_area": area, "direction": direction}:
            return f"warning: {area}: {direction}; {event.get('suggestion', '')}"
        case {"type": "EvolutionBreach", "detail": detail}:
            return f"breach: {detail}"
    return ""


# --- reading ---------------------------------------------------------------------------------


def assigned(text: str, example: str) -> tuple[str, str]:
    """Name and value of `name=value`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise EvolutionError(text, "is no assignment", f"write {example}")
    return name.strip(), value.strip()


def value_of(text: str) -> Json:
    """A value as JSON writes it; a word as it stands."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _scores(given: Sequence[str]) -> dict[str, Json]:
    said = (assigned(one, "AXIS=VALUE, such as cognitive=0.8") for one in given)
    return {axis: value_of(value) for axis, value in said}


def _asked(given: dict[str, Json]) -> ops.ScoresAsked:
    return msgspec.convert(parse_axes(given), ops.ScoresAsked)


def _read(file: Path) -> dict[str, Json]:
    try:
        data = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError) as failure:
        remedy = 'give a file with an object such as {"cognitive": 0.8, "autonomy": "L3"}'
        raise EvolutionError(str(file), f"cannot be read ({failure})", remedy) from None
    return dict(parse_axes(data, str(file)))
