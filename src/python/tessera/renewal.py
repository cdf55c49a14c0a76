"""Renewals of hiding keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Union

from . import _tessera
from .arrays import Source
from .key import Key


class Renewal:
    """A renewal file: a new key, and a proof that it commits to the same parameters as the one before it.

    Renewal(source) reads a file (`str`, `os.PathLike`) or the bytes of one; raises UnusableInput for anything but a
    renewal file. Forks, as Proof does. That it could be read says nothing about it: see verify_renewal().
    """

    def __init__(self, source: Source) -> None:
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._renewal = _tessera.read_renewal_bytes(bytes(source))
        else:
            self._renewal = _tessera.read_renewal(Path(source))

    @property
    def old_key_digest(self) -> str:
        """Of the key that it says to renew: 64 hexadecimal digits."""
        return self._renewal.old_key_digest.hex()

    @property
    def key_digest(self) -> str:
        """Of the new key, which may be taken for the old one only if verify_renewal() accepts it."""
        return self._renewal.key_digest.hex()

    def __repr__(self) -> str:
        return f"Renewal(old_key_digest={self.old_key_digest!r}, key_digest={self.key_digest!r})"


AnyRenewal = Union[Renewal, Source]


@dataclass(frozen=True, eq=False)
class RenewalVerdict:
    """What the verifier found out of a renewal; true exactly if it is accepted."""

    accepted: bool
    """The new key commits to the same parameters as the old one."""
    scope: str
    """Where it is rejected, such as "/statement"; "" if it is not."""
    reason: str
    """Why: one line; "" if it is accepted."""
    key: Key | None
    """The new key; None unless accepted."""

    def __bool__(self) -> bool:
        return self.accepted


def verify_renewal(key: Key | Source, renewal: AnyRenewal) -> RenewalVerdict:
    """Checks that a renewal leads from the key to another commitment to the same parameters.

    key, renewal: read already, or a path, or the bytes of a file. A false renewal, or one of another key, is a
    RenewalVerdict that is false, never an exception. Raises as verify() does.
    """
    key = key if isinstance(key, Key) else Key(key)
    renewal = renewal if isinstance(renewal, Renewal) else Renewal(renewal)
    judgement = _tessera.judge_renewal(key._key, renewal._renewal)
    new_key = Key._of(renewal._renewal.new_key()) if judgement.accepted else None
    return RenewalVerdict(judgement.accepted, judgement.scope, judgement.reason, new_key)
