"""Renewals of hiding keys."""

import shutil
from pathlib import Path

import pytest

import tessera
from false_files import change_last


@pytest.fixture(scope="session")
def first(hiding: Path) -> tessera.Key:
    return tessera.Key(hiding / "first/verifying.key")


def test_a_renewal_leads_to_the_new_key(first: tessera.Key, hiding: Path) -> None:
    file = hiding / "renewal.h5"
    new_digest = tessera.Key(hiding / "second/verifying.key").digest
    for source in (file, str(file), file.read_bytes(), tessera.Renewal(file)):
        verdict = tessera.verify_renewal(first, source)
        assert verdict and verdict.key is not None and (verdict.scope, verdict.reason) == ("", "")
        assert verdict.key.digest == new_digest != first.digest
        assert tessera.verify(verdict.key, hiding / "second.h5")
    told = tessera.Renewal(file)
    assert (told.old_key_digest, told.key_digest) == (first.digest, new_digest)


def test_a_proof_behind_a_chain(first: tessera.Key, hiding: Path) -> None:
    chain = [hiding / "renewal.h5", hiding / "renewal2.h5"]
    verdict = tessera.verify(first, hiding / "third.h5", renewals=chain)
    assert verdict and verdict.prompt == "The old" and verdict.generated
    assert verdict.key_digest == tessera.Proof(hiding / "third.h5").key_digest
    assert tessera.verify(hiding / "first/verifying.key", [hiding / "second.h5"], renewals=chain[:1])


def test_a_chain_with_a_gap_or_in_another_order_is_rejected(first: tessera.Key, hiding: Path) -> None:
    one, two = hiding / "renewal.h5", hiding / "renewal2.h5"
    for chain, wrong in (([two], 1), ([two, one], 1), ([one, one], 2)):
        verdict = tessera.verify(first, hiding / "third.h5", renewals=chain)
        assert not verdict and verdict.scope == "/statement"
        assert verdict.reason == f"renewal {wrong}: it renews another key than the one before it"
        assert verdict.prompt is None and verdict.generated is None and verdict.made_for is not None
        assert verdict.soundness is None and verdict.kept is None
    several = tessera.verify(first, [hiding / "third.h5"], renewals=[two])
    assert not several and [bool(part) for part in several.parts] == [False]


def test_proofs_of_other_keys_of_the_chain_are_rejected(first: tessera.Key, hiding: Path) -> None:
    for name in ("first", "third"):
        verdict = tessera.verify(first, hiding / f"{name}.h5", renewals=[hiding / "renewal.h5"])
        assert not verdict and verdict.reason == "the proof was made for another verifying key"
        assert verdict.made_for == tessera.Key(hiding / name / "verifying.key").digest and verdict.prompt is None
    assert not tessera.verify(first, hiding / "second.h5")


@pytest.mark.parametrize("name", ["payload", "old_key"])
def test_a_false_renewal_is_rejected(first: tessera.Key, hiding: Path, tmp_path: Path, name: str) -> None:
    false = tmp_path / "false.h5"
    shutil.copyfile(hiding / "renewal.h5", false)
    change_last(false, name)
    verdict = tessera.verify_renewal(first, false)
    assert not verdict and verdict.key is None and verdict.scope.startswith("/") and verdict.reason
    behind = tessera.verify(first, hiding / "second.h5", renewals=[false])
    assert not behind and behind.reason == f"renewal 1: {verdict.reason}"


def test_a_renewal_of_a_plain_key(key: tessera.Key, hiding: Path) -> None:
    assert not tessera.verify_renewal(key, hiding / "renewal.h5")


def test_files_that_are_no_renewals_are_unusable(first: tessera.Key, hiding: Path, proof_path: Path) -> None:
    for file in (b"", b"no HDF5", (hiding / "renewal.h5").read_bytes()[:3000]):
        with pytest.raises(tessera.UnusableInput, match="^renewal: .*expected.*found"):
            tessera.verify(first, hiding / "second.h5", renewals=[file])
    with pytest.raises(tessera.UnusableInput, match="expected tessera renewal, found tessera proof"):
        tessera.Renewal(proof_path)
    with pytest.raises(tessera.UnusableInput, match="renewals: expected a list of renewals, found str"):
        tessera.verify(first, hiding / "second.h5", renewals="renewal.h5")
