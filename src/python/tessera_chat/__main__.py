"""Renders one chat: a request as a JSON object on standard input, the answer as one on standard output.

Request: template, tokens, special, added; messages (a JSON text, as a file has it) and continues (text or null).
Answer: text and marks, or error. The process limits its own time, memory and files before it looks at a template.
"""

from __future__ import annotations

import json
import resource
import sys

SECONDS = 10  # of a processor
MEMORY = 1 << 30
OUTPUT = 1 << 26


def limit() -> None:
    """Nothing can be opened from now on, and little be used."""
    for kind, most in (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, OUTPUT),
        (resource.RLIMIT_NOFILE, 3),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def load() -> None:
    """Has everything in memory that rendering needs, also what is loaded late, as for messages of errors."""
    import datetime

    import jinja2.debug
    import jinja2.ext  # noqa: F401

    datetime.datetime.now().strftime("%d %b %Y")
    message = '[{"role": "user", "content": "a"}]'
    for template in ("{{ '\\n' + messages[0]['content']|trim }}", "{% include 'a' %}", "{% if %}", "{{ 1 // 0 }}"):
        answer({"template": template, "tokens": {}, "special": [], "added": [], "messages": message, "continues": None})


def answer(request: dict[str, object]) -> dict[str, object]:
    from . import Chat, ChatError, read_messages, render

    try:
        chat = Chat(*(request[name] for name in ("template", "tokens", "special", "added")))  # type: ignore[arg-type]
        messages, date = read_messages(str(request["messages"]))
        rendered = render(chat, messages, date=date, continues=request["continues"])  # type: ignore[arg-type]
    except ChatError as error:
        return {"error": str(error)}
    return {"text": rendered.text, "marks": rendered.marks}


def main() -> None:
    try:
        load()
    except ImportError:
        json.dump({"missing": "jinja2"}, sys.stdout)
        return
    lines = sys.argv[1:] == ["--lines"]
    limit()
    if not lines:
        json.dump(answer(json.load(sys.stdin)), sys.stdout)
        return
    for line in sys.stdin:  # of a server, which looks after time
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
