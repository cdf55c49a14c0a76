"""Chat templates: what messages become under a key's template, as transformers renders them.

>>> rendered = render(chat, [{"role": "user", "content": "Hello"}])
>>> rendered.text, rendered.marks

Needs jinja2, nothing else of the package. Templates are strangers' programs: run this in a process of its own
(`python3 -m tessera_chat`), which limits its time, its memory and what it opens.
"""

from __future__ import annotations

import copy
import datetime
import json
import re
from dataclasses import dataclass, field
from typing import Any

ROLES = ("system", "developer", "user", "assistant")
MOST_TEXT = 1 << 22  # characters that a template may write
PRIVATE_USE = range(0xE000, 0xF8FF)


class ChatError(Exception):
    """Messages or a template that cannot be rendered, and why."""


@dataclass
class Chat:
    """What a key says of chats: `template`, texts of `tokens` by name, `special` ones, other `added` ones."""

    template: str
    tokens: dict[str, str] = field(default_factory=dict)
    special: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


@dataclass
class Rendered:
    """A text, and `marks`: places of its UTF-8 bytes that are content and can neither begin nor end an added token."""

    text: str
    marks: list[int]


def read_messages(text: str) -> tuple[list[dict[str, str]], str | None]:
    """Messages and date of a JSON text: a list of messages, or an object of `messages` and `date` ("2026-11-27").

    Raises ChatError naming the field for anything but messages of a role and a content.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ChatError(f"expected JSON, found: {error}") from None
    date = None
    if isinstance(document, dict):
        for name in document:
            if name not in ("messages", "date"):
                raise ChatError(f"{name}: expected messages and date alone, found this field")
        date = document.get("date")
        document = document.get("messages")
    if date is not None:
        try:
            datetime.date.fromisoformat(date)
        except (TypeError, ValueError):
            raise ChatError(f"date: expected one like 2026-11-27, found {json.dumps(date)[:80]}") from None
    return check_messages(document), date


def check_messages(messages: Any) -> list[dict[str, str]]:
    """Raises ChatError naming the field for anything but messages of a role and a content."""
    if not isinstance(messages, list) or not messages:
        raise ChatError(f"messages: expected a list of one or more, found {json.dumps(messages)[:80]}")
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        if not isinstance(message, dict):
            raise ChatError(f"{where}: expected an object of role and content, found {json.dumps(message)[:80]}")
        for name in message:
            if name not in ("role", "content"):
                raise ChatError(f"{where}.{name}: expected role and content alone, found this field")
        if message.get("role") not in ROLES:
            raise ChatError(f"{where}.role: expected {', '.join(ROLES)}, found {json.dumps(message.get('role'))[:80]}")
        content = message.get("content")
        if not isinstance(content, str):
            raise ChatError(f"{where}.content: expected a text, found {json.dumps(content)[:80]}")
        try:
            content.encode()
        except UnicodeEncodeError:
            raise ChatError(f"{where}.content: expected Unicode text, found half of a surrogate pair") from None
    return messages


def render(
    chat: Chat, messages: list[dict[str, str]], *, date: str | None = None, continues: str | None = None
) -> Rendered:
    """What the messages become, with the prompt for an answer behind them.

    continues: messages follow an answer that was generated, and only what stands behind it is rendered; the text of
    the token that ended it, or empty. Raises ChatError, also where content cannot be told apart from the template's
    own text.
    """
    return _Renderer(chat, date).render(messages, continues)


class _Renderer:
    def __init__(self, chat: Chat, date: str | None) -> None:
        import jinja2
        import jinja2.meta

        self._chat = chat
        self._date = date
        environment = _environment(self._strftime_now)
        try:
            parsed = environment.parse(chat.template)
            self._template = environment.from_string(chat.template)
        except (jinja2.TemplateError, RecursionError) as error:
            raise ChatError(f"chat template: {error}") from None
        unknown = jinja2.meta.find_undeclared_variables(parsed)
        for name in ("additional_special_tokens", "extra_special_tokens"):
            if name in unknown:
                raise ChatError(f"chat template: expected one of messages and named tokens, found {name}")

    def _strftime_now(self, form: str) -> str:
        if self._date is None:
            raise ChatError('the chat template asks for the date: give {"messages": [...], "date": "2026-11-27"}')
        return datetime.datetime.fromisoformat(self._date).strftime(form)

    def _plain(self, messages: list[dict[str, str]]) -> str:
        pieces, size = [], 0
        try:
            for piece in self._template.generate(
                messages=copy.deepcopy(messages),
                tools=None,
                documents=None,
                add_generation_prompt=True,
                **{name: text for name, text in self._chat.tokens.items() if text},
            ):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_TEXT:
                    raise ChatError(f"chat template: expected up to {MOST_TEXT} characters, found more")
        except ChatError:
            raise
        except MemoryError:
            raise ChatError("chat template: expected one that needs less memory") from None
        except Exception as error:  # whatever a stranger's program does
            raise ChatError(f"the chat template refuses these messages: {error}") from None
        return "".join(pieces)

    def render(self, messages: list[dict[str, str]], continues: str | None) -> Rendered:
        unused = self._unused(messages)
        answer = ""
        if continues is not None:
            answer = f"answer{unused.pop()}"
            question = f"question{unused.pop()}"
            messages = [
                {"role": "user", "content": question},
                {"role": "assistant", "content": answer},
                *messages,
            ]
        controls = self._controls(unused.pop())
        masks = {character: unused.pop() for character in sorted({text[i] for text in controls for i in (0, -1)})}
        masked = [{**message, "content": self._mask(message["content"], controls, masks)} for message in messages]
        text, marked = self._plain(messages), self._plain(masked)
        originals = {ord(mask): character for character, mask in masks.items()}
        if marked.translate(originals) != text:
            raise ChatError(
                "the chat template changes contents with any of " + " ".join(sorted(masks)) + " in them in a way that "
                "leaves unknown what is content: expected contents without these characters"
            )
        if answer:
            if text.count(answer) != 1:
                raise ChatError("the chat template does not show an answer before these messages: expected that it does")
            place = text.index(answer) + len(answer)
            if continues and text.startswith(continues, place):
                place += len(continues)
            text, marked = text[place:], marked[place:]
        return Rendered(text, _places(marked, originals))

    def _unused(self, messages: list[dict[str, str]]) -> list[str]:
        """Characters that stand in nothing that is rendered."""
        used = set(self._chat.template).union(*(message["content"] for message in messages))
        used.update(*self._chat.tokens.values(), *self._chat.special, *self._chat.added)
        return [chr(code) for code in PRIVATE_USE if chr(code) not in used]

    def _controls(self, word: str) -> list[str]:
        """Tokens that are no content: special ones, and others that the template itself writes."""
        system, user, answer = ({"role": role, "content": word} for role in ("system", "user", "assistant"))
        frames = ""
        for messages in ([user], [system, user], [user, answer, user], [system, user, answer, user]):
            try:
                frames += self._plain(messages) + word
            except ChatError:
                continue
        return [text for text in self._chat.special if text] + [
            text for text in self._chat.added if text.strip() and text in frames
        ]

    def _mask(self, content: str, controls: list[str], masks: dict[str, str]) -> str:
        """The content with other characters for those that could begin or end a control token. Other added tokens are
        left as they are: templates look for them, and the reference takes them for tokens in contents, too."""
        others = [
            re.escape(text)
            for text in sorted(self._chat.added, key=len, reverse=True)
            if text not in controls and any(character in text for character in masks) and text in content
        ]
        table = {ord(character): mask for character, mask in masks.items()}
        pieces = re.split(f"({'|'.join(others)})", content) if others else [content]
        masked = "".join(piece if number % 2 else piece.translate(table) for number, piece in enumerate(pieces))
        for text in controls:
            if text in masked:
                raise ChatError(f"content: expected a text in which {json.dumps(text)} can be told apart, found it")
        return masked


def _places(marked: str, originals: dict[int, str]) -> list[int]:
    marks: list[int] = []
    place = 0
    for character in marked:
        original = originals.get(ord(character))
        size = len((original or character).encode())
        if original is not None:
            marks.extend(range(place, place + size))
        place += size
    return marks


def _environment(strftime_now: Any) -> Any:
    """The sandbox that transformers renders in, but for the time of day."""
    import jinja2
    import jinja2.ext
    import jinja2.sandbox

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

        def _same(self, caller: Any) -> Any:
            return caller()

    def raise_exception(message: str) -> None:
        raise jinja2.TemplateError(message)

    def tojson(
        value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = tojson
    environment.globals.update(raise_exception=raise_exception, strftime_now=strftime_now)
    return environment
