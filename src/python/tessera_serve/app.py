"""The HTTP side: OpenAI's requests in front of `tessera generate`, and receipts."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import hmac
import json
import sqlite3
import time
from dataclasses import dataclass, field
from typing import Any, AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .programs import Broken, Generator, Renderer
from .prover import Prover
from .requests import Asked, Refused, parse
from .store import Store


@dataclass
class Limits:
    body: int = 1 << 20  # bytes
    tokens: int = 256  # of an answer
    waiting: int = 64  # answers that are not finished


@dataclass
class Service:
    """What the server consists of. `keys`: SHA-256 digests of the keys that give access; none: everybody has it."""

    name: str
    store: Store
    generator: Generator
    renderer: Renderer
    prover: Prover | None
    key_digest: str
    key_file: str
    hiding: bool = False  # the key is
    limits: Limits = field(default_factory=Limits)
    keys: list[bytes] = field(default_factory=list)
    hello: dict[str, Any] = field(default_factory=dict)
    waiting: dict[str, "Answer"] = field(default_factory=dict)
    turns: "asyncio.Queue[Answer]" = field(default_factory=asyncio.Queue)


class Answer:
    """An answer in the making. Who reads `lines` gets it as it comes; it is finished whether somebody does or not."""

    def __init__(self, receipt: str, line: dict[str, Any]) -> None:
        self.receipt = receipt
        self.line = line
        self.lines: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.done: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()


async def answer_all(service: Service) -> None:
    """Answers one after another, first those that a process that ended was asked for."""
    for row in service.store.unanswered():
        answer = Answer(row["id"], json.loads(row["line"]))
        service.waiting[row["id"]] = answer
        await service.turns.put(answer)
    while True:
        await _answer(service, await service.turns.get())


async def _answer(service: Service, answer: Answer) -> None:
    last: dict[str, Any] = {"error": "tessera generate has ended"}
    text = ""
    for attempt in range(2):
        try:
            async with contextlib.aclosing(service.generator.answer(answer.line)) as lines:
                async for line in lines:
                    last = line
                    text += line.get("text", "") + line.get("rest", "")
                    if "generated" not in line and "error" not in line:
                        answer.lines.put_nowait(line)
            break
        except (Broken, OSError) as error:
            last = {"error": str(error)}
            if text or attempt:
                break  # somebody has seen some of it
    if "generated" in last:
        service.store.answered(answer.receipt, last, text)
        if service.prover is not None:
            service.prover.wake.set()
    else:
        service.store.failed(answer.receipt, str(last["error"]))
    del service.waiting[answer.receipt]
    answer.lines.put_nowait(last)
    answer.done.set_result(last)


def _check_access(service: Service, request: Request) -> None:
    if not service.keys:
        return
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    digest = hashlib.sha256(key.encode(errors="replace")).digest()
    if kind.lower() != "bearer" or not any([hmac.compare_digest(digest, known) for known in service.keys]):
        raise Refused("expected a key of this server", status=401, code="invalid_api_key", kind="authentication_error")


async def _body(service: Service, request: Request) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > service.limits.body:
            raise Refused(f"expected at most {service.limits.body} bytes, found more", status=413)
    return body


async def _line(service: Service, asked: Asked) -> tuple[dict[str, Any], str | None]:
    """What tessera generate is asked, and the messages as a file for tessera-verify has them."""
    messages = None
    if asked.messages is not None:
        if service.hello["chat"] is None:
            raise Refused("the model has no chat template: /v1/completions takes a text", param="messages")
        document = {"messages": asked.messages, "date": datetime.date.today().isoformat()}
        messages = json.dumps(document, ensure_ascii=False)
        rendered = await service.renderer.render(service.hello["chat"], messages)
        if "error" in rendered:
            raise Refused(rendered["error"], param="messages")
        line = {"text": rendered["text"], "marks": rendered["marks"]}
    elif isinstance(asked.prompt, str):
        line = {"text": asked.prompt, "begins": True}
    else:
        line = {"tokens": asked.prompt}
    most = service.limits.tokens
    if asked.generate is not None and asked.generate > most:
        raise Refused(f"max_tokens: expected at most {most}, found {asked.generate}", param="max_tokens")
    length = {"generate": asked.generate or most, "fits": asked.generate is None, "until_end": True}
    if asked.sampling:
        line["sampling"] = asked.sampling
    return {**line, **length}, messages


async def _ask(service: Service, path: str, body: bytes, asked: Asked, name: str | None) -> Answer | sqlite3.Row:
    """An answer in the making, or the receipt of one that has been given to this request."""
    known = service.store.named(name) if name else None
    if known is None:
        if len(service.waiting) >= service.limits.waiting:
            raise Refused("the server is busy: try again later", status=429, code="rate_limit_exceeded")
        line, messages = await _line(service, asked)
        known = service.store.named(name) if name else None  # meanwhile
    if known is not None:
        if known["request_digest"] != hashlib.blake2s(body).hexdigest():
            raise Refused("Idempotency-Key: expected the same request as before, found another one", status=409)
        return service.waiting.get(known["id"], known)
    receipt = service.store.add(path, body, line, messages, name)
    answer = Answer(receipt, {**line, "id": receipt})
    service.waiting[receipt] = answer
    service.turns.put_nowait(answer)
    return answer


def _object(service: Service, receipt: str, chat: bool, piece: bool) -> dict[str, Any]:
    kind = ("chat.completion.chunk" if piece else "chat.completion") if chat else "text_completion"
    return {
        "id": ("chatcmpl-" if chat else "cmpl-") + receipt,
        "object": kind,
        "created": int(time.time()),
        "model": service.name,
        "receipt": receipt,
    }


def _choice(chat: bool, piece: bool, text: str | None, finish: str | None) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish, "logprobs": None}
    if not chat:
        choice["text"] = text or ""
    elif piece:
        choice["delta"] = {} if text is None else {"content": text}
    else:
        choice["message"] = {"role": "assistant", "content": text, "refusal": None}
    return choice


def _usage(last: dict[str, Any]) -> dict[str, int]:
    counts = {"prompt_tokens": len(last["prompt"]), "completion_tokens": len(last["generated"])}
    return {**counts, "total_tokens": sum(counts.values())}


def _finish(last: dict[str, Any]) -> str:
    return "stop" if last["complete"] else "length"


def _refuse_failed(error: object) -> None:
    long = str(error).startswith("--prompt")
    raise Refused(str(error), status=400 if long else 500, code="context_length_exceeded" if long else None)


async def _stream(service: Service, asked: Asked, chat: bool, answer: Answer) -> AsyncIterator[str]:
    def event(choices: list[dict[str, Any]], **more: Any) -> str:
        return "data: " + json.dumps({**_object(service, answer.receipt, chat, True), "choices": choices, **more}) + "\n\n"

    if chat:
        first = _choice(True, True, "", None)
        first["delta"]["role"] = "assistant"
        yield event([first])
    while True:
        line = await answer.lines.get()
        if "error" in line:
            error = {"message": line["error"], "type": "server_error", "param": None, "code": None}
            yield "data: " + json.dumps({"error": error}) + "\n\n"
            return
        text = line.get("text", line.get("rest", ""))
        if text:
            yield event([_choice(chat, True, text, None)])
        if "generated" in line:
            yield event([_choice(chat, True, None, _finish(line))])
            if asked.usage:
                yield event([], usage=_usage(line))
            yield "data: [DONE]\n\n"
            return


async def _complete(service: Service, request: Request, chat: bool) -> Response:
    _check_access(service, request)
    body = await _body(service, request)
    asked = parse(body, chat, [service.name], bool(service.hello.get("sampling")), service.hiding)
    found = await _ask(service, request.url.path, body, asked, request.headers.get("idempotency-key"))
    receipt = found.receipt if isinstance(found, Answer) else found["id"]
    headers = {"X-Tessera-Receipt": receipt}
    if asked.stream and isinstance(found, Answer):
        return StreamingResponse(
            _stream(service, asked, chat, found), media_type="text/event-stream", headers=headers
        )
    if isinstance(found, Answer):
        await asyncio.shield(found.done)
    row = service.store.find(receipt)
    assert row is not None
    if row["answer"] is None:
        _refuse_failed(row["reason"])
    last = json.loads(row["answer"])
    if asked.stream:  # of an answer that has been given before
        replay = Answer(receipt, {})
        replay.lines.put_nowait({**last, "rest": row["text"]})
        return StreamingResponse(
            _stream(service, asked, chat, replay), media_type="text/event-stream", headers=headers
        )
    whole = {**_object(service, receipt, chat, False), "usage": _usage(last)}
    whole["choices"] = [_choice(chat, False, row["text"], _finish(last))]
    return JSONResponse(whole, headers=headers)


def _receipt(service: Service, row: sqlite3.Row) -> dict[str, Any]:
    answer = json.loads(row["answer"]) if row["answer"] else None
    return {
        "id": row["id"],
        "object": "tessera.receipt",
        "created": int(row["created"]),
        "state": row["state"],
        "reason": row["reason"],
        "path": row["path"],
        "request": row["request"].decode(),
        "request_digest": row["request_digest"],
        "messages": json.loads(row["messages"]) if row["messages"] else None,
        "prompt": answer and answer["prompt"],
        "generated": answer and answer["generated"],
        "complete": answer and answer["complete"],
        "text": row["text"],
        "sampling": json.loads(row["line"]).get("sampling"),  # with the seed; of greedy answers none
        "key_digest": service.key_digest,
        "proof": f"/v1/receipts/{row['id']}/proof" if row["state"] == "proven" else None,
    }


def application(service: Service) -> Starlette:
    """The service as an ASGI application, which runs its programs as long as it lives."""

    async def completions(request: Request) -> Response:
        return await _complete(service, request, False)

    async def chat_completions(request: Request) -> Response:
        return await _complete(service, request, True)

    async def models(request: Request) -> Response:
        _check_access(service, request)
        model = {"id": service.name, "object": "model", "created": 0, "owned_by": "tessera"}
        return JSONResponse({"object": "list", "data": [{**model, "key_digest": service.key_digest}]})

    async def receipt(request: Request) -> Response:
        _check_access(service, request)
        row = service.store.find(request.path_params["receipt"])
        if row is None:
            raise Refused("expected a receipt of this server, found none of this id", status=404)
        return JSONResponse(_receipt(service, row))

    async def proof(request: Request) -> Response:
        _check_access(service, request)
        row = service.store.find(request.path_params["receipt"])
        if row is None or row["state"] != "proven":
            raise Refused("there is no proof of this receipt" if row is None else f"it is {row['state']}", status=404)
        return FileResponse(row["proof"], media_type="application/x-hdf5", filename=f"{row['id']}.h5")

    async def key(request: Request) -> Response:
        _check_access(service, request)
        return FileResponse(service.key_file, media_type="application/x-hdf5", filename="verifying.key")

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return JSONResponse(error.body, status_code=error.status)

    async def missing(request: Request, error: Exception) -> Response:
        return await refused(request, Refused(f"there is no {request.url.path}", status=404))

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.hello = await service.generator.start()
        service.limits.tokens = min(service.limits.tokens, service.hello["most"])
        tasks = [asyncio.create_task(answer_all(service))]
        if service.prover is not None:
            tasks.append(asyncio.create_task(service.prover.work()))
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await service.generator.stop()
        await service.renderer.stop()

    routes = [
        Route("/v1/models", models),
        Route("/v1/chat/completions", chat_completions, methods=["POST"]),
        Route("/v1/completions", completions, methods=["POST"]),
        Route("/v1/receipts/{receipt}", receipt),
        Route("/v1/receipts/{receipt}/proof", proof),
        Route("/v1/key", key),
    ]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={Refused: refused, 404: missing})
