"""A tool that only sounds like a request stands behind the one that does it, where a model searches."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from prowess.discovery.corpus import Corpus
from prowess.discovery.encoder import SHIPPED, Encoder, shipped_as
from prowess.discovery.fusion import Calibration
from prowess.discovery.ranking import Options, ParsedRequest, Ranker
from prowess.discovery.reader import MOST_READ, PairReader, in_read_order, reader_for
from prowess.discovery.reranking import Candidate
from prowess.discovery.text import embedding_text
from prowess.errors import EncoderUnavailable
from prowess.testing import capability
from prowess.types import Hit

TOOLS = [
    capability("tool:create_booking", "Book a room for a time."),
    capability("tool:cancel_booking", "Cancel a booking of a room."),
    capability("tool:list_rooms", "List the rooms of the building with their seats."),
    capability("tool:post_to_group", "Write a message to everybody in a group."),
    capability("tool:read_group", "Read the latest messages of a group."),
    capability("tool:convert_currency", "Convert an amount from one currency to another."),
    capability("tool:get_exchange_rate", "The current exchange rate of two currencies."),
    capability("tool:save_draft", "Keep a letter as a draft without sending it."),
    capability("tool:send_letter", "Send a letter to somebody."),
]
LOOSELY = Options(min_relevance=0.0, use_graph=False)
CLOSELY = Options(min_relevance=0.0, use_graph=False, read_closely=True)
WORTH = "what is a dollar worth in yen right now"


@pytest.mark.parametrize(
    ("request_", "meant", "alike"),
    [
        ("we do not need the room any more", "cancel_booking", "list_rooms"),
        (WORTH, "get_exchange_rate", "convert_currency"),
        ("write to Ines that the contract is signed", "send_letter", "post_to_group"),
    ],
)
def test_what_does_it_comes_before_what_is_only_near(
    request_: str, meant: str, alike: str, shop: "Shop"
) -> None:
    assert shop.search(request_, LOOSELY)[0].id == f"tool:{alike}"
    assert shop.search(request_, CLOSELY)[0].id == f"tool:{meant}"


def test_how_well_the_places_fit_stays_the_same(shop: "Shop") -> None:
    loosely, closely = shop.search(WORTH, LOOSELY), shop.search(WORTH, CLOSELY)
    assert [hit.score for hit in closely] == [hit.score for hit in loosely]
    assert {hit.id for hit in closely} == {hit.id for hit in loosely}


@pytest.mark.parametrize(
    "request_",
    [
        "cancel the booking of the room, then write a message to the sales group",
        "convert_currency: what is a dollar worth in yen right now",
    ],
)
def test_several_needs_and_what_is_called_by_name_keep_their_order(request_: str, shop: "Shop") -> None:
    assert shop.search(request_, CLOSELY) == shop.search(request_, LOOSELY)


def test_without_a_reader_the_search_is_what_it_was(shop: "Shop") -> None:
    alone = Shop(shop.corpus, shop.encoder, None)
    assert alone.search(WORTH, CLOSELY) == shop.search(WORTH, LOOSELY)


def test_what_is_read_of_a_tool_does_not_depend_on_the_others(reader: PairReader) -> None:
    texts = [embedding_text(each) for each in TOOLS]
    together = reader(WORTH, texts)
    assert together == [PairReader.open()(WORTH, [text])[0] for text in texts]


def test_at_most_a_handful_is_read_and_nothing_where_one_is_far_ahead() -> None:
    read: list[str] = []

    def reading(request: str, tools: Sequence[str]) -> list[float]:
        read.extend(tools)
        return [float(len(tool)) for tool in tools]

    near = [Candidate("x" * (each + 1), 3.0 - each / 100) for each in range(20)]
    found = in_read_order(near, str, "anything", reading)
    assert len(read) == MOST_READ
    assert [each.id for each in found[MOST_READ:]] == [each.id for each in near[MOST_READ:]]
    assert found[0].id == near[MOST_READ - 1].id
    read.clear()
    sure = [Candidate("sure", 9.0), Candidate("other", 2.0)]
    assert in_read_order(sure, str, "anything", reading) == sure
    assert not read


def test_half_a_character_and_endless_texts_can_be_read(reader: PairReader) -> None:
    assert all(abs(odds) < 100 for odds in reader("\ud800" + "long " * 50_000, ["", "x " * 50_000]))


def test_only_files_that_were_shipped_together_are_read(tmp_path: Path, encoder: Encoder) -> None:
    assert reader_for(shipped_as(encoder.digest)) is not None
    assert reader_for("given:my-model-2") is None
    with pytest.raises(EncoderUnavailable):
        PairReader.open(tmp_path)
    for name in ("digests.json", "model.onnx", "reader.json", "reader.onnx", "tokenizer.json"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    with (tmp_path / "reader.onnx").open("r+b") as network:
        network.seek(5_000_000)
        network.write(b"altered")
    with pytest.raises(EncoderUnavailable, match="shipped"):
        PairReader.open(tmp_path)


class Shop:
    """A few tools and what searches them."""

    def __init__(self, corpus: Corpus, encoder: Encoder, reader: PairReader | None) -> None:
        self.corpus, self.encoder, self._reader = corpus, encoder, reader

    def search(self, request: str, options: Options) -> tuple[Hit, ...]:
        read = ParsedRequest(self.corpus, request, self.encoder, None, lambda: self._reader)
        return Ranker(self.corpus, Calibration.read()).search(read, None, options)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.open()


@pytest.fixture(scope="module")
def reader() -> PairReader:
    return PairReader.open()


@pytest.fixture(scope="module")
def shop(encoder: Encoder, reader: PairReader) -> Shop:
    corpus = Corpus()
    corpus.put(TOOLS)
    vectors = encoder([embedding_text(each) for each in TOOLS])
    corpus.give_vectors({each.id: vector for each, vector in zip(TOOLS, vectors, strict=True)})
    return Shop(corpus, encoder, reader)
