"""What OpenAI's clients send, checked; what is not supported is refused by name."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

ROLES = ("system", "developer", "user", "assistant")
SAMPLING = ("temperature", "top_p", "top_k", "min_p", "seed")
MOST_LIKELY = 64  # candidates of an answer with top_p but no top_k
COLDEST = 0.03125  # what tessera generate takes
# fields that change nothing of an answer here, and what they may be
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "best_of": (1,),
    "echo": (False,),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "logprobs": (False,),
    "stop": ([], ""),
    "suffix": ("",),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "response_format": ({"type": "text"},),
}


class Refused(Exception):
    """A request that gets an error, as OpenAI's clients expect it."""

    def __init__(
        self, message: str, *, param: str | None = None, status: int = 400, code: str | None = None, kind: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        kind = kind or ("invalid_request_error" if status < 500 else "server_error")
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


@dataclass
class Asked:
    """A request that can be answered: one of `messages` and `prompt`."""

    messages: list[dict[str, str]] | None
    prompt: str | list[int] | None
    generate: int | None  # None: as many as there are
    sampling: dict[str, float | int | str]  # as `tessera generate` takes it; empty: greedy
    stream: bool
    usage: bool  # at the end of a stream, too


def parse(body: bytes, chat: bool, models: list[str], samples: bool, hiding: bool = False) -> Asked:
    """Raises Refused. Under a hiding key tokens are sampled from the whole vocabulary."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(f"expected JSON, found: {error}") from None
    if not isinstance(request, dict):
        raise Refused("expected a JSON object")
    if request.get("model") not in models:
        raise Refused(
            f"model: expected {models[0]}, found {str(request.get('model'))[:80]}",
            param="model",
            status=404,
            code="model_not_found",
        )
    _check_fields(request, chat)
    sampling = _sampling(request, samples, hiding)
    generate = next((request[n] for n in ("max_completion_tokens", "max_tokens") if request.get(n) is not None), None)
    if generate is not None and (type(generate) is not int or generate < 1):
        raise Refused(f"expected a number of tokens from 1 on, found {str(generate)[:80]}", param="max_tokens")
    options = request.get("stream_options") or {}
    return Asked(
        _messages(request.get("messages")) if chat else None,
        None if chat else _prompt(request.get("prompt")),
        generate,
        sampling,
        bool(request.get("stream")),
        isinstance(options, dict) and bool(options.get("include_usage")),
    )


def _check_fields(request: dict[str, Any], chat: bool) -> None:
    known = {"model", "messages" if chat else "prompt", "max_tokens", "max_completion_tokens", "stream"}
    known |= {"stream_options", "user", "metadata", "store", "safety_identifier", *SAMPLING}
    for name, value in request.items():
        if name in known or value is None:
            continue
        if name not in NEUTRAL:
            raise Refused(f"{name} is not supported", param=name, code="unsupported_parameter")
        if not any(value == neutral and type(value) is not bool or value is neutral for neutral in NEUTRAL[name]):
            raise Refused(f"{name}: no other value than {NEUTRAL[name][0]!r} is supported", param=name)


def _sampling(request: dict[str, Any], samples: bool, hiding: bool) -> dict[str, float | int | str]:
    """The one place that decides whether an answer may be sampled: `tessera generate` says whether it can."""
    found: dict[str, float | int | str] = {}
    for name, least, most in (("temperature", 0, 2), ("top_p", 0, 1), ("min_p", 0, 1), ("top_k", 1, 1024)):
        value = request.get(name)
        if value is None:
            continue
        if type(value) not in (int, float) or not least <= value <= most or (name == "top_k" and type(value) is float):
            raise Refused(f"{name}: expected {least} to {most}, found {str(value)[:80]}", param=name)
        found[name] = value
    seed = request.get("seed")
    if seed is not None and type(seed) is not int:
        raise Refused(f"seed: expected a whole number, found {str(seed)[:80]}", param="seed")
    if not found.get("temperature"):
        return {}
    if float(request["temperature"]) < COLDEST:
        raise Refused(f"temperature: expected 0, or {COLDEST} to 2, found {request['temperature']}", param="temperature")
    if not samples:
        raise Refused(
            f"temperature: expected 0 or none, found {found['temperature']}: this model's program is greedy",
            param="temperature",
            code="unsupported_value",
        )
    if hiding and ("top_k" in found or found.get("top_p", 1) != 1):
        name = "top_k" if "top_k" in found else "top_p"
        raise Refused(
            f"{name}: expected none, found {found[name]}: the model's key is hiding, and the proof would list the best tokens",
            param=name,
            code="unsupported_value",
        )
    if "top_k" not in found and found.pop("top_p", 1) != 1:
        found |= {"top_p": request["top_p"], "top_k": MOST_LIKELY}  # top_p alone is of a list of candidates
    found["seed"] = secrets.token_hex(32) if seed is None else f"{seed % (1 << 256):064x}"
    return found


def _messages(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value:
        raise Refused("messages: expected a list of one or more", param="messages")
    messages = []
    for number, message in enumerate(value):
        where = f"messages[{number}]"
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise Refused(f"{where}.role: expected one of {', '.join(ROLES)}", param=f"{where}.role")
        for name, field in message.items():
            if name not in ("role", "content") and field is not None:
                raise Refused(f"{where}.{name} is not supported", param=f"{where}.{name}")
        messages.append({"role": message["role"], "content": _content(message.get("content"), where)})
    return messages


def _content(value: Any, where: str) -> str:
    """A text, or parts that are texts."""
    if isinstance(value, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in value):
        value = "".join(part["text"] if isinstance(part.get("text"), str) else "" for part in value)
    if not isinstance(value, str):
        raise Refused(f"{where}.content: expected a text", param=f"{where}.content")
    return value


def _prompt(value: Any) -> str | list[int]:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], (str, list)):
        value = value[0]
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(type(token) is int and token >= 0 for token in value):
        return value
    raise Refused("prompt: expected one text, or the ids of one", param="prompt")
