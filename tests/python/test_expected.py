"""What a caller expects of a statement: accepted and rejected, in the words of tessera-verify."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import tessera

SAMPLING = "temperature=3,top_k=40"
SEED, OTHER, OPENING = (f"{number:064x}" for number in (7, 8, 5))
COMMITMENT = hashlib.blake2s(bytes.fromhex(OPENING)).hexdigest()
HI = [{"role": "user", "content": "Hi"}]
BYE = [{"role": "user", "content": "Bye"}]


@pytest.fixture(scope="session")
def chat_key(chats: Path) -> tessera.Key:
    return tessera.Key(chats / "chat-key/verifying.key")


def reason(verdict: tessera.Verdict) -> str:
    assert not verdict and verdict.scope == "/statement" and verdict.soundness is None and verdict.kept is None
    return verdict.reason


def test_prompts(key: tessera.Key, proof_path: Path, other_key_bytes: bytes) -> None:
    ids = key.encode("The old man")
    assert tessera.verify(key, proof_path, expect_prompt="The old man")
    assert tessera.verify(key, proof_path, expect_ids=ids) and tessera.verify(key, proof_path, expect_ids=ids.tolist())
    told = reason(tessera.verify(key, proof_path, expect_prompt="The old woman"))
    assert told.startswith('the prompt is not the expected one: its ids differ from those of the text "The old woman" (')
    digits = ",".join(map(str, ids))
    told = reason(tessera.verify(key, proof_path, expect_prompt=digits))
    assert told.endswith("; it was taken for a text: ids have an option of their own")
    told = reason(tessera.verify(key, proof_path, expect_ids=[*ids.tolist(), 1]))
    assert f'those of the ids "{digits},1" (' in told and told.endswith("expected 1, found none")
    assert reason(tessera.verify(key, proof_path, expect_ids=[])).endswith(f"expected none, found {ids[0]}")
    other = tessera.verify(other_key_bytes, proof_path, expect_prompt="The old woman")
    assert reason(other) == "the proof was made for another verifying key"


def test_prompts_of_parts(key: tessera.Key, parts: list[Path]) -> None:
    assert tessera.verify(key, parts, expect_prompt=["The old man", " and"])
    wrong = tessera.verify(key, parts, expect_prompt=["The old man", " or"])
    assert reason(wrong).startswith("the prompt is not the expected one") and [bool(part) for part in wrong.parts] == [True, False]
    for few in (["The old man"], "The old man", ("a", "b", "c")):
        with pytest.raises(tessera.UnusableInput, match="^expect_prompt: expected a list of one for each of the 2 proofs, found"):
            tessera.verify(key, parts, expect_prompt=few)
    with pytest.raises(tessera.UnusableInput, match="^expect_prompt, expect_ids: expected one of them, found both"):
        tessera.verify(key, parts[0], expect_prompt="a", expect_ids=[1])


def test_messages(chat_key: tessera.Key, chats: Path) -> None:
    for hi in (HI, {"messages": HI}, chats / "hi.json", str(chats / "hi.json")):
        assert tessera.verify(chat_key, chats / "chat1.h5", expect_messages=hi)
    assert np.array_equal(chat_key.encode_messages(HI), tessera.Proof(chats / "chat1.h5").statement.prompt)
    told = reason(tessera.verify(chat_key, chats / "chat1.h5", expect_messages=BYE))
    assert told.startswith("the prompt is not the expected one: its ids differ from those of the messages (")
    told = reason(tessera.verify(chat_key, chats / "chat1.h5", expect_messages=chats / "bye.json"))
    assert f'those of the messages of "{chats}/bye.json" (' in told
    both = [chats / "chat1.h5", chats / "chat2.h5"]
    assert tessera.verify(chat_key, both, expect_messages=[HI, chats / "bye.json"])
    assert not tessera.verify(chat_key, both, expect_messages=[HI, HI])
    # a later part is what stands behind the answer, and no chat of its own
    assert tessera.verify(chat_key, both).parts[1].statement.prompt.tolist() != chat_key.encode_messages(BYE).tolist()


def test_messages_that_are_none(key: tessera.Key, chat_key: tessera.Key, chats: Path, tmp_path: Path) -> None:
    def refused(why: str, messages: object, by: tessera.Key = chat_key) -> None:
        with pytest.raises(tessera.UnusableInput, match=why):
            tessera.verify(by, chats / "chat1.h5", expect_messages=messages)  # type: ignore[arg-type]

    refused(r"^messages\[0\]\.role: expected system", [{"role": "tool", "content": "a"}])
    refused("^messages: expected a list of one or more", [])
    refused("^tools: expected messages and date alone", {"messages": HI, "tools": []})
    refused("^messages: expected messages, found none that can be read", [{1, 2}])
    refused("none.json: expected messages, found none that can be read", tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("[")
    refused("bad.json: expected JSON", tmp_path / "bad.json")
    with pytest.raises(tessera.UnusableInput, match="^messages: expected a model with a chat template, found one without"):
        key.encode_messages(HI)


def test_a_renderer_that_is_none(chat_key: tessera.Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESSERA_PYTHON", "/none")
    with pytest.raises(tessera.UnusableInput, match="rendered by the Python package tessera with its part chat"):
        chat_key.encode_messages(HI)


def test_sampling(key: tessera.Key, proof_path: Path, chat_key: tessera.Key, chats: Path) -> None:
    both = [chats / "chat1.h5", chats / "chat2.h5"]
    assert tessera.verify(chat_key, both, expect_sampling=SAMPLING, expect_seed=SEED)
    for wrong in ("temperature=3", "temperature=3.1,top_k=40", f"{SAMPLING},top_p=0.9", f"{SAMPLING},min_p=0.1", "temperature=0"):
        told = reason(tessera.verify(chat_key, both, expect_sampling=wrong))
        assert told.startswith("tokens are not drawn as expected: expected ") and told.endswith(f"found {SAMPLING}"), told
    assert tessera.verify(key, proof_path, expect_sampling="temperature=0")
    told = reason(tessera.verify(key, proof_path, expect_sampling=SAMPLING))
    assert told == f"tokens are not drawn as expected: expected {SAMPLING}, found the arg-max (temperature=0)"
    for text in ("", "hot", "top_k=40", "temperature=99"):
        with pytest.raises(tessera.UnusableInput, match="^expect(ed|_)[ s]"):
            tessera.verify(chat_key, both, expect_sampling=text)


def test_seeds(key: tessera.Key, proof_path: Path, chat_key: tessera.Key, chats: Path) -> None:
    one, joint = chats / "chat1.h5", chats / "joint.h5"
    for seed in (SEED, bytes.fromhex(SEED), SEED.upper()):
        assert tessera.verify(chat_key, one, expect_seed=seed)
    told = reason(tessera.verify(chat_key, one, expect_seed=OTHER))
    assert told == f"the seed is not the expected one: expected {OTHER}, found {SEED}"
    told = reason(tessera.verify(key, proof_path, expect_seed=SEED))
    assert told == f"the seed is not the expected one: expected {SEED}, found none: tokens are the arg-max"
    shares = {"seed_commitment": COMMITMENT, "seed_opening": OPENING}
    assert tessera.verify(chat_key, joint, expect_seed=SEED, **shares)
    assert reason(tessera.verify(chat_key, joint, expect_seed=SEED)).startswith("the seed is not the expected one")
    assert reason(tessera.verify(chat_key, joint, expect_seed=OTHER, **shares)).startswith("the seed is not the expected one")
    assert reason(tessera.verify(chat_key, one, expect_seed=SEED, **shares)).startswith("the seed is not the expected one")
    for change in ({"seed_opening": OTHER}, {"seed_commitment": OTHER}):
        told = reason(tessera.verify(chat_key, joint, expect_seed=SEED, **{**shares, **change}))
        assert told == "the seed's opening is not what its commitment is to"
    for more, field in (
        ({"expect_seed": "07"}, "expected seed"),
        ({"expect_seed": b"07"}, "expected seed"),
        ({"expect_seed": b""}, "expect_seed"),
        (shares, "expected seed"),
        ({"expect_seed": SEED, "seed_commitment": COMMITMENT}, "seed opening"),
        ({"expect_seed": SEED, "seed_opening": OPENING}, "seed commitment"),
        ({"expect_seed": SEED, **shares, "seed_opening": "x" * 64}, "seed opening"),
    ):
        with pytest.raises(tessera.UnusableInput, match=f"^{field}: expected"):
            tessera.verify(chat_key, joint, **more)  # type: ignore[arg-type]


def test_ids_of_messages_are_a_file_for_the_browsers_page(chat_key: tessera.Key, chats: Path) -> None:
    told = json.loads(json.dumps(chat_key.encode_messages(HI).tolist()))
    assert tessera.verify(chat_key, chats / "chat1.h5", expect_ids=told)
