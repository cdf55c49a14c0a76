"""What a user writes, for mypy --strict."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import tessera


def report(key_file: Path, proof_file: Path) -> str:
    key = tessera.Key(key_file)
    proof = tessera.Proof(proof_file)
    verdict: tessera.Verdict = tessera.verify(key, proof)
    if not verdict:
        return f"{verdict.scope}: {verdict.reason}"
    seconds: NDArray[np.float64] = proof.timings.seconds
    prompt: NDArray[np.uint32] = verdict.statement.prompt
    least = verdict.soundness.least if verdict.soundness is not None else 0.0
    return f"{verdict.generated} {prompt.size} {seconds.sum()} {least}"


def conversation(key: bytes, parts: list[Path]) -> tessera.State | None:
    first = tessera.verify(key, parts[0])
    second = tessera.verify(key, parts[1], before=first.kept)
    return tessera.verify(key, parts).kept if second else None
