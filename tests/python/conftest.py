"""The stored proofs of tests/golden, which need no prover, and what python_test.sh has made of hiding commitments."""

import gzip
import os
from pathlib import Path

import pytest

import tessera

GOLDEN = Path(os.environ.get("TESSERA_GOLDEN", Path(__file__).parent.parent / "golden"))


@pytest.fixture(scope="session")
def key_bytes() -> bytes:
    return gzip.decompress((GOLDEN / "odd-40k.key.gz").read_bytes())


@pytest.fixture(scope="session")
def other_key_bytes() -> bytes:
    return gzip.decompress((GOLDEN / "odd-qwen-60k.key.gz").read_bytes())


@pytest.fixture(scope="session")
def key(key_bytes: bytes) -> tessera.Key:
    return tessera.Key(key_bytes)


@pytest.fixture(scope="session")
def proof_path() -> Path:
    return GOLDEN / "odd-40k.proof"


@pytest.fixture(scope="session")
def parts() -> list[Path]:
    return [GOLDEN / "odd-40k.proof.part1", GOLDEN / "odd-40k.proof.part2"]


@pytest.fixture(scope="session")
def chats() -> Path:
    """Folder of chat-key/, chat1.h5 and chat2.h5 (parts, of hi.json and bye.json, sampled with seed 7), joint.h5 (with 7, and
    5 of the prover's)."""
    return Path(os.environ["TESSERA_RENEWALS"])


@pytest.fixture(scope="session")
def hiding() -> Path:
    """Folder of first/, second/, third/, first.h5 and so on, renewal.h5 (first to second), renewal2.h5 (second to third)."""
    return Path(os.environ["TESSERA_RENEWALS"])
