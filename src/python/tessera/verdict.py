"""The verifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _tessera
from .arrays import Ids, Source
from .errors import UnusableInput
from .expected import Expected, Number
from .key import Key, Messages
from .proof import Proof, State, Statement, state_of
from .renewal import AnyRenewal, verify_renewal


class _Beginning(Enum):
    beginning = 0


BEGINNING: Final = _Beginning.beginning
Before = Union[State, None, Literal[_Beginning.beginning]]
AnyProof = Union[Proof, Source]


@dataclass(frozen=True)
class Soundness:
    """-log2 of the error of the worst round, and of the sum of all rounds' errors.

    Who computes w hashes gets a false proof accepted with probability below w * 2**-98, by the bound on each round."""

    least: float
    sum: float


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the verifier found out; true exactly if the proof is accepted."""

    accepted: bool
    """After the prompt, the key's model generates these tokens first; how many there are was the prover's choice."""
    scope: str
    """Where the proof is rejected, such as "/statement"; "" if it is not."""
    reason: str
    """Why: one line; "" if it is accepted."""
    key_digest: str
    """Of the key that it was verified with, behind all renewals."""
    made_for: str | None
    """Digest of the key that the proof names, if that is another one; else None."""
    statement: Statement
    """The proof's; of a conversation, that of the last part that was looked at."""
    prompt: str | None
    """What the prompt's ids decode to by the key's vocabulary; None if an id is none of it, or the proof another key's.
    Says nothing of how the text was split into ids: compare `statement.prompt` with Key.encode() for that."""
    generated: str | None
    """Likewise of the generated ids."""
    soundness: Soundness | None
    """Of this proof, as the verifier computes it; None unless accepted."""
    kept: State | None
    """Where the next part begins; None unless accepted and a state is kept."""
    complete: bool
    """Whether the last token is one after which the key's model says no more. Else the text is cut off: the tokens are the
    first ones, and the model may go on. False unless accepted."""
    ended_by: int | None
    """The id of that token; None unless complete."""
    clamped: Mapping[str, int]
    """Values that left the range that calibration had found and were cut to its limits, by tensor; the proof says which,
    and that there are no others. Empty unless accepted."""
    seconds: Mapping[str, float] = field(repr=False)
    """That the verifier took, by scope."""
    parts: tuple[Verdict, ...] = field(default=(), repr=False)
    """Of a conversation: a verdict for each part, ending with the first that is rejected."""

    def __bool__(self) -> bool:
        return self.accepted


