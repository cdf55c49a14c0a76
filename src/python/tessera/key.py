"""Verifying keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import _tessera
from .arrays import Ids, Source, ids_of, raw_ids


class Key:
    """A verifying key, which commits to a model: compare `digest` with the one that you trust.

    Key(source) reads a file (`str`, `os.PathLike`) or the bytes of one. Raises UnusableInput for anything but a valid
    key. Forks, as Proof does.
    """

    def __init__(self, source: Source) -> None:
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._key = _tessera.read_key_bytes(bytes(source))
        else:
            self._key = _tessera.read_key(Path(source))

    @classmethod
    def _of(cls, key: _tessera.Key) -> Key:
        """One that was read already."""
        made = cls.__new__(cls)
        made._key = key
        return made

    @property
    def digest(self) -> str:
        """BLAKE2s-256 of the key's canonical bytes: 64 hexadecimal digits, as `tessera commit` prints them."""
        return self._key.digest.hex()

    @property
    def chat_template(self) -> str | None:
        """The model's chat template, a program in Jinja; None if it has none."""
        return self._key.chat_template or None

    def decode(self, ids: Ids) -> str:
        """The text of token ids, from the key's vocabulary; bytes that are not UTF-8 are U+FFFD.

        Raises UnusableInput for an id that the vocabulary does not have.
        """
        return self._key.decode(raw_ids(ids))

    def encode(self, text: str, *, begins: bool = True) -> NDArray[np.uint32]:
        """The canonical token ids of a text, of shape [tokens]: the prompt that the text stands for.

        begins: with the tokens that the tokenizer puts before every text, as where a conversation begins; False for
        the prompts of its later parts. Raises UnusableInput for a text or a vocabulary that cannot be encoded.
        """
        return ids_of(self._key.encode(text, begins))

    def __repr__(self) -> str:
        return f"Key(digest={self.digest!r})"
