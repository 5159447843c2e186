"""Draw the diagrams of docs/concepts: `python -m scripts.diagrams`.

Each is a row of boxes with arrows between them: six pages look alike, and a change is one of words.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "images"
Box = tuple[str, ...]
"""A title, and lines below it."""

DIAGRAMS: Mapping[str, Sequence[Box]] = {
    "what-exists": (
        ("Sources", "functions, servers,", "skills, OpenAPI"),
        ("Sync", "read, judge,", "compare"),
        ("Catalogue", "one id each,", "versions by content"),
        ("Held back", "what changed waits", "for a person"),
    ),
    "what-it-may-use": (
        ("Agent", "a name,", "perhaps a parent"),
        ("Profile", "grants it holds,", "overrides"),
        ("Patterns", "of ids, effects,", "providers"),
        ("Decision", "allow, ask, deny,", "with the reason"),
    ),
    "what-it-needs-now": (
        ("Request", "split into", "its needs"),
        ("Words, meaning", "two rankings,", "made one"),
        ("Graph", "dependencies and", "companions"),
        ("Hits", "scored 0 to 1,", "with reasons"),
    ),
    "what-the-model-sees": (
        ("Hits", "what fits and", "is allowed"),
        ("Three tiers", "map, lines, pages,", "within budgets"),
        ("Guard", "no text passes", "for another voice"),
        ("Offer", "text and tools", "for the model"),
    ),
    "what-changed": (
        ("Outcomes", "of calls and", "people"),
        ("Evaluation", "five axes,", "one fitness"),
        ("Generation", "what it could do,", "when, and why"),
        ("Rollback", "a provider is off", "for this agent"),
    ),
    "what-to-keep": (
        ("Outcomes", "what answered", "which request"),
        ("Lessons, gaps", "what worked,", "what was missing"),
        ("Gates", "on requests it was", "not learned from"),
        ("Source", "read by the", "next sync"),
    ),
}
WIDTH, HEIGHT, GAP, EDGE = 168, 84, 36, 8
LINE = 18


def drawn(name: str, boxes: Sequence[Box]) -> str:
    """One diagram as SVG; what it shows is also its title, for who cannot see it."""
    width = 2 * EDGE + len(boxes) * WIDTH + (len(boxes) - 1) * GAP
    said = ", then ".join(": ".join((box[0], " ".join(box[1:]))) for box in boxes)
    parts = "".join("".join(_box(index, box)) for index, box in enumerate(boxes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 2 * EDGE}" width="{width}"'
        f' role="img" font-family="system-ui, sans-serif" text-anchor="middle" font-size="13">\n'
        f"<title>{escape(name.replace('-', ' '))}: {escape(said)}</title>\n{parts}</svg>\n"
    )


def _box(index: int, box: Box) -> Iterator[str]:
    left = EDGE + index * (WIDTH + GAP)
    middle, centre = left + WIDTH / 2, EDGE + HEIGHT / 2
    if index:
        tip = left - 4
        arrow = f"M{left - GAP + 4} {centre}H{tip}m-7 -5l7 5l-7 5"
        yield f'<path d="{arrow}" fill="none" stroke="#7a8785" stroke-width="2"/>\n'
    yield (
        f'<rect x="{left}" y="{EDGE}" width="{WIDTH}" height="{HEIGHT}" rx="8"'
        f' fill="#e3f1ee" stroke="#12695c" stroke-width="1.5"/>\n'
    )
    for line, text in enumerate(box):
        weight, colour = ("600", "#0b3d36") if line == 0 else ("400", "#33443f")
        y = EDGE + 28 + line * LINE
        yield f'<text x="{middle:g}" y="{y}" fill="{colour}" font-weight="{weight}">{escape(text)}</text>\n'


if __name__ == "__main__":
    for name, boxes in DIAGRAMS.items():
        (FOLDER / f"{name}.svg").write_text(drawn(name, boxes), encoding="utf-8")
