"""The queue: answers are proven after they were given, by jobs of several, and verified before they are published."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from .programs import run
from .store import Store

TRIES = 3


@dataclass
class Jobs:
    """How proofs are made: by mpirun here, or by sbatch with jobs/prove_array.sbatch."""

    tessera: str
    verifier: str
    model: str
    commitment: str
    folder: Path
    ranks: int
    most: int  # answers in one job
    script: str | None = None  # jobs/prove_array.sbatch; None: here
    build: str = "build"

    async def prove(self, prompts: Path, count: int, generate: int, sampling: dict[str, object], out: Path) -> str:
        """Proves each line of token ids into `out`; what went wrong, for people."""
        if self.script is None:
            command = [self.tessera, "prove", "--quiet", "--model", self.model, "--commitment", self.commitment]
            command += ["--prompt-ids", str(prompts), "--generate", str(generate), "--out", str(out)]
            for name, value in sampling.items():
                command += ["--" + name.replace("_", "-"), str(value)]
            if self.ranks > 1:
                command = ["mpirun", "-n", str(self.ranks), *command]
            code, _, errors = await run(command)
        else:
            log = prompts.parent / "job.log"
            command = ["sbatch", "--wait", "--export=ALL", "--array=1-1", f"--output={log}", self.script]
            # what the server was started with says nothing of its answers
            environment = {"PROMPTS": "", "SAMPLING": "", "SEED": "", "MODEL": self.model, "COMMITMENT": self.commitment, "PROMPT_IDS": str(prompts)}
            environment |= {"GENERATE": str(generate), "OUT": str(out), "PROMPTS_PER_TASK": str(count)}
            if sampling:
                environment["SAMPLING"] = ",".join(f"{n}={value}" for n, value in sampling.items() if n != "seed")
                environment["SEED"] = str(sampling["seed"])
            code, _, errors = await run(command, environment | {"BUILD": self.build})
            if code != 0 and log.exists():  # the job's own words, or sbatch's
                errors += log.read_text(errors="replace")
        return "" if code == 0 else (errors.strip() or f"exit code {code}")[-1000:]

    async def verify(self, files: list[Path]) -> dict[str, dict[str, object]]:
        """What tessera-verify says of each file, by its name."""
        if not files:
            return {}
        key = str(Path(self.commitment) / "verifying.key")
        _, output, _ = await run([self.verifier, "--key", key, "--json", "--each", *map(str, files)])
        return {Path(proof["file"]).name: proof for proof in json.loads(output)["proofs"]}


class Prover:
    """Takes what is queued until it is stopped."""

    def __init__(self, store: Store, jobs: Jobs) -> None:
        self._store = store
        self._jobs = jobs
        self.wake = asyncio.Event()

    async def work(self) -> None:
        shutil.rmtree(self._jobs.folder / "unfinished", ignore_errors=True)  # of a process that has ended
        (self._jobs.folder / "proofs").mkdir(parents=True, exist_ok=True)
        while True:
            self.wake.clear()
            rows = self._store.take(self._jobs.most)
            if rows:
                await self._prove(rows)
            else:
                await self.wake.wait()

    async def _prove(self, rows: list[sqlite3.Row]) -> None:
        answers = [json.loads(row["answer"]) for row in rows]
        folder = self._jobs.folder / "unfinished" / rows[0]["id"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        prompts = folder / "prompts.ids"
        prompts.write_text("".join(",".join(map(str, answer["prompt"])) + "\n" for answer in answers))
        try:
            sampling = json.loads(rows[0]["line"]).get("sampling") or {}
            generate = len(answers[0]["generated"])
            wrong = await self._jobs.prove(prompts, len(rows), generate, sampling, folder / "proofs")
            files = [folder / "proofs" / f"{number:06d}.h5" for number in range(1, len(rows) + 1)]
            found = await self._jobs.verify([file for file in files if file.exists()])
        except (OSError, ValueError, KeyError) as error:
            wrong, files, found = str(error), [], {}
        for number, (row, answer) in enumerate(zip(rows, answers)):
            name = f"{number + 1:06d}.h5"
            self._settle(row, answer, files[number] if name in found else None, found.get(name, {}), wrong)
        shutil.rmtree(folder, ignore_errors=True)

    def _settle(
        self, row: sqlite3.Row, answer: dict[str, object], file: Path | None, proof: dict[str, object], wrong: str
    ) -> None:
        if file is not None and proof["verdict"] == "accepted":
            proven = [proof[what]["ids"] for what in ("prompt", "generated")]  # type: ignore[index]
            if proven == [answer["prompt"], answer["generated"]]:
                target = self._jobs.folder / "proofs" / f"{row['id']}.h5"
                os.replace(file, target)
                self._store.proven(row["id"], str(target))
            else:
                self._store.failed(row["id"], "the model's answer in the proof is another one than was given")
            return
        reason = str(proof.get("reason") or wrong or "the job left no proof")
        if row["tries"] + 1 >= TRIES:
            self._store.failed(row["id"], reason)
        else:
            self._store.again(row["id"])
