"""The shipped encoder: it loads without a network, refuses altered files, and repeats itself exactly."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from prowess.discovery.encoder import DIMENSIONS, SHIPPED, Encoder
from prowess.errors import EncoderUnavailable

pytestmark = pytest.mark.own_models


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.open()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "model"))


def test_it_opens_and_encodes_where_no_connection_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the encoder reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert Encoder.open()(["book a table for two"]).shape == (1, DIMENSIONS)


def test_every_text_becomes_one_row_of_length_one(encoder: Encoder) -> None:
    vectors = encoder(["send a mail", "", "weather in Paris"])
    assert vectors.shape == (3, DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(encoder: Encoder) -> None:
    assert encoder([]).shape == (0, DIMENSIONS)


def test_a_text_has_the_same_bits_each_time_and_beside_any_others(encoder: Encoder) -> None:
    alone = encoder(["convert dollars to euros"])[0]
    among = encoder(["a much longer text " * 40, "convert dollars to euros", "x"])[1]
    assert alone.tobytes() == among.tobytes() == encoder(["convert dollars to euros"])[0].tobytes()


def test_two_encoders_give_the_same_bits(encoder: Encoder) -> None:
    text = ["find flights to Oslo"]
    assert Encoder.open()(text).tobytes() == encoder(text).tobytes()


@pytest.mark.parametrize(
    ("request_", "right", "wrong"),
    [
        ("what will the weather be like tomorrow", "Get Forecast\nWeather forecast for a city", "Send Mail"),
        ("tell my boss I am ill", "Send Mail\nSend a message to somebody", "Resize Image"),
        ("how much is 20 dollars in euros", "Convert Currency", "Play Song\nPlay music"),
        ("make this picture smaller", "Resize Image", "Convert Currency"),
    ],
)
def test_the_tool_that_answers_is_nearer_than_one_that_does_not(
    encoder: Encoder, request_: str, right: str, wrong: str
) -> None:
    asked, near, far = encoder([request_, right, wrong])
    assert asked @ near > asked @ far + 0.1


def test_chinese_texts_about_one_thing_are_nearer_than_about_two(encoder: Encoder) -> None:
    first, same, other = encoder(["今天北京天气怎么样", "北京今天的天气", "把这首歌加入播放列表"])
    assert first @ same > first @ other


@pytest.mark.parametrize(
    "text",
    ["", " \n\t ", "\x00", "\ud800 half a pair", "👩‍👩‍👧 é e\u0301", "ปิดไฟ", "a" * 5000, "word " * 100_000],
    ids=["empty", "blank", "nul", "surrogate", "emoji", "thai", "one-long-word", "many-words"],
)
def test_any_text_is_encoded(encoder: Encoder, text: str) -> None:
    assert np.isfinite(encoder([text])).all()


def test_what_lies_beyond_the_longest_text_does_not_count(encoder: Encoder) -> None:
    long = "list the files of a folder " * 100
    assert encoder([long + "and more"]).tobytes() == encoder([long + "play jazz"]).tobytes()


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_an_altered_file_is_refused_by_name(copied: Path, name: str) -> None:
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    with pytest.raises(EncoderUnavailable, match=rf"{name} is not the file that was shipped"):
        Encoder.open(copied)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "digests.json"])
def test_a_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()
    with pytest.raises(EncoderUnavailable, match=rf"{name} cannot be read"):
        Encoder.open(copied)


@pytest.mark.parametrize("content", ["{", "[]", "{}", "\udcff"])
def test_digests_that_cannot_be_understood_are_refused(copied: Path, content: str) -> None:
    (copied / "digests.json").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(EncoderUnavailable):
        Encoder.open(copied)


@pytest.mark.parametrize("part", ["onnxruntime.InferenceSession", "tokenizers.Tokenizer"])
def test_a_runtime_that_cannot_load_the_model_says_why(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    class Broken:
        def __init__(self, *_: object, **__: object) -> None:
            raise RuntimeError("illegal instruction")

        from_str = __init__

    monkeypatch.setattr(part, Broken)
    with pytest.raises(EncoderUnavailable, match="illegal instruction"):
        Encoder.open()


def test_its_digest_names_the_model_it_was_opened_with(encoder: Encoder) -> None:
    assert encoder.digest == json.loads((SHIPPED / "digests.json").read_text())["model.onnx"]


@pytest.mark.slow
def test_importing_the_module_loads_no_runtime() -> None:
    code = "import sys, prowess.discovery.encoder; print('onnxruntime' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_the_shipped_files_take_at_most_25_megabytes_and_the_reader_12() -> None:
    sizes = {path.name: path.stat().st_size for path in SHIPPED.iterdir()}
    assert sizes.pop("reader.onnx") <= 12_000_000
    assert sum(sizes.values()) <= 25_000_000


def test_the_shipped_model_says_where_it_comes_from() -> None:
    card = (SHIPPED / "MODEL_CARD.md").read_text(encoding="utf-8")
    notice = (SHIPPED / "NOTICE").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in card and "all-MiniLM-L6-v2" in notice
    assert "Apache-2.0" in card and "Apache License" in notice
