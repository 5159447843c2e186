"""Which language a message is in, and which of several cards on one thing speaks it.

Cards on one thing in several languages share a name that ends in the language: `calendar`,
`calendar-de`, `calendar.ja`. Scripts tell most languages apart; those that share the Latin
letters are told by their small words, which also are no sign of what a text is about.
"""

import re
from collections.abc import Mapping, Sequence

from prowess.cards.card import Card

SMALL_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """
            a about after all an and any are as at be been before but by can could did do does
            doing for from get give had has have he her here him his how i if in into is it its
            just let like me my no not now of off on one or our out over please put she should
            so some such than that the their them then there these they this to too up us was we
            were what when where which while who why will with would you your
            """,
        "de": """
            aber alle als am an auch auf aus bei bin bis bitte da das dass dein dem den der des
            dich die dies dir du ein eine einen einer es für gar geht habe haben hat heute ich
            ihm ihn ihr im in ist ja kann kein mach man mein meine meinem meinen mich mir mit
            muss nach nicht noch nur oder ob schon sein sich sie sind so stell und uns unter von
            vor war was wenn wer wie wieder wir wird wo zu zum zur
            """,
        "es": """
            a al algo como con cuando de del desde donde dónde el ella en entre era es esta este
            esto estoy está ha hay la las le lo los me mi mis muy más no nos o para pero por qué
            que cuál quién se si sin sobre son su sus te tengo tiene tu un una unos y ya yo
            """,
        "fr": """
            à au aux avec ce ces cette c'est d'un dans de des du elle en est et il ils j'ai je
            la le les leur lui ma mais me mes moi mon ne nous on ou où par pas pour qu'est que
            qui quel quelle sa se ses son sur ta te tes tu un une vous y
            """,
        "it": """
            al alla anche che chi ci come con cosa da dal del della delle di dove e è gli ha ho
            i il in io la le lo ma mi mia mio nel nella non per più perché quale quando questo
            se si sono su tu un una uno
            """,
        "pt": """
            a ao as com como da das de do dos e é ela ele em essa está eu foi isso já lhe mais
            mas me meu minha na não nas no nos o os ou para pela pelo por qual quando que se sem
            ser seu sua são também tem um uma você
            """,
        "nl": """
            aan al als bij dat de deze die dit door een en er geen had heb heeft het hij hoe ik
            in is je kan maar me mijn naar niet nog of om ook op te tot uit van voor wat we wel
            wij ze zijn zo
            """,
        "sv": """
            att av de den det du ett en för från har hon hur i inte jag kan med men mig min mitt
            nu när om och på som till upp var vi vad är
            """,
        "pl": """
            ale bo by być co czy dla do jak jest ja się w z na nie o od po że to ten tym mi mnie
            mam za i
            """,
    }.items()
}

SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
MAX_DETECTED_CHARACTERS = 2000
DEFAULT = "en"


def language_of(text: str) -> str:
    """The language of a text as its two letters; empty when nothing tells."""
    said = text[:MAX_DETECTED_CHARACTERS].casefold()
    for language, script in SCRIPTS:
        if len(script.findall(said)) * 3 > sum(map(str.isalpha, said)):
            return language
    words = [word.replace("\u2019", "'") for word in WORD.findall(said)]
    found = {language: sum(word in small for word in words) for language, small in SMALL_WORDS.items()}
    best = max(found, key=lambda language: found[language])
    return best if found[best] else ""


def spoken(cards: Sequence[Card], language: str) -> tuple[list[Card], list[Card]]:
    """The cards to use for a language, and those whose place another card takes."""
    groups: dict[str, list[Card]] = {}
    for card in cards:
        groups.setdefault(_thing(card), []).append(card)
    used = [min(group, key=lambda card: _distance(card, language)) for group in groups.values()]
    ids = {card.id for card in used}
    return [card for card in cards if card.id in ids], [card for card in cards if card.id not in ids]


def _thing(card: Card) -> str:
    language = card.language.casefold()
    name = card.name.casefold()
    return name.removesuffix(f"-{language}").removesuffix(f".{language}") if language else name


def _distance(card: Card, language: str) -> tuple[int, str]:
    own = primary(card.language)
    order = (primary(language), "", DEFAULT)
    return (order.index(own) if own in order else len(order)), card.id


def primary(language: str) -> str:
    """`de` of `de-AT`."""
    return language.casefold().replace("_", "-").partition("-")[0]
