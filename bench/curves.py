"""Curves over the size of something, both axes logarithmic, as one SVG of panels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 250, 58, 16, 34, 62
COLOURS = ("#2456a6", "#c2571a", "#2c7a4b", "#7a3c96")


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: a title with its unit, and lines of (size, value) by name."""

    title: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    asked: float | None = None
    """What is asked for, as a dashed line."""


def drawn(panels: Sequence[Panel], columns: int = 2) -> str:
    """The panels side by side."""
    rows = -(-len(panels) // columns)
    places = [(WIDTH * (number % columns), HEIGHT * (number // columns)) for number in range(len(panels))]
    parts = [
        f'<g transform="translate({x} {y})">{_panel(one)}</g>'
        for (x, y), one in zip(places, panels, strict=True)
    ]
    size = f'width="{WIDTH * columns}" height="{HEIGHT * rows}"'
    style = 'font-family="sans-serif" font-size="11" fill="#333"'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _panel(panel: Panel) -> str:
    points = [point for line in panel.lines.values() for point in line]
    values = [value for _, value in points] + ([panel.asked] if panel.asked else [])
    across = _scale([size for size, _ in points], LEFT, WIDTH - RIGHT)
    down = _scale(values, HEIGHT - BOTTOM, TOP)
    parts = [f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold">{escape(panel.title)}</text>']
    for value in _ticks(values):
        y = down(value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{value:g}</text>')
    for size in sorted({size for size, _ in points}):
        x, label = across(size), f"{size:,.0f}"
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>')
    if panel.asked:
        y = down(panel.asked)
        dashes = 'stroke="#999" stroke-dasharray="5 4"'
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" {dashes}/>')
        parts.append(f'<text x="{WIDTH - RIGHT}" y="{y - 4}" text-anchor="end" fill="#777">asked</text>')
    for number, (name, line) in enumerate(panel.lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{across(size)},{down(value)}" for size, value in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for size, value in line:
            parts.append(f'<circle cx="{across(size)}" cy="{down(value)}" r="3" fill="{colour}"/>')
        x, y = LEFT + 150 * (number % 2), HEIGHT - BOTTOM + 34 + 15 * (number // 2)
        parts.append(f'<rect x="{x}" y="{y - 8}" width="9" height="9" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="{y}">{escape(name)}</text>')
    return "".join(parts)


def _scale(values: Sequence[float], low: float, high: float) -> Callable[[float], float]:
    """From a value to a place between two ends."""
    first, last = log10(min(values)), log10(max(values))
    pad = 0.06 * max(last - first, 0.1)

    def place(value: float) -> float:
        share = (log10(value) - first + pad) / (last - first + 2 * pad)
        return round(low + share * (high - low), 1)

    return place


def _ticks(values: Sequence[float]) -> list[float]:
    """One, two and five times the powers of ten between the least and the most."""
    first, last = floor(log10(min(values))), ceil(log10(max(values)))
    every = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
    return [value for value in every if min(values) * 0.95 <= value <= max(values) * 1.05]
