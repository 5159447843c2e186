"""The pipeline that makes the encoder, as far as it needs no torch; `train/check.sh` runs the rest."""

import json
from math import erf
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from prowess.discovery.encoder import DIMENSIONS, Encoder
from prowess.discovery.text import embedding_text
from prowess.types import Capability
from train.bench import Bench, Query, Tool, read_bench
from train.kinds import Amounts
from train.negatives import mine
from train.pairs import Pair, pairs_of, read_pairs, write_pairs
from train.paraphrase import ask_for, join, reword
from train.report import Speed, table, worst
from train.score import judge, mean_ndcg, rank, score
from train.shelf import Columns, Guide, Shelf, also_right, batches, compare, lay_out, shelve
from train.text import display_name, thinned_text, tool_text
from train.tiny import VOCABULARY, Weights, random_weights, tokenizer, write_set

Vector = npt.NDArray[np.float32]

WEATHER = Tool("weather", "getWeather", "Retrieves the weather. Sunny or not.", {"city": "e.g., Paris, Rome"})
FORECAST = Tool("forecast", "get_forecast", "Forecasts the weather of a week.", {"days": ""}, category="Air")
MAIL = Tool("mail", "send_mail", "Sends a mail.", {"to": "", "body": ""}, tags=("letters",))
TWIN = Tool("twin", "sendMail2", "Sends a mail.")
TOOLS = (WEATHER, FORECAST, MAIL, TWIN)


def asked(text: str, *gold: str, split: str = "train") -> Query:
    assert split in ("train", "test")
    return Query(text, text, gold, {}, "train" if split == "train" else "test")


RAIN = asked("Will it rain? I want to know.", "weather")
BOTH = asked("mail me the forecast", "forecast", "mail")
BENCH = Bench("tiny", TOOLS, (RAIN, BOTH, asked("secret", "weather", split="test")))
PAIRS = pairs_of(BENCH, BENCH.of_split("train"), Amounts(reworded=1, joined=1, named=1), Random(1))


# --- reading ---------------------------------------------------------------------------------------


def test_a_set_is_read_with_its_tools_queries_and_splits(tmp_path: Path) -> None:
    tool = {"id": "t", "name": "n", "description": "d", "parameters": {"p": ""}, "category": None}
    query = {"id": "q", "query": "do", "gold": ["t"], "alternatives": {"t": ["u"]}, "split": "train"}
    (tmp_path / "tools.jsonl").write_text(json.dumps(tool) + "\n")
    (tmp_path / "queries.jsonl").write_text(json.dumps(query) + "\n")
    bench = read_bench(tmp_path)
    assert bench.tools == (Tool("t", "n", "d", {"p": ""}),)
    assert bench.of_split("test") == []
    assert bench.queries[0].right() == {"t", "u"}


def test_the_tiny_sets_can_be_learned_from(tmp_path: Path) -> None:
    write_set(tmp_path, ("send", "read"))
    bench = read_bench(tmp_path)
    pairs = pairs_of(bench, bench.of_split("train"), Amounts(), Random(1))
    assert {pair.tool for pair in pairs} == {tool.id for tool in bench.tools}


def test_the_sample_is_the_same_each_time_and_at_most_2000() -> None:
    bench = Bench("large", (), tuple(asked(str(n), "weather") for n in range(3000)))
    assert bench.sample("train") == bench.sample("train")
    assert len(bench.sample("train")) == 2000


# --- texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_is_written_down_as_the_package_writes_it(tool: Tool) -> None:
    capability = Capability(
        id=tool.id, kind="tool", name=tool.name, display_name=display_name(tool.name),
        description=tool.description, category=tool.category, tags=tool.tags,
        parameters=tuple(tool.parameters or ()),
    )  # fmt: skip
    assert tool_text(tool) == embedding_text(capability)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("getHTTPStatus", "Get HTTP Status"),
        ("send_mail2", "Send Mail 2"),
        ("获取天气", "获取天气"),
        ("--", "--"),
    ],
)
def test_an_identifier_is_shown_as_words(identifier: str, words: str) -> None:
    assert display_name(identifier) == words


def test_a_thinned_text_keeps_the_name_and_loses_fields_now_and_then() -> None:
    texts = {thinned_text(MAIL, Random(seed)) for seed in range(50)}
    assert len(texts) > 5
    assert all(text.startswith("Send Mail") for text in texts)


# --- requests --------------------------------------------------------------------------------------


def test_a_request_made_from_a_description_speaks_of_what_the_tool_does() -> None:
    wishes = [ask_for(WEATHER, Random(seed)) for seed in range(30)]
    assert len(set(wishes)) > 10
    assert all("weather" in request or "sunny" in request.lower() for request in wishes if len(request) > 40)
    assert any("Paris" in request or "Rome" in request for request in wishes)


