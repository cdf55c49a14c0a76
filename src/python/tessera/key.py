"""Verifying keys."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _tessera
from .arrays import Ids, Source, ids_of, raw_ids
from .errors import UnusableInput

#: Messages of a chat, or the path of a JSON file of them.
Messages = Union[str, "os.PathLike[str]", Sequence[Mapping[str, Any]], Mapping[str, Any]]
_MOST_MESSAGES = 1 << 24  # bytes of a file


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

    def encode_messages(self, messages: Messages, *, after: int | None = None) -> NDArray[np.uint32]:
        """The token ids of messages under the key's chat template, of shape [tokens], with the prompt for an answer behind
        them: as --messages of `tessera prove`. Added tokens are the template's alone, contents stay text.

        messages: a list of objects of `role` and `content`, or an object of such `messages` and a `date`
        ("2026-11-27"), or the path of a JSON file with either. after: they follow an answer that ended with this token.
        A template is a stranger's program: a process of its own renders it, with the Python that TESSERA_PYTHON names or
        this one, which must have jinja2 (part chat of the package). Raises UnusableInput for messages that cannot be
        rendered and keys without a template.
        """
        text, name = _read_messages(messages)
        python = os.environ.get("TESSERA_PYTHON") or sys.executable
        try:
            return ids_of(self._key.encode_messages(text, after, python))
        except UnusableInput as error:
            raise UnusableInput(f"{name}: {error}" if name else str(error)) from None

    def __repr__(self) -> str:
        return f"Key(digest={self.digest!r})"


def name_of(messages: Messages) -> str:
    """Their file, if they are of one; else an empty text."""
    return os.fspath(messages) if isinstance(messages, (str, os.PathLike)) else ""


def _read_messages(messages: Messages) -> tuple[str, str]:
    """Their JSON text, and their file, if they are of one."""
    name = name_of(messages)
    try:
        if not isinstance(messages, (str, os.PathLike)):
            return json.dumps(messages), name
        with open(messages, "rb") as file:
            content = file.read(_MOST_MESSAGES + 1)
        if len(content) > _MOST_MESSAGES:
            raise UnusableInput(f"{name}: expected at most {_MOST_MESSAGES} bytes, found more")
        return content.decode(), name
    except (OSError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, UnusableInput):
            raise
        raise UnusableInput(f"{name or 'messages'}: expected messages, found none that can be read: {error}") from None
