"""How much each thing that is read of a message speaks for a card."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CardWeights:
    """One for each thing that is read, and where the score starts."""

    keyword: float
    said: float
    meaning: float
    behind: float
    offset: float


# Fitted by `python -m bench.cards --tune`.
WITH_MEANING = CardWeights(keyword=3.66, said=1.26, meaning=8.75, behind=-9.14, offset=-3.16)
WORDS_ALONE = CardWeights(keyword=5.94, said=3.6, meaning=0.0, behind=0.0, offset=-3.91)