def test_a_reworded_request_is_never_empty() -> None:
    assert all(reword(text, Random(seed)) for seed in range(50) for text in ("Can you help me?", "x", "the"))


def test_a_joined_request_holds_both() -> None:
    both = [join("Play jazz.", "Call mum.", Random(seed)) for seed in range(20)]
    assert all("lay jazz" in request and "all mum" in request for request in both)


# --- pairs -----------------------------------------------------------------------------------------


def test_nothing_is_learned_from_test_queries() -> None:
    assert all("secret" not in pair.request for pair in PAIRS)


def test_every_kind_of_pair_is_drawn() -> None:
    assert {pair.kind for pair in PAIRS} == {"asked", "reworded", "joined", "asked_for", "named"}


def test_a_query_with_two_right_tools_gives_a_pair_for_each() -> None:
    both = [pair for pair in PAIRS if pair.request == BOTH.text and pair.kind == "asked"]
    assert {pair.tool for pair in both} == {"forecast", "mail"}


def test_tools_that_no_request_could_tell_apart_are_all_right() -> None:
    assert all({"mail", "twin"} <= set(pair.right) for pair in PAIRS if pair.tool == "mail")


def test_a_seed_gives_the_same_pairs_again_also_from_a_file(tmp_path: Path) -> None:
    again = pairs_of(BENCH, BENCH.of_split("train"), Amounts(reworded=1, joined=1, named=1), Random(1))
    write_pairs(PAIRS, tmp_path / "pairs.jsonl")
    assert PAIRS == again == read_pairs(tmp_path / "pairs.jsonl")


# --- negatives and batches -------------------------------------------------------------------------


def test_near_misses_are_wrong_tools_without_the_very_nearest() -> None:
    tools = [f"t{place}" for place in range(40)]
    known = np.stack([np.cos(np.arange(40) / 30), np.sin(np.arange(40) / 30)], axis=1).astype(np.float32)
    (misses,) = mine(known[:1], [["t0", "t2"]], tools, known)
    assert misses == [f"t{place}" for place in range(4, 27)]


def small_shelf() -> Shelf:
    known = np.eye(4, dtype=np.float32)
    known[1] = [0.95, np.sqrt(1 - 0.95**2), 0, 0]
    requests = sorted({pair.request for pair in PAIRS})
    return compare(shelve(BENCH, PAIRS, Random(1)), requests, known[[0] * len(requests)], known)


def test_a_batch_compares_its_own_tools_first() -> None:
    shelf = small_shelf()
    columns = lay_out(shelf, PAIRS[:3], near=2, strangers=2, random=Random(1))
    assert columns.tools[:3] == [pair.tool for pair in PAIRS[:3]]
    assert len(columns.tools) == len(columns.texts) >= 5


def test_only_the_pair_s_own_column_and_true_mistakes_count() -> None:
    pairs = [
        Pair("tiny", "asked", "r", "weather", ("weather",), "x"),
        Pair("tiny", "asked", "s", "mail", ("mail",), "y"),
    ]
    columns = Columns(["weather", "mail", "forecast", "weather"], ["x", "y", "z", "w"])
    # The forecast is so near to the weather that either may be the answer.
    assert also_right(small_shelf(), pairs, columns).tolist() == [
        [False, False, True, True],
        [False, False, False, False],
    ]


def test_what_a_guide_puts_above_the_right_tool_is_not_counted_as_a_mistake() -> None:
    places = {tool: place for place, tool in enumerate(("weather", "mail", "forecast", "twin"))}
    asked = np.array([[0.5, 0.8, 0.1, 0.2]], np.float32)
    guide = Guide({"r": 0}, places, asked, np.eye(4, dtype=np.float32))
    pair = Pair("tiny", "asked", "r", "weather", ("weather",), "x")
    columns = Columns(["weather", "mail", "twin"], ["x", "y", "z"])
    assert also_right(Shelf([pair], {}, guide=guide), [pair], columns).tolist() == [[False, True, False]]


def test_batches_come_from_one_catalogue_each_and_use_every_pair() -> None:
    other = Shelf([Pair("other", "asked", str(n), "weather", (), "") for n in range(8)], {})
    drawn = list(batches([small_shelf(), other], 4, 40, Random(1)))
    assert all(len({pair.bench for pair in pairs}) == 1 for _, pairs in drawn)
    assert {pair for _, pairs in drawn for pair in pairs} == {*PAIRS, *other.pairs}


# --- scores ----------------------------------------------------------------------------------------


def test_a_perfect_ranking_scores_one_and_a_useless_one_nothing() -> None:
    assert judge(BOTH, ["mail", "forecast", "weather"]).ndcg == pytest.approx(1)
    assert judge(BOTH, ["weather", "twin"]).ndcg == 0


