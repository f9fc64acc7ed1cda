"""Text to ids and back, by bytes and by a tokenizer.json; one that is not the model's is refused."""

import sys

import pytest

from playground.errors import Refusal
from playground.prefill import tokenizer


def test_without_a_file_a_vocabulary_of_256_is_bytes(tmp_path):
    by_bytes = tokenizer.load(tmp_path, 256)
    assert by_bytes.encode("aé\n") == [97, 0xC3, 0xA9, 10]
    assert by_bytes.decode([97, 0xC3, 0xA9, 10]) == "aé\n"
    assert by_bytes.decode([97, 0xC3]) == "a\ufffd"


def test_without_a_file_another_vocabulary_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"tokenizer.json is not there, and a vocabulary of 152064 ids is not the 256"):
        tokenizer.load(tmp_path, 152_064)


@pytest.fixture
def words(tmp_path):
    """A directory whose tokenizer knows two words and has ids 0 to 2 and 7."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0, "tile": 1, "warp": 2, "lane": 7}, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_a_file_is_the_tokenizer(words):
    by_words = tokenizer.load(words, 8)
    assert by_words.encode("warp lane fence") == [2, 7, 0]
    assert by_words.decode([1, 2]) == "tile warp"


def test_a_file_with_ids_beyond_the_vocabulary_is_refused(words):
    with pytest.raises(Refusal, match=r"tokenizer.json: has ids up to 7, and the model's vocabulary ends at 6"):
        tokenizer.load(words, 7)


def test_a_file_that_is_no_tokenizer_is_refused(words):
    (words / "tokenizer.json").write_text("{}")
    with pytest.raises(Refusal, match=r"tokenizer.json: not a tokenizer"):
        tokenizer.load(words, 8)


def test_a_file_without_the_package_is_refused(words, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(Refusal, match="read by the package tokenizers, which is not installed"):
        tokenizer.load(words, 8)