def verify(
    key: Key | Source,
    proof: AnyProof | Sequence[AnyProof],
    *,
    before: Before = BEGINNING,
    renewals: Sequence[AnyRenewal] = (),
    expect_prompt: str | Sequence[str] | None = None,
    expect_ids: Ids | Sequence[Ids] | None = None,
    expect_messages: Messages | Sequence[Messages] | None = None,
    expect_sampling: str | None = None,
    expect_seed: Number | None = None,
    seed_commitment: Number | None = None,
    seed_opening: Number | None = None,
) -> Verdict:
    """Checks that the proof is true under the key. Runs on one thread; other Python threads run meanwhile.

    key, proof: read already, or a path, or the bytes of a file. A list or tuple of proofs is a conversation, part by
    part from the beginning: it is accepted only if every part is and each continues the one before it.

    before: of a continuation that is verified by itself, `Verdict.kept` of the part before it. A part that does not
    start exactly there is rejected, and so is any part after one that keeps nothing (None).

    renewals: of the key, each from the key before it to the next, in order: the proof is verified under the last one. If
    one of them is false or of another key, the proof is rejected for it.

    expect_prompt, expect_ids, expect_messages: what the prompt has to be: a text, which stands for its canonical ids under
    the key's tokenizer, or token ids, or messages under the key's chat template, as Key.encode_messages() takes them. Of a
    conversation a list with one for each part.

    expect_sampling: how tokens have to be drawn, as "temperature=0.7,top_k=40,top_p=0.95,min_p=0.05": without top_k 64,
    without the others nothing is left out; "temperature=0": each is the best one. expect_seed: from which seed, 32 bytes
    or 64 hexadecimal digits. With seed_commitment and seed_opening the seed is of both: the hash of the prover's number,
    which is the opening and of which the commitment was published first, and of expect_seed.

    A proof of another prompt, parameters or seed is rejected at "/statement". A false, malformed or foreign proof is a Verdict that is false, never an exception. Raises UnusableInput for files
    that are no key or no proof, JobFailed where files cannot be read safely, MemoryError where memory runs out. Files
    are read in child processes: see Proof.
    """
    key = key if isinstance(key, Key) else Key(key)
    if isinstance(proof, (list, tuple)) and not proof:
        raise UnusableInput("proofs: expected one part of a conversation or more, found none")
    expected = Expected(
        expect_prompt, expect_ids, expect_messages, expect_sampling, expect_seed, seed_commitment, seed_opening
    )
    expected.check(len(proof) if isinstance(proof, (list, tuple)) else None)
    key, false_renewal = _renewed(key, renewals)
    if false_renewal is not None:
        several = isinstance(proof, (list, tuple))
        verdict = _rejected(key, _read(proof[0] if several else proof), *false_renewal)  # type: ignore[arg-type,index]
        return replace(verdict, parts=(verdict,)) if several else verdict
    if not isinstance(proof, (list, tuple)):
        return _verify_part(key, proof, before, expected, None)  # type: ignore[arg-type]
    parts: list[Verdict] = []
    for number, part in enumerate(proof):
        parts.append(_verify_part(key, part, before, expected, number))
        if not parts[-1]:
            break
        before = parts[-1].kept
    return replace(parts[-1], parts=tuple(parts))


def _renewed(key: Key, renewals: Sequence[AnyRenewal]) -> tuple[Key, tuple[str, str] | None]:
    """The last key, and scope and reason of a renewal that is rejected: then the key before it."""
    if not isinstance(renewals, (list, tuple)):
        raise UnusableInput(f"renewals: expected a list of renewals, found {type(renewals).__name__}")
    for number, renewal in enumerate(renewals, 1):
        verdict = verify_renewal(key, renewal)
        if verdict.key is None:
            return key, (verdict.scope, f"renewal {number}: {verdict.reason}")
        key = verdict.key
    return key, None


def _read(source: AnyProof) -> Proof:
    return source if isinstance(source, Proof) else Proof(source)


def _rejected(key: Key, proof: Proof, scope: str, reason: str) -> Verdict:
    """Texts are the key's word on its own ids alone."""
    known = proof.key_digest == key.digest
    return Verdict(
        accepted=False,
        scope=scope,
        reason=reason,
        key_digest=key.digest,
        made_for=None if known else proof.key_digest,
        statement=proof.statement,
        prompt=_text(key, proof.statement.prompt) if known else None,
        generated=_text(key, proof.statement.generated) if known else None,
        soundness=None,
        kept=None,
        complete=False,
        ended_by=None,
        clamped={},
        seconds={},
    )


def _verify_part(key: Key, source: AnyProof, before: Before, expected: Expected, part: int | None) -> Verdict:
    proof = _read(source)
    unverified = _rejected(key, proof, "/statement", "the part before it keeps no state to continue")
    reason = expected.reason(key, proof, part) if unverified.made_for is None else None
    if reason is not None:
        return replace(unverified, reason=reason)
    if before is None:
        return unverified
    start = None if before is BEGINNING else (before.root, before.length, before.last_token)
    judgement = _tessera.judge(key._key, proof._proof, start)
    return replace(
        unverified,
        accepted=judgement.accepted,
        scope=judgement.scope,
        reason=judgement.reason,
        soundness=Soundness(*judgement.soundness) if judgement.accepted else None,
        kept=state_of(judgement.kept),
        complete=judgement.ended_by is not None,
        ended_by=judgement.ended_by,
        clamped=judgement.clamped,
        seconds=judgement.seconds,
    )


def _text(key: Key, ids: NDArray[np.uint32]) -> str | None:
    """A proof's statement may name any ids."""
    try:
        return key.decode(ids)
    except UnusableInput:
        return None
