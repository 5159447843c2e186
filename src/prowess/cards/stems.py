"""Texts as stems, each language by its own rules: `scheduled` meets `schedule`, `cost` not `costume`."""

import re
import unicodedata

from snowballstemmer import stemmer

from prowess.cards.language import primary, small_words

WORD = re.compile(r"[^\W_]+(?:['\u2019+#-][^\W_]+)*[+#]*")
POSSESSIVE = re.compile(r"['\u2019]s$")
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
STEMMED = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
LONGEST_WORD = 64
LONGEST_TEXT = 20_000
REMEMBERED = 50_000


class Stems:
    """Reads texts of one language as stems, and remembers every word it has met."""

    def __init__(self, language: str) -> None:
        language = primary(language) or "en"
        self._algorithm = STEMMED.get(language, "")
        self._known: dict[str, str] = {}
        self._small = frozenset(map(self._learn, small_words().get(language, ())))

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
        return [self._known.get(part) or self._learn(part) for part in parts if part]

    def _learn(self, word: str) -> str:
        plain = POSSESSIVE.sub("", word)[:LONGEST_WORD]
        # A stemmer keeps state while it works, so each call has its own and threads do not meet.
        stem: str = stemmer(self._algorithm).stemWord(plain) if self._algorithm and plain.isalpha() else plain
        if len(self._known) < REMEMBERED:
            self._known[word] = stem
        return stem
