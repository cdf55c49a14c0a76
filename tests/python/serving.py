"""tessera-serve with the openai client: requests, errors, receipts, and none lost or twice over restarts.

serving.py PROGRAMS SOURCE [REQUESTS]: programs of the build, the project's folder, how many requests (default: 60).
Runs in an empty folder, with PYTHONPATH or an environment that has tessera_serve, tessera_chat and openai.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import openai

PROGRAMS, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
REQUESTS = int(sys.argv[3]) if len(sys.argv) > 3 else 60
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>a\n' }}{% endif %}"
)
KEY = "a key of this test"
EARLIER = 10  # answers of check_answers and check_sampled


def tessera(*arguments: str) -> None:
    subprocess.run([str(PROGRAMS / "tessera"), *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)


def make_model() -> None:
    shutil.copytree(SOURCE / "configs/odd-qwen2-50k", "chat")
    Path("chat/chat_template.jinja").write_text(TEMPLATE)
    tessera("import", "--checkpoint", "chat", "--out", "chat.h5")
    tessera("commit", "--model", "chat.h5", "--out", "commitment")
    tessera("commit", "--model", "chat.h5", "--out", "hidden", "--hiding", "--proofs", "2")
    Path("keys").write_text(KEY + "\n")


class Server:
    def __init__(self, commitment: str, data: str) -> None:
        self.folders = ["--commitment", commitment, "--data", data]
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.client = openai.OpenAI(base_url=f"http://127.0.0.1:{self.port}/v1", api_key=KEY, max_retries=0, timeout=60)
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tessera_serve", "--model", "chat.h5", *self.folders]
        command += ["--port", str(self.port), "--keys", "keys", "--programs", str(PROGRAMS)]
        command += ["--most-tokens", "12", "--batch", "64", "--most-body", "20000"]
        self.process = subprocess.Popen(command)
        for _ in range(600):
            try:
                self.client.models.list()
                return
            except openai.APIConnectionError:
                assert self.process.poll() is None, "the server has ended"
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def get(self, path: str, key: str = KEY) -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bytes(answer.read())

    def receipt(self, receipt: str) -> dict[str, object]:
        return dict(json.loads(self.get(f"/v1/receipts/{receipt}")))

    def proven(self, receipt: str) -> dict[str, object]:
        for _ in range(1200):
            found = self.receipt(receipt)
            if found["state"] in ("proven", "failed"):
                return found
            time.sleep(0.1)
        raise AssertionError(f"{receipt} is {found['state']}")


def check_answers(server: Server) -> None:
    client = server.client
    assert [model.id for model in client.models.list()] == ["chat"]
    messages = [{"role": "user", "content": "Hi <|im_end|>"}]
    whole = client.chat.completions.create(model="chat", messages=messages, max_tokens=6)  # type: ignore[arg-type]
    stream = client.chat.completions.create(  # type: ignore[call-overload]
        model="chat", messages=messages, max_tokens=6, stream=True, stream_options={"include_usage": True}
    )
    pieces = list(stream)
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    assert text == whole.choices[0].message.content, (text, whole)
    assert whole.choices[0].finish_reason in ("stop", "length")
    assert pieces[-2].choices[0].finish_reason == whole.choices[0].finish_reason
    assert pieces[-1].usage == whole.usage and whole.usage.completion_tokens <= 6
    plain = client.completions.create(model="chat", prompt="The old", max_tokens=5)
    assert len(plain.choices) == 1 and plain.usage is not None and plain.usage.completion_tokens <= 5
    long = client.completions.create(model="chat", prompt=[5] * 60)  # as many as there is room for
    assert long.usage is not None and long.usage.completion_tokens <= 4
    raw = client.chat.completions.with_raw_response.create(model="chat", messages=messages, max_tokens=6, temperature=0)  # type: ignore[arg-type]
    receipt = raw.headers["x-tessera-receipt"]
    assert raw.parse().model_extra["receipt"] == receipt  # type: ignore[index]
    found = server.proven(receipt)
    assert found["state"] == "proven", found
    assert hashlib.blake2s(str(found["request"]).encode()).hexdigest() == found["request_digest"]
    assert json.loads(str(found["request"]))["messages"] == messages
    Path("proof.h5").write_bytes(server.get(str(found["proof"])))
    Path("messages.json").write_text(json.dumps(found["messages"]))
    Path("key").write_bytes(server.get("/v1/key"))
    verify = [str(PROGRAMS / "tessera-verify"), "--key", "key", "--expect-key", str(found["key_digest"]), "proof.h5"]
    said = subprocess.run([*verify, "--expect-messages", "messages.json", "--json"], capture_output=True, text=True)
    assert said.returncode == 0, said
    assert json.loads(said.stdout)["proofs"][0]["generated"]["ids"] == found["generated"]
    Path("messages.json").write_text(json.dumps([{"role": "user", "content": "Hi"}]))
    assert subprocess.run([*verify, "--expect-messages", "messages.json"], capture_output=True).returncode == 1


def check_sampled(server: Server) -> None:
    """The same seed, the same text; the receipt says how tokens were drawn, and a verifier insists on it."""

    def answer(seed: int | None) -> tuple[str, dict[str, object]]:
        raw = server.client.completions.with_raw_response.create(
            model="chat", prompt="The old", max_tokens=6, temperature=0.9, top_p=0.95, seed=seed, extra_body={"top_k": 20}
        )
        return raw.parse().choices[0].text, server.proven(raw.headers["x-tessera-receipt"])

    text, found = answer(7)
    assert answer(7)[0] == text
    assert found["state"] == "proven", found
    seed = f"{7:064x}"
    assert found["sampling"] == {"temperature": 0.9, "top_p": 0.95, "top_k": 20, "seed": seed}, found
    Path("sampled.h5").write_bytes(server.get(str(found["proof"])))
    verify = [str(PROGRAMS / "tessera-verify"), "--key", "commitment/verifying.key", "sampled.h5", "--expect-seed", seed]
    for parameters, code in (("temperature=0.9,top_k=20,top_p=0.95", 0), ("temperature=0.9,top_k=20", 1)):
        said = subprocess.run([*verify, "--expect-sampling", parameters], capture_output=True, text=True)
        assert said.returncode == code, said
    alone = server.client.completions.with_raw_response.create(model="chat", prompt="The old", max_tokens=6, temperature=0.9)
    found = server.proven(alone.headers["x-tessera-receipt"])
    assert found["state"] == "proven" and set(found["sampling"]) == {"temperature", "seed"}, found
    drawn = [answer(None)[1]["sampling"]["seed"] for _ in range(2)]  # type: ignore[index]
    assert drawn[0] != drawn[1], drawn


def check_hiding(server: Server) -> None:
    """Under a hiding key tokens are drawn from the whole vocabulary, and from no list."""
    raw = server.client.completions.with_raw_response.create(model="chat", prompt="The old", max_tokens=4, temperature=0.9, seed=7)
    found = server.proven(raw.headers["x-tessera-receipt"])
    assert found["state"] == "proven" and found["sampling"] == {"temperature": 0.9, "seed": f"{7:064x}"}, found
    Path("hidden.h5").write_bytes(server.get(str(found["proof"])))
    verify = [str(PROGRAMS / "tessera-verify"), "--key", "hidden/verifying.key", "hidden.h5", "--expect-sampling"]
    for parameters, code in (("temperature=0.9", 0), ("temperature=0.8", 1)):
        assert subprocess.run([*verify, parameters], capture_output=True).returncode == code
    try:
        server.client.completions.create(model="chat", prompt="The old", max_tokens=4, temperature=0.9, extra_body={"top_k": 20})
        raise AssertionError("a list under a hiding key")
    except openai.BadRequestError as error:
        assert error.param == "top_k", error.param


def check_errors(server: Server) -> None:
    messages = [{"role": "user", "content": "Hi"}]

    def refused(kind: type[openai.APIStatusError], param: str | None, **more: object) -> None:
        try:
            server.client.chat.completions.create(**{"model": "chat", "messages": messages, **more})  # type: ignore[call-overload]
        except kind as error:
            assert error.param == param, (error.param, more)
            return
        raise AssertionError(f"accepted {more}")

    refused(openai.NotFoundError, "model", model="gpt-4")
    refused(openai.BadRequestError, "temperature", temperature=3)
    refused(openai.BadRequestError, "temperature", temperature=0.001)
    refused(openai.BadRequestError, "top_p", temperature=1, top_p=1.5)
    refused(openai.BadRequestError, "top_k", temperature=1, extra_body={"top_k": 5000})
    refused(openai.BadRequestError, "seed", temperature=1, extra_body={"seed": "a"})
    refused(openai.BadRequestError, "tools", tools=[{"type": "function", "function": {"name": "f"}}])
    refused(openai.BadRequestError, "n", n=2)
    refused(openai.BadRequestError, "max_tokens", max_tokens=13)
    refused(openai.BadRequestError, "messages[0].role", messages=[{"role": "tool", "content": "a"}])
    refused(openai.BadRequestError, None, messages=[{"role": "user", "content": "a" * 200}])
    refused(openai.APIStatusError, None, messages=[{"role": "user", "content": "a" * 20000}])
    wrong = openai.OpenAI(base_url=server.client.base_url, api_key="another", max_retries=0)
    for call in (wrong.models.list, lambda: wrong.chat.completions.create(model="chat", messages=messages)):  # type: ignore[arg-type]
        try:
            call()
            raise AssertionError("another key has access")
        except openai.AuthenticationError:
            pass


def ask(server: Server, number: int) -> str:
    """Until there is an answer, whatever happens to the server; with one name, so that it is one request."""
    while True:
        try:
            raw = server.client.completions.with_raw_response.create(
                model="chat",
                prompt=[number % 256, 17, number // 256],
                max_tokens=2 + number % 2,
                extra_headers={"Idempotency-Key": f"request {number}"},
            )
            return str(raw.headers["x-tessera-receipt"])
        except (openai.APIConnectionError, openai.RateLimitError):
            time.sleep(0.2)


def check_restarts(server: Server) -> None:
    receipts: dict[int, str] = {}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        futures = {pool.submit(ask, server, number): number for number in range(REQUESTS)}
        kills = {REQUESTS * part // 4 for part in (1, 2, 3)}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            receipts[futures[future]] = future.result()
            if done in kills:
                server.kill()
                server.start()
    assert len(set(receipts.values())) == REQUESTS
    server.kill()  # in the middle of proofs, perhaps
    server.start()
    proofs = set()
    for number, receipt in receipts.items():
        found = server.proven(receipt)
        assert found["state"] == "proven", found
        assert found["prompt"] == [number % 256, 17, number // 256]
        proofs.add(receipt)
    files = {file.stem for file in Path("data/proofs").iterdir()}
    assert proofs <= files and len(files) - len(proofs) <= EARLIER, (len(files), len(proofs))
    said = subprocess.run(
        [str(PROGRAMS / "tessera-verify"), "--key", "commitment/verifying.key", "--each", "data/proofs"],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0 and f"{len(files)} files: {len(files)} accepted" in said.stdout, said.stdout[-500:]


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("TESSERA_PYTHON", sys.executable)  # with what renders chats
    make_model()
    hiding = Server("hidden", "hidden-data")
    try:
        check_hiding(hiding)
    finally:
        hiding.kill()
    server = Server("commitment", "data")
    try:
        check_answers(server)
        check_sampled(server)
        check_errors(server)
        check_restarts(server)
    finally:
        server.kill()
    print(f"passed, {REQUESTS} requests")


if __name__ == "__main__":
    main()
