"""How the scripted model reads what a search shows: a few numbers for each tool, and what each is worth.

The numbers say what anybody sees who reads name, description and parameters beside the need; which of them
matters how much was fitted by `bench.tasks.fitting`, and is the same for every tool, task and way. Above:
the model, which takes what is worth most, if it is worth anything. Below: arguments, and the encoder that
prowess ships, which stands for understanding what one reads.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.tasks.arguments import Filled, filled
from bench.tasks.found import Found
from bench.tasks.task import Step
from prowess.discovery.reader import PairReader
from prowess.discovery.text import Words, split_name

WEIGHTS = Path(__file__).with_name("weights.json")
WORDS = Words()
QUESTIONS = frozenset(
    ("what", "which", "who", "whose", "when", "where", "how", "why", "is", "are", "do", "does", "did")
)
LONGEST_SENTENCE = 200
SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
TOKEN = re.compile(r"[#@\w][\w@.:/#\-]*\w|\w")

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
Evidence = Mapping[str, float]

NUMBERS: Mapping[str, str] = {
    "any": "1 for every tool, against calling nothing",
    "place": "the logarithm of its place in the answer",
    "weak": "whether it was shown as weak",
    "read": "the log-odds of prowess's reader that it does what the need says",
    "near": "ten times the cosine of the need and its server, name and first sentence",
    "covered": "the share of the words of its name that the need says",
    "acts": "whether it may change something where something was asked",
    "spoken": "ten times the mean cosine of what was said, by name, and its parameter that is nearest to it",
    "left": "the share of what was said that it has no parameter for",
    "missing": "how many required parameters got what nobody said, where values were said",
    "ids": "how many ids it requires, where no values were said",
    "forms": "the share of forms in the need, such as WEB-12, #ops or a.txt, that it speaks of as well",
}


class Reading:
    def __init__(self, encode: Encode, reader: PairReader, weights: Mapping[str, float]) -> None:
        self._encode = encode
        self._reader = reader
        self._weights = weights
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def evidence(self, step: Step, found: Found, place: int, given: Filled | None) -> Evidence:
        """The numbers.

        place: where it stands in the answer, from 1 on.
        given: what it would be called with; nothing while only the names of its parameters are known, which
            then count as fitting: whether they do is seen by whoever asks for its schema.
        """
        need = step.meaning
        name = set(WORDS.terms(found.name))
        first = SENTENCE_END.split(found.says.strip())[0][:LONGEST_SENTENCE]
        return {
            "any": 1.0,
            "place": log(place),
            "weak": float(found.weak),
            "read": self._reader(need, [told_of(found)])[0],
            "near": 10 * float(self._vector(need) @ self._vector(f"{found.server} {found.name}: {first}")),
            "covered": len(name.intersection(WORDS.terms(need))) / max(len(name), 1),
            "acts": float(found.acts and asks(need)),
            **self._of_parameters(step, found, given),
        }

    def worth(self, evidence: Evidence) -> float:
        return sum(self._weights[name] * value for name, value in evidence.items())

    def _of_parameters(self, step: Step, found: Found, given: Filled | None) -> Evidence:
        """What the parameters say; for a step without values only by their names and forms."""
        said, forms = len(step.values), forms_in(step.meaning)
        if found.schema is None or given is None:
            spoken = 10 * self._nearest(list(step.values), found.parameters)
            return {"spoken": spoken, "left": 0.0, "missing": 0.0, "ids": 0.0, "forms": float(bool(forms))}
        properties, required = found.schema.get("properties") or {}, found.schema.get("required") or ()
        shown = f"{json.dumps(properties)} {found.says}"
        return {
            "spoken": 10 * self._nearest(list(step.values), list(properties)),
            "left": (said - given.placed) / max(said, 1),
            "missing": float(given.guessed + given.unknown) if said else 0.0,
            "ids": 0.0 if said else float(sum(map(is_id, required))),
            "forms": len(forms & forms_in(shown)) / max(len(forms), 1),
        }

    def _nearest(self, said: Sequence[str], parameters: Sequence[str]) -> float:
        """How near each name is to one of the parameters, on average."""
        if not said or not parameters:
            return 0.0
        names = np.stack([self._vector(split_name(one)) for one in said])
        near = names @ np.stack([self._vector(split_name(one)) for one in parameters]).T
        return float(near.max(1).mean())

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        if text not in self._known:
            self._known[text] = self._encode([text])[0]
        return self._known[text]


def told_of(found: Found) -> str:
    """What is shown of a tool, as the reader learnt to read tools."""
    own = found.id.partition("/")[2]
    parameters = ", ".join((found.schema or {}).get("properties") or found.parameters)
    return f"{found.server.title()}: {found.name.title()} ({own})\n{found.says}\nParameters: {parameters}"


def asks(need: str) -> bool:
    """Whether it wants to know something; then nothing is to be changed."""
    return need.split(" ", 1)[0].lower() in QUESTIONS or need.endswith("?")


def is_id(parameter: str) -> bool:
    return any(word in ("id", "ids") for word in split_name(parameter).lower().split())


def forms_in(text: str) -> set[str]:
    """How words are written that are no plain words: `WEB-12` and `OPS-7` have one form, `a.txt` another."""
    return {form_of(word) for word in TOKEN.findall(text)} - {""}


def form_of(word: str) -> str:
    if word.isalpha() and (word.islower() or word.istitle()):
        return ""
    capitals = re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "0", word))
    return re.sub(r"[a-z]+", "a", capitals)


def read_weights(file: Path = WEIGHTS) -> dict[str, float]:
    weights: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
    return weights


def arguments_for(step: Step, found: Found, around: Mapping[str, Any]) -> Filled | None:
    """What it would be called with; nothing where something required cannot even be guessed."""
    return filled(found.schema or {}, step.values, around)
