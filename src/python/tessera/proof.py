"""Proof files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import _tessera
from .arrays import Source, ids_of, seconds_of, sizes_of


@dataclass(frozen=True)
class State:
    """What a part of a conversation leaves for the next one: keys and values of the tokens before `length`."""

    root: bytes
    """32 bytes, of the commitment to keys and values."""
    length: int
    """Positions in it."""
    last_token: int
    """The token generated last, whose keys and values are not in it."""


@dataclass(frozen=True)
class Sampling:
    """How generated tokens are drawn from the model's distribution: the shortest numbers that stand for the integers of
    the statement, so numbers that mean the same sampling are equal."""

    temperature: float
    top_k: int
    """Candidates of a row; 0: the whole vocabulary, of which the proof shows nothing."""
    top_p: float
    """1: leaves nothing out."""
    min_p: float
    """0: leaves nothing out."""
    seed: bytes
    """32 bytes, of the public numbers that choose. Who chose it may have tried others: compare it with yours."""


@dataclass(frozen=True, eq=False)
class Statement:
    """What a proof says: the model continues `prompt` by `generated`. True only if the proof is accepted."""

    prompt: NDArray[np.uint32]
    """Token ids, [tokens]; empty only in a continuation."""
    generated: NDArray[np.uint32]
    """Token ids, [tokens]."""
    start: State | None
    """The state that it continues; None: a beginning."""
    keeps: bool
    """Whether a state is kept for a next part."""
    pass_length: int
    """Rows of a pass; 0: not split into passes."""
    sampling: Sampling | None
    """How the tokens are drawn; None: each is the arg-max."""


@dataclass(frozen=True, eq=False)
class Timings:
    """Where time and memory went. A scope is a path, whose seconds include those of what is below it."""

    scope: tuple[str, ...]
    seconds: NDArray[np.float64]
    """[scopes], of rank 0."""
    peak_memory: NDArray[np.uint64]
    """[scopes], resident bytes of the largest rank while the scope ran; 0: not known."""
    memory_measure: str
    """What `peak_memory` is."""
    processor: tuple[str, ...]
    """Of each rank; empty where ranks were not measured."""
    rank_seconds: NDArray[np.float64]
    """[ranks, scopes]."""
    rank_peak_memory: NDArray[np.uint64]
    """[ranks, scopes], bytes; 0: not known."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """Soundness of each round of the protocol."""

    scope: tuple[str, ...]
    reason: tuple[str, ...]
    bits: NDArray[np.float64]
    """[rounds], -log2 of the error."""


@dataclass(frozen=True)
class Machine:
    """What the proof was computed on."""

    ranks: int
    threads: int
    """Of each rank."""
    peak_memory: int
    """Bytes, of the largest rank."""


def state_of(given: tuple[bytes, int, int] | None) -> State | None:
    return None if given is None else State(*given)


class Proof:
    """A proof file. That it could be read says nothing about the proof: see verify().

    Proof(source) reads a file (`str`, `os.PathLike`) or the bytes of one; raises UnusableInput for anything but a
    proof file. Files are HDF5, which strangers may have made, so each is read by a forked child process that is
    confined by seccomp and bounded in time and memory; JobFailed where a process cannot be confined. Meanwhile no
    other Python thread runs, 21 s at most; threads of the package wait for each other as they must. Other code that
    lets go of Python's lock inside OpenSSL (`ssl`, `hashlib`) can leave the child waiting: the file is then unusable.

    `statement`, `payload` and `key_digest` are what a verifier judges. `text`, `timings`, `rounds`, `machine` and
    `configuration` are what the file says about itself, and nothing may rely on them. Arrays are read-only.
    """

    def __init__(self, source: Source) -> None:
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._proof = _tessera.read_proof_bytes(bytes(source))
        else:
            self._proof = _tessera.read_proof(Path(source))

    @cached_property
    def statement(self) -> Statement:
        """What it claims."""
        proof = self._proof
        return Statement(
            prompt=ids_of(proof.prompt),
            generated=ids_of(proof.generated),
            start=state_of(proof.start),
            keeps=proof.keeps,
            pass_length=proof.pass_length,
            sampling=None if proof.sampling is None else Sampling(*proof.sampling),
        )

    @property
    def payload(self) -> bytes:
        """The proof itself."""
        return self._proof.payload

    @property
    def key_digest(self) -> str:
        """Of the key that it was made for: 64 hexadecimal digits."""
        return self._proof.key_digest.hex()

    @property
    def text(self) -> str:
        """Prompt and continuation as the file has them, which may be false: Verdict has the key's text."""
        return self._proof.text

    @property
    def configuration(self) -> str:
        """The options of the job as it resolved them: JSON, if the file is honest."""
        return self._proof.configuration

    @cached_property
    def timings(self) -> Timings:
        """Seconds and memory by scope and by rank."""
        proof = self._proof
        shape = (len(proof.processors), len(proof.scopes))
        return Timings(
            scope=proof.scopes,
            seconds=seconds_of(proof.seconds),
            peak_memory=sizes_of(proof.peak_memory),
            memory_measure=proof.memory_measure,
            processor=proof.processors,
            rank_seconds=seconds_of(proof.rank_seconds).reshape(shape),
            rank_peak_memory=sizes_of(proof.rank_peak_memory).reshape(shape),
        )

    @cached_property
    def rounds(self) -> Rounds:
        """Soundness as the prover computed it: Verdict has the verifier's."""
        proof = self._proof
        return Rounds(scope=proof.round_scopes, reason=proof.round_reasons, bits=seconds_of(proof.round_bits))

    @property
    def machine(self) -> Machine:
        """Ranks, threads, memory."""
        return Machine(*self._proof.machine)

    def __repr__(self) -> str:
        statement = self.statement
        return f"Proof({statement.prompt.size} + {statement.generated.size} tokens, key_digest={self.key_digest!r})"
