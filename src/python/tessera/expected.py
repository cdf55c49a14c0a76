"""What a caller expects of statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from . import _tessera
from .arrays import Ids, ids_of, raw_ids
from .errors import UnusableInput
from .key import Key, Messages, name_of
from .proof import Proof

#: A number of 32 bytes, or its 64 hexadecimal digits.
Number = Union[str, bytes]


@dataclass(frozen=True)
class Expected:
    """What the keyword arguments of verify() say; what is None may be anything."""

    prompt: str | Sequence[str] | None
    ids: Ids | Sequence[Ids] | None
    messages: Messages | Sequence[Messages] | None
    sampling: str | None
    seed: Number | None
    commitment: Number | None
    opening: Number | None

    def check(self, parts: int | None) -> None:
        """Raises UnusableInput naming the argument for what does not fit. parts: of a conversation; None: one proof."""
        given = [(f"expect_{kind}", value) for kind, value in self._prompts() if value is not None]
        if len(given) > 1:
            raise UnusableInput(f"{given[0][0]}, {given[1][0]}: expected one of them, found both")
        for name, value in given:
            if parts is not None and (isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or len(value) != parts):
                found = len(value) if isinstance(value, (list, tuple)) else type(value).__name__
                raise UnusableInput(f"{name}: expected a list of one for each of the {parts} proofs, found {found}")
        _tessera.check_sampling(self._sampling())

    def reason(self, key: Key, proof: Proof, part: int | None) -> str | None:
        """Why the statement is another one; None if it is as expected. part: its number in a conversation."""
        return _tessera.unexpected(proof._proof, self._prompt_of(key, proof, part), self._sampling())

    def _prompts(self) -> list[tuple[str, object]]:
        return [("prompt", self.prompt), ("ids", self.ids), ("messages", self.messages)]

    def _sampling(self) -> tuple[str, str, str, str]:
        numbers = [number.hex() if isinstance(number, bytes) else number for number in (self.seed, self.commitment, self.opening)]
        for name, value in zip(("expect_seed", "seed_commitment", "seed_opening"), numbers):
            if value == "":
                raise UnusableInput(f"{name}: expected 64 hexadecimal digits, found none")
        if self.sampling == "":
            raise UnusableInput("expect_sampling: expected parameters, as temperature=0.7,top_k=40, found none")
        return (self.sampling or "", numbers[0] or "", numbers[1] or "", numbers[2] or "")

    def _prompt_of(self, key: Key, proof: Proof, part: int | None) -> tuple[str, str, bytes] | None:
        for kind, values in self._prompts():
            if values is None:
                continue
            value = values if part is None else values[part]  # type: ignore[index]
            start = proof.statement.start
            if kind == "prompt":
                if not isinstance(value, str):
                    raise UnusableInput(f"expect_prompt: expected a text, found {type(value).__name__}")
                return ("text", value, raw_ids(key.encode(value, begins=start is None)))
            if kind == "ids":
                raw = raw_ids(value)  # type: ignore[arg-type]
                return ("ids", ",".join(map(str, ids_of(raw))), raw)
            ids = key.encode_messages(value, after=start.last_token if start else None)  # type: ignore[arg-type]
            return ("messages", name_of(value), raw_ids(ids))  # type: ignore[arg-type]
        return None
