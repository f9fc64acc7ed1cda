"""Text to token ids and back: bytes as they are, or a checkpoint's own tokenizer.json."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from playground.errors import Refusal

FILE = "tokenizer.json"
BYTES = 256


class Tokenizer(Protocol):
    """`decode(encode(text))` is text."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str: ...


class ByteTokenizer:
    """A token is a byte of UTF-8, its id the byte's value."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> str:
        """Bytes that are no UTF-8, such as a letter cut off at the end, become U+FFFD."""
        return bytes(tokens).decode(errors="replace")


class FileTokenizer:
    """A tokenizer.json of Hugging Face, read by their library."""

    def __init__(self, path: Path):
        try:
            import tokenizers
        except ImportError as error:
            raise Refusal(f"{path} is read by the package tokenizers, which is not installed") from error
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            raise Refusal(f"{path}: not a tokenizer: {error}") from error

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, tokens: Sequence[int]) -> str:
        return self._tokenizer.decode(list(tokens), skip_special_tokens=False)

    def last_id(self) -> int:
        """The largest id that it may give."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values())


def load(directory: Path, vocabulary: int) -> Tokenizer:
    """The tokenizer of a model of `vocabulary` ids. One that has other ids is refused."""
    path = directory / FILE
    if path.exists():
        tokenizer = FileTokenizer(path)
        if (last := tokenizer.last_id()) >= vocabulary:
            raise Refusal(f"{path}: has ids up to {last}, and the model's vocabulary ends at {vocabulary - 1}")
        return tokenizer
    if vocabulary != BYTES:
        raise Refusal(f"{path} is not there, and a vocabulary of {vocabulary} ids is not the {BYTES} bytes")
    return ByteTokenizer()
