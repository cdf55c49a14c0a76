"""tessera-serve whose proofs are made by sbatch: answers become proven, and an auditor verifies their receipts.

serving.py PROGRAMS SOURCE: programs of the build, the project's folder. Runs in a folder that the nodes share, where
sbatch is SLURM's, with PYTHONPATH of tessera_serve; needs starlette, uvicorn and jinja2.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

PROGRAMS, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>a\n' }}{% endif %}"
)
HI = [{"role": "user", "content": "Hi"}]


def tessera(*arguments: str) -> None:
    subprocess.run([str(PROGRAMS / "tessera"), *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)


def make_model() -> None:
    shutil.copytree(SOURCE / "configs/odd-qwen2-50k", "chat")
    Path("chat/chat_template.jinja").write_text(TEMPLATE)
    tessera("import", "--checkpoint", "chat", "--out", "chat.h5")
    tessera("commit", "--model", "chat.h5", "--out", "chat-key")


class Server:
    def __init__(self, data: str, script: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        command = [sys.executable, "-m", "tessera_serve", "--model", "chat.h5", "--commitment", "chat-key", "--data", data]
        command += ["--port", str(self.port), "--programs", str(PROGRAMS), "--prove", "sbatch", "--script", str(script)]
        self.process = subprocess.Popen(command)
        for _ in range(300):
            try:
                self.get("/v1/models")
                return
            except urllib.error.URLError:
                assert self.process.poll() is None, "the server has ended"
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def get(self, path: str, body: object = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bytes(answer.read())

    def chat(self, **more: object) -> dict[str, object]:
        """The receipt of an answer, when it is settled."""
        answer = json.loads(self.get("/v1/chat/completions", {"model": "chat", "messages": HI, "max_tokens": 5, **more}))
        for _ in range(600):
            found = dict(json.loads(self.get(f"/v1/receipts/{answer['receipt']}")))
            if found["state"] in ("proven", "failed"):
                return found
            time.sleep(0.2)
        raise AssertionError(f"the receipt is {found['state']}")


def verify(server: Server, found: dict[str, object], *expected: str) -> int:
    Path("served.h5").write_bytes(server.get(str(found["proof"])))
    Path("served.key").write_bytes(server.get("/v1/key"))
    Path("served.json").write_text(json.dumps(found["messages"]))
    command = [str(PROGRAMS / "tessera-verify"), "--key", "served.key", "--expect-key", str(found["key_digest"]), "served.h5"]
    said = subprocess.run([*command, "--expect-messages", "served.json", "--json", *expected], capture_output=True, text=True)
    if said.returncode == 0:
        assert json.loads(said.stdout)["proofs"][0]["generated"]["ids"] == found["generated"]
    return said.returncode


def check_proven(server: Server) -> None:
    greedy = server.chat()
    assert greedy["state"] == "proven", greedy
    assert verify(server, greedy, "--expect-sampling", "temperature=0") == 0
    assert verify(server, greedy, "--expect-sampling", "temperature=0.5") == 1
    sampled = server.chat(temperature=0.9, top_p=0.95, top_k=20, seed=7)
    assert sampled["state"] == "proven", sampled
    expected = ("--expect-sampling", "temperature=0.9,top_k=20,top_p=0.95", "--expect-seed")
    assert verify(server, sampled, *expected, f"{7:064x}") == 0
    assert verify(server, sampled, *expected, f"{8:064x}") == 1


def main() -> None:
    make_model()
    server = Server("served", SOURCE / "jobs/prove_array.sbatch")
    try:
        check_proven(server)
    finally:
        server.process.kill()
        server.process.wait()
    broken = Path("broken.sbatch")
    broken.write_text("#!/usr/bin/env bash\necho the disk is full\nexit 3\n")
    server = Server("broken", broken)
    try:
        found = server.chat()
        assert found["state"] == "failed" and found["reason"] == "the disk is full", found
    finally:
        server.process.kill()
        server.process.wait()
    print("passed")


if __name__ == "__main__":
    main()
