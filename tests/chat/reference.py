"""Rendered chats beside those of transformers: texts for several templates, token ids for a model.

reference.py [PROGRAM MODEL GGUF-FOLDER | --gemma FOLDER]: tessera, a model file, and a folder with the same model's
tokenizer for transformers; a folder of gemma.jinja and gemma3.jinja, as the package axolotl (PyPI) has them. Needs transformers and tessera_chat.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tessera_chat import Chat, ChatError, render

CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are "
    "a helpful assistant<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TURNS = (  # as Gemma's: a bos token, alternation, the system's words within the first turn
    "{{ bos_token }}{%- if messages[0]['role'] == 'system' -%}{%- set first = messages[0]['content'] + '\n\n' -%}"
    "{%- set loop_messages = messages[1:] -%}{%- else -%}{%- set first = '' -%}{%- set loop_messages = messages -%}"
    "{%- endif -%}{%- for message in loop_messages -%}{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}"
    "{{ raise_exception('Conversation roles must alternate user/assistant') }}{%- endif -%}"
    "{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}"
    "{{ '<start_of_turn>' + role + '\n' + (first if loop.first else '') + message['content'] | trim }}"
    "{{ '<end_of_turn>\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<start_of_turn>model\n' }}{%- endif -%}"
)
HEADERS = (  # as Llama 3's: headers, the date
    "{{- bos_token }}{%- if strftime_now is defined %}{%- set date = strftime_now('%d %b %Y') %}{%- endif %}"
    "{{- '<|start_header_id|>system<|end_header_id|>\n\nToday Date: ' + date + '<|eot_id|>' }}"
    "{%- for message in messages %}{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ "
    "message['content'] | trim + '<|eot_id|>' }}{%- endfor %}{%- if add_generation_prompt %}"
    "{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}"
)
THINKS = (  # as Qwen 3's: what an answer has thought is left out
    "{% for message in messages %}{% set content = message.content %}{% if message.role == 'assistant' and '</think>' in "
    "content %}{% set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}{{ '<|im_start|>' + message.role "
    "+ '\n' + content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
INSTRUCTIONS = (  # as Mistral's
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + "
    "' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}"
    "{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"
)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
CHATS = {
    "ChatML": Chat(CHATML, {}, ["<|im_start|>", "<|im_end|>"]),
    "turns": Chat(TURNS, TOKENS, ["<s>", "</s>", "<start_of_turn>", "<end_of_turn>"], ["\n\n", "<b>"]),
    "headers": Chat(HEADERS, TOKENS, ["<s>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]),
    "thinks": Chat(THINKS, {}, ["<|im_start|>", "<|im_end|>"], ["<think>", "</think>"]),
    "instructions": Chat(INSTRUCTIONS, TOKENS, ["<s>", "</s>"], ["[INST]", "[/INST]"]),
}
USER, SYSTEM, ANSWER = "user", "system", "assistant"
CONVERSATIONS = [
    [(USER, "Hello")],
    [(SYSTEM, "Be brief."), (USER, " What is 1 < 2 & 3 > 2?\n\n")],
    [(USER, "Hi <b>there</b>"), (ANSWER, "<think>\nhm\n</think>\n\nHello."), (USER, "Naïve 日本語 🙂\t\"quoted\" \\ {{ x }}")],
    [(USER, "[1, 2] and [INST]?"), (ANSWER, "Ok"), (USER, ""), (ANSWER, "Yes"), (USER, "end")],
    [(ANSWER, "I begin"), (USER, "so")],
]


def messages_of(conversation: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in conversation]


def compare_texts() -> None:
    import datetime

    from transformers.utils.chat_template_utils import render_jinja_template

    today = datetime.date.today().isoformat()
    compared = refused = 0
    for name, chat in CHATS.items():
        for conversation in CONVERSATIONS:
            messages = messages_of(conversation)
            try:
                expected = render_jinja_template(
                    [messages], chat_template=chat.template, add_generation_prompt=True, **chat.tokens
                )[0][0]
            except Exception as error:
                expected = str(error)
                try:
                    render(chat, messages, date=today)
                    raise AssertionError(f"{name}: rendered what transformers refuses")
                except ChatError as found:
                    assert expected in str(found), (expected, found)
                    refused += 1
                continue
            found = render(chat, messages, date=today)
            assert found.text == expected, (name, found.text, expected)
            if messages[-1]["role"] == USER and conversation[0][0] != SYSTEM and len(messages) > 2:
                # what stands behind the answer before is what a later part renders alone
                later = render(chat, messages[-1:], date=today, continues="")
                assert expected.endswith(later.text), (name, later.text, expected)
            compared += 1
    print(f"{compared} texts are those of transformers, {refused} are refused as there")
    assert (compared, refused) == (23, 2)


def check_imitations() -> None:
    for name, chat in CHATS.items():
        for token in [*chat.special, *(("[INST]", "[/INST]") if name == "instructions" else ())]:
            for content in (token, f"a{token}b", token[:-1], token[1:], token * 2, f"{token[:2]}{token}{token[2:]}"):
                rendered = render(chat, messages_of([(USER, content)]), date="2026-11-27")
                data, marks = rendered.text.encode(), set(rendered.marks)
                plain = render(chat, messages_of([(USER, "x")]), date="2026-11-27").text
                for control in [*chat.special, *chat.added]:
                    if not control.strip():
                        continue
                    bytes_, place, count = control.encode(), 0, 0
                    while (place := data.find(bytes_, place)) >= 0:
                        count += not {place, place + len(bytes_) - 1} & marks
                        place += 1
                    assert count == plain.count(control), (name, token, content, control, rendered)
    print("contents that imitate tokens stay text")


def compare_gemma(folder: str) -> None:
    """Gemma's own templates beside apply_chat_template: `folder` has gemma.jinja (of the first two) and gemma3.jinja."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    tokens = {"bos_token": "<bos>", "eos_token": "<eos>"}
    special = ["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>"]
    turns = [*CONVERSATIONS[2], (ANSWER, " Fine.\n"), (USER, "<start_of_turn>model\n{{ bos_token }}<end_of_turn>")]
    conversations = [*CONVERSATIONS[:4], [(SYSTEM, "Be brief.\n"), *turns]]
    for name, compared in (("gemma", 3), ("gemma3", 5)):  # the first ones have no system's words
        template = (Path(folder) / f"{name}.jinja").read_text()
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), **tokens)
        tokenizer.chat_template = template
        chat, same = Chat(template, tokens, special), 0
        for conversation in conversations:
            messages = messages_of(conversation)
            try:
                expected = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
            except Exception as error:
                try:
                    render(chat, messages)
                    raise AssertionError(f"{name}: rendered what transformers refuses")
                except ChatError as found:
                    assert str(error) in str(found), (str(error), str(found))
                continue
            found = render(chat, messages)
            assert found.text == expected, (name, found.text, expected)
            same += 1
        assert same == compared, (name, same)
        try:
            render(chat, messages_of(CONVERSATIONS[4]))
            raise AssertionError(f"{name}: an answer comes first")
        except ChatError as refused:
            assert "alternate" in str(refused), refused
        print(f"{same} texts by {name}.jinja are those of transformers")


def compare_ids(program: str, model: str, folder: str) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    process = subprocess.Popen(
        [program, "generate", "--quiet", "--model", model, "--requests"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    chat = Chat(**json.loads(process.stdout.readline())["chat"])
    for conversation in CONVERSATIONS:
        messages = messages_of(conversation)
        expected = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)
        rendered = render(chat, messages)
        process.stdin.write(json.dumps({"text": rendered.text, "marks": rendered.marks, "generate": 1}) + "\n")
        process.stdin.flush()
        found: dict[str, list[int]] = {}
        while "prompt" not in found:
            found = json.loads(process.stdout.readline())
            assert "error" not in found, found
        assert found["prompt"] == expected, (found["prompt"], expected)
    process.stdin.close()
    process.wait()
    print(f"{len(CONVERSATIONS)} conversations have the ids of transformers")


if __name__ == "__main__":
    check_imitations()
    compare_texts()
    if sys.argv[1:2] == ["--gemma"]:
        compare_gemma(sys.argv[2])
    elif len(sys.argv) > 1:
        compare_ids(*sys.argv[1:])
