"""What keys and proofs hold."""

import time
from pathlib import Path

import h5py
import numpy as np
import pytest

import tessera


def test_the_proofs_arrays_are_the_files(proof_path: Path) -> None:
    proof = tessera.Proof(proof_path)
    with h5py.File(proof_path) as file:
        assert np.array_equal(proof.statement.prompt, file["statement/prompt"][()])
        assert np.array_equal(proof.statement.generated, file["statement/generated"][()])
        assert proof.payload == file["payload"][()].tobytes()
        assert proof.key_digest == file["key_digest"][()].tobytes().hex()
        information = file["information"]
        assert proof.text.encode() == information["text"][()].tobytes()
        timings = proof.timings
        assert np.array_equal(timings.seconds, information["timings/seconds"][()])
        assert np.array_equal(timings.peak_memory, information["timings/peak_memory"][()])
        assert np.array_equal(proof.rounds.bits, information["soundness/bits"][()])
        machine = information["machine"]
        assert proof.machine.ranks == machine["ranks"][()] and proof.machine.threads == machine["threads"][()]
    assert len(timings.scope) == timings.seconds.size > 10
    assert len(proof.rounds.scope) == len(proof.rounds.reason) == proof.rounds.bits.size > 10
    assert timings.rank_seconds.shape == timings.rank_peak_memory.shape
    assert timings.rank_seconds.shape == (len(timings.processor), len(timings.scope))


def test_arrays_are_typed_and_read_only(proof_path: Path) -> None:
    proof = tessera.Proof(proof_path)
    assert proof.statement.prompt.dtype == np.uint32
    assert proof.timings.seconds.dtype == proof.rounds.bits.dtype == np.float64
    assert proof.timings.peak_memory.dtype == np.uint64
    with pytest.raises(ValueError):
        proof.statement.prompt[0] = 1


def test_a_keys_tokenizer_is_made_once(key_bytes: bytes) -> None:
    key = tessera.Key(key_bytes)
    seconds = []
    for _ in range(30):
        start = time.perf_counter()
        key.encode("It")
        seconds.append(time.perf_counter() - start)
    assert min(seconds[1:]) < seconds[0] / 20, "the first call makes what the others use"


def test_a_keys_vocabulary(key: tessera.Key) -> None:
    assert key.decode(key.encode("It was a bright")) == "It was a bright"
    assert key.decode(list(map(int, key.encode("It")))) == "It"
    assert key.decode([]) == ""
    for ids in ([-1], [1 - (1 << 32)], [1 << 32], [1 << 31], [[1]], [0.5]):
        with pytest.raises(tessera.UnusableInput):
            key.decode(ids)  # type: ignore[arg-type]