def test_a_gold_tool_and_its_alternative_count_once() -> None:
    query = Query("q", "q", ("mail", "weather"), {"mail": ["twin"]}, "test")
    both, once = judge(query, ["twin", "weather"]), judge(query, ["twin", "mail", "weather"])
    assert both.ndcg == pytest.approx(1)
    assert once.recall == 1
    assert once.ndcg == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3)))


def test_the_nearest_tool_ranks_first_and_ties_always_fall_alike() -> None:
    tools, known = ["a", "b", "c"], np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    ranking = rank(known[:2], tools, known)
    assert ranking[0][0] == "a"
    assert ranking == rank(known[:2], tools, known)


def test_the_report_has_a_line_per_set_and_shows_the_worst_queries() -> None:
    known = np.eye(4, dtype=np.float32)
    scored = score([RAIN, BOTH], known[[0, 0]], [tool.id for tool in TOOLS], known)
    report = table({"tiny": scored}, Speed(2.5, 300))
    assert f"| tiny | 2 | {mean_ndcg(scored):.2f} |" in report
    assert worst("tiny", scored)[0]["query"] == BOTH.text


# --- conversion ------------------------------------------------------------------------------------


def by_hand(weights: Weights, ids: list[int]) -> Vector:
    """MiniLM's forward pass in plain numpy, unrounded."""

    def linear(name: str, state: Vector) -> Vector:
        return state @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normalised(name: str, state: Vector) -> Vector:
        centred = state - state.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True))
        scaled: Vector = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        return scaled

    def by_head(state: Vector) -> Vector:
        return state.reshape(len(ids), -1, 32).transpose(1, 0, 2)

    state = weights["embeddings.word_embeddings.weight"][ids]
    state = state + weights["embeddings.position_embeddings.weight"][: len(ids)]
    state = normalised("embeddings.LayerNorm", state + weights["embeddings.token_type_embeddings.weight"][0])
    for layer in range(2):
        start = f"encoder.layer.{layer}"
        parts = (f"{start}.attention.self.{name}" for name in ("query", "key", "value"))
        query, key, value = (by_head(linear(part, state)) for part in parts)
        share = np.exp(query @ key.transpose(0, 2, 1) / 32**0.5)
        context = (share / share.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        out = f"{start}.attention.output"
        state = normalised(f"{out}.LayerNorm", state + linear(f"{out}.dense", context))
        wide = linear(f"{start}.intermediate.dense", state)
        bent = wide * (1 + np.vectorize(erf)(wide / 2**0.5)) / 2
        state = normalised(f"{start}.output.LayerNorm", state + linear(f"{start}.output.dense", bent))
    mean = state.mean(0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def test_a_tiny_model_survives_conversion_and_opens_in_the_package(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="conversion needs onnx and safetensors")
    pytest.importorskip("safetensors")
    from train.convert import convert

    weights = random_weights(width=DIMENSIONS)
    convert(weights, tokenizer(), tmp_path)
    encoder = Encoder.open(tmp_path)
    for text in ("send mail", "please find a ticket for my song", "", "unknown words"):
        ids = [2, *(VOCABULARY.index(word) if word in VOCABULARY else 1 for word in text.split()), 3]
        assert encoder([text])[0] @ by_hand(weights, ids) == pytest.approx(1, abs=0.02)
    convert(weights, tokenizer(), tmp_path / "again")
    assert (tmp_path / "again" / "digests.json").read_bytes() == (tmp_path / "digests.json").read_bytes()


def test_weights_read_back_out_of_a_graph_are_those_that_went_in_but_for_the_rounding() -> None:
    pytest.importorskip("onnx", reason="conversion needs onnx and safetensors")
    from train.graph import minilm, weights_in

    weights = random_weights(width=DIMENSIONS)
    back = weights_in(minilm(weights))
    assert back.keys() == weights.keys()
    folded = ("embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight")
    for name in weights.keys() - folded:
        assert np.allclose(back[name], weights[name], atol=np.abs(weights[name]).max() / 100), name
    places, types = (weights[name] for name in folded)
    assert np.allclose(back[folded[0]], places[: len(back[folded[0]])] + types[0])


def test_rounding_to_int8_is_off_by_half_a_step_at_most() -> None:
    pytest.importorskip("onnx", reason="conversion needs onnx and safetensors")
    from train.graph import round_to_int8

    weight = np.random.default_rng(1).normal(size=(8, 16)).astype(np.float32)
    rounded = round_to_int8(weight, along=0)
    assert np.abs(rounded.values * rounded.scale - weight).max() <= rounded.scale.max() / 2 + 1e-6


def test_the_mean_of_two_models_lies_between_them() -> None:
    pytest.importorskip("onnx", reason="conversion needs onnx and safetensors")
    pytest.importorskip("safetensors")
    from train.average import average

    low, high = {"w": np.zeros(3, np.float32)}, {"w": np.ones(3, np.float32)}
    assert average([low, high])["w"].tolist() == [0.5, 0.5, 0.5]
