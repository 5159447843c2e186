"""Texts as stems, each language by its own rules."""

import re
import unicodedata

from prowess.cards.language import primary, small_words
from prowess.text.stems import stem

WORD = re.compile(r"[^\W_]+(?:['\u2019+#-][^\W_]+)*[+#]*")
POSSESSIVE = re.compile(r"['\u2019]s$")
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
LONGEST_TEXT = 20_000


class Stems:
    """Reads texts of one language as stems."""

    def __init__(self, language: str) -> None:
        self._language = primary(language) or "en"
        self._small = frozenset(map(self._stem, small_words().get(self._language, ())))

    def of(self, text: str) -> frozenset[str]:
        """Every stem of a text, small words included."""
        folded = unicodedata.normalize("NFKC", text[:LONGEST_TEXT]).casefold()
        return frozenset(stem for word in WORD.findall(folded) for stem in self._stems(word))

    def telling(self, text: str) -> frozenset[str]:
        """The stems that say what a text is about."""
        return self.of(text) - self._small

    def _stems(self, word: str) -> list[str]:
        if UNSPACED.search(word):
            # No spaces to go by: every pair of neighbours stands for a word.
            return [word[at : at + 2] for at in range(len(word) - 1)] or [word]
        parts = [word, *word.split("-")] if "-" in word else [word]
        return [self._stem(part) for part in parts if part]

    def _stem(self, word: str) -> str:
        return stem(POSSESSIVE.sub("", word), self._language)
