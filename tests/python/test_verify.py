"""Verdicts."""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tessera
from false_files import change_last


def damaged(proof: Path, at: int) -> bytes:
    """The file with a bit of a byte changed."""
    content = bytearray(proof.read_bytes())
    content[at] ^= 1
    return bytes(content)


def test_a_true_proof_is_accepted(key: tessera.Key, proof_path: Path) -> None:
    assert key.chat_template is None
    verdict = tessera.verify(key, proof_path)
    assert verdict and verdict.accepted
    assert (verdict.scope, verdict.reason, verdict.parts) == ("", "", ())
    assert verdict.key_digest == key.digest and verdict.made_for is None
    assert verdict.prompt == "The old man"
    assert np.array_equal(verdict.statement.prompt, key.encode("The old man"))
    assert verdict.generated == key.decode(verdict.statement.generated)
    assert verdict.soundness is not None
    assert verdict.soundness.least >= 100 > verdict.soundness.sum > 95
    assert verdict.seconds and all(seconds >= 0 for seconds in verdict.seconds.values())


def test_paths_bytes_and_objects_are_the_same(
    key: tessera.Key, key_bytes: bytes, proof_path: Path, tmp_path: Path
) -> None:
    key_path = tmp_path / "verifying.key"
    key_path.write_bytes(key_bytes)
    content = proof_path.read_bytes()
    for one in (str(key_path), key_path, key_bytes, memoryview(key_bytes), key):
        assert tessera.verify(one, str(proof_path))
    for other in (proof_path, content, bytearray(content), tessera.Proof(content)):
        assert tessera.verify(key, other)


def test_another_keys_proof_is_rejected(other_key_bytes: bytes, proof_path: Path) -> None:
    verdict = tessera.verify(other_key_bytes, proof_path)
    assert not verdict and not verdict.accepted
    assert (verdict.scope, verdict.reason) == ("/statement", "the proof was made for another verifying key")
    assert verdict.soundness is None and verdict.kept is None
    assert verdict.prompt is None and verdict.generated is None and len(verdict.statement.prompt) > 0
    assert verdict.made_for == tessera.Proof(proof_path).key_digest != verdict.key_digest


@pytest.mark.parametrize("name", ["payload", "statement/prompt", "statement/generated"])
def test_a_false_proof_is_rejected(key: tessera.Key, proof_path: Path, tmp_path: Path, name: str) -> None:
    false = tmp_path / "false.h5"
    false.write_bytes(proof_path.read_bytes())
    change_last(false, name)
    verdict = tessera.verify(key, false)
    assert not verdict and verdict.scope.startswith("/") and verdict.reason
    assert verdict.soundness is None and verdict.kept is None
    assert verdict.generated is not None


def test_files_that_are_none_are_unusable(key: tessera.Key, proof_path: Path, tmp_path: Path) -> None:
    content = proof_path.read_bytes()
    for file in (b"", b"no HDF5", content[:5000], damaged(proof_path, len(content) // 2), b"\x89HDF\r\n\x1a\n" * 99):
        with pytest.raises(tessera.UnusableInput, match="^proof: .*expected.*found"):
            tessera.verify(key, file)
    missing = tmp_path / "none.h5"
    for path in (missing, str(missing), tmp_path):
        with pytest.raises(tessera.UnusableInput, match=str(path)):
            tessera.verify(key, path)
    with pytest.raises(ValueError, match="^key: "):
        tessera.verify(content, content)
    with pytest.raises(tessera.UnusableInput):
        tessera.Proof(os.fsdecode(b"/no\xff\n.h5"))


def test_a_conversation(key: tessera.Key, parts: list[Path]) -> None:
    whole = tessera.verify(key, parts)
    assert whole and [bool(part) for part in whole.parts] == [True, True]
    first = tessera.verify(key, parts[0])
    assert first.kept is not None and first.kept == whole.parts[0].kept
    second = tessera.verify(key, parts[1], before=first.kept)
    assert second and second.statement.start == first.kept


def test_parts_that_do_not_follow_each_other_are_rejected(
    key: tessera.Key, parts: list[Path], proof_path: Path
) -> None:
    assert not tessera.verify(key, parts[1])
    assert not tessera.verify(key, parts[0], before=None)
    alone = tessera.verify(key, list(reversed(parts)))
    assert not alone and len(alone.parts) == 1
    after_nothing = tessera.verify(key, [proof_path, proof_path])
    assert not after_nothing and len(after_nothing.parts) == 2
    assert after_nothing.reason == "the part before it keeps no state to continue"
    kept = tessera.verify(key, parts[0]).kept
    assert kept is not None
    other = tessera.State(bytes(32), kept.length, kept.last_token)
    assert not tessera.verify(key, parts[1], before=other)
    assert not tessera.verify(key, proof_path, before=kept)
    with pytest.raises(tessera.UnusableInput, match="state: root: expected 32 bytes, found 3"):
        tessera.verify(key, parts[1], before=tessera.State(b"abc", 1, 2))
    with pytest.raises(tessera.UnusableInput, match="found none"):
        tessera.verify(key, [])


def test_threads_may_read_and_verify(key_bytes: bytes, proof_path: Path) -> None:
    def work(_: int) -> bool:
        return all(tessera.verify(key_bytes, proof_path) for _ in range(5))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(16)))


def test_other_threads_run_while_one_verifies(key: tessera.Key, proof_path: Path) -> None:
    proof = tessera.Proof(proof_path)
    turns: list[int] = []
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            turns.append(1)
            time.sleep(0.0001)

    thread = threading.Thread(target=work)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # so this thread keeps Python's lock but where it gives it up
    before = len(turns)
    for _ in range(100):  # a machine with much to do may give the other thread no core during one
        verdict = tessera.verify(key, proof)
        if (after := len(turns)) > before:
            break
    sys.setswitchinterval(interval)
    ended.set()
    thread.join()
    assert verdict and after > before
