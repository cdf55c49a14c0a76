"use strict";

// What the page says of an answer. `given` is what was asked: {key, renewals, proofs, expected}, files as in page.js.

const words = { accepted: "ACCEPTED", rejected: "REJECTED", unusable: "UNUSABLE", failed: "FAILED" };

/// An element with a class and children, which are elements or text; text is never read as HTML.
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) {
    element.className = name;
  }
  element.append(...children);
  return element;
}

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

// --- sentences

/// What an accepted answer says, and no more than that.
function claim({ mode, proofs }) {
  if (proofs.length === 0) {
    return "The new key commits to the same parameters as the old one: who trusts the old one can take the new one.";
  }
  const tokens = count(proofs.reduce((sum, proof) => sum + proof.generated.ids.length, 0), "token");
  if (mode === "each") {
    return `Each of these ${proofs.length} proofs is accepted, alone: after its prompt, the key’s model begins with the tokens shown.`;
  }
  if (proofs.length === 1) {
    if (proofs[0].sampling) {
      return `After this prompt, drawn by this seed, the key’s model begins with these, the first ${tokens}, and with no others.`;
    }
    return proofs[0].complete ? `After this prompt the key’s model says these ${tokens}, and no others.`
      : `After this prompt the key’s model begins with these, the first ${tokens}, and with no others.`;
  }
  return `In this conversation of ${proofs.length} parts the key’s model begins each answer with the tokens shown, ${tokens} in all, and with no others.`;
}

const choice_of_length = "How many tokens there are was the prover’s choice: the model may go on, and change what is said.";

/// Whether the model says no more, of a proof that is accepted.
function ending({ generated, complete, ended_by: end, printed }) {
  return complete ? `The text is complete: it is ended by “${printed.last}”, token ${end.id}, after which the model says no more.`
    : `The text is cut off at ${count(generated.ids.length, "token")}. ${choice_of_length}`;
}
const no_conversation = "These proofs are no conversation: none goes on where another one ends, so each was judged alone.";

/// What is wrong with a file that cannot be used, in a sentence; the verifier's own words come after it.
function wrongWith(name, role, reason) {
  const size = /expected a file of (\d+) bytes, found (\d+)/.exec(reason);
  const kind = /format: expected .*, found tessera ([a-z ]+)$/.exec(reason);
  const what = size ? `is cut short: ${size[2]} of its ${size[1]} bytes are there`
    : kind ? `is a ${kind[1]}, and no ${role}`
      : /found an empty file/.test(reason) ? "is empty"
        : /expected the signature of HDF5/.test(reason) ? "is none of tessera’s files"
          : /format_version: /.test(reason) ? "was written by another version of tessera"
            : /as tessera writes it/.test(reason) ? "was rewritten by another program"
              : /digest/.test(reason) ? "is damaged" : `cannot be used: it is no ${role}, or it is damaged`;
  return `${name} ${what}.`;
}

/// Fields of what is expected, as the verifier names them.
const expectations = {
  "expected key digest": "the digest of the key", "expected ids": "token ids", "expected sampling": "the way tokens are drawn",
  "expected seed": "the seed", "seed commitment": "the commitment to a seed", "seed opening": "the prover’s share of the seed",
};

/// What is wrong, first of all.
function headline(answer, bad, given) {
  if (answer.verdict === "failed") {
    return "Nothing is known of the proof: it could not be verified.";
  }
  if (!answer.error) {
    return /: tokenizer: /.test(bad.reason) ? "The key’s tokenizer does not take the prompt that you expect."
      : wrongWith(bad.file, "proof", bad.reason);
  }
  const [, field] = /^((?:expected|seed) [a-z ]+): /.exec(answer.error) ?? [];
  if (field in expectations) {
    return `What you expect as ${expectations[field]} is none.`;
  }
  if (given.expected.key && /: key digest: expected/.test(answer.error)) {
    return "The key is not the one that you expect.";
  }
  const files = [[given.key, "verifying key"], ...given.renewals.map((file) => [file, "renewal"])];
  const found = files.find(([file]) => answer.error.startsWith(`${file.name}: `));
  return found ? wrongWith(found[0].name, found[1], answer.error) : "This cannot be verified.";
}

/// Of another key's proof.
function madeFor(proof, { key, renewals = [] }) {
  if (!proof?.made_for) {
    return "";
  }
  const before = [key.digest, ...renewals.map((renewal) => renewal.digest)].includes(proof.made_for)
    ? " That is the key before its renewal: remove the renewal to verify this proof." : "";
  return `It was made for the key of digest ${proof.made_for}, which alone can say what text its tokens are.${before}`;
}

/// Sentences on a verdict.
function why(answer, given) {
  const { proofs = [], mode, verdict } = answer;
  const hint = mode === "each" ? no_conversation : "";
  if (verdict === "accepted") {
    return [claim(answer), hint, proofs.length === 0 ? "" : mode === "each" ? choice_of_length : ending(proofs.at(-1))];
  }
  const bad = mode === "each" ? proofs.find((proof) => proof.verdict === verdict) : proofs.at(-1);
  const part = given.proofs.length === 1 || !bad ? "" : mode === "each" ? `${bad.file}: ` : `Part ${proofs.length}, ${bad.file}: `;
  const reason = answer.error?.replace(/^REJECTED /, "") ?? (bad.scope ? `${part}at ${bad.scope}: ${bad.reason}` : bad.reason);
  return [verdict === "rejected" ? "" : headline(answer, bad, given), reason, madeFor(bad, answer), hint];
}

// --- the key

/// Its digest, and whether anybody has compared it: proofs are worth no more than that.
function keyDigest({ key, renewals = [] }, given, compare) {
  const box = make("div", "", make("span", "title", "Digest of the key"), make("span", "mono", key.digest));
  if (given.expected.key) {
    box.append(make("span", "compared", "Compared: it is the one that you expect."));
  } else {
    const button = make("button", "", "Compare it");
    button.type = "button";
    button.onclick = compare;
    const together = given.proofs.some((proof) => proof.choice === given.key.choice);
    box.append(make("span", "compared not", make("strong", "", "Nobody has compared this digest."), together
      ? " The key came together with the proof: whoever made both can prove any text of a model of their own."
      : " The key is worth as much as the place that you have it from.", " ", button));
  }
  for (const renewal of renewals) {
    box.append(make("span", "title", `Renewed by ${renewal.file}, to`), make("span", "mono", renewal.digest));
  }
  return box;
}

function fact(name, value) {
  return make("div", "", make("dt", "", name), make("dd", "", value));
}

function facts({ proofs = [], seconds, verdict }) {
  const list = make("dl", "facts");
  if (verdict === "accepted" && proofs.length > 0) {
    const least = Math.min(...proofs.map((proof) => proof.soundness.least));
    const sums = proofs.map((proof) => proof.soundness.sum);
    const sum = sums.length === 1 ? sums[0] // else rounded down, too
      : Math.floor(-10 * Math.log2(sums.reduce((errors, bits) => errors + 2 ** -bits, 0)) + 1e-5) / 10;
    list.append(fact("Soundness, each round", `${least.toFixed(1)} bits`), fact("All together", `${sum.toFixed(1)} bits`));
  }
  const draws = proofs.map((proof) => proof.sampling).filter(Boolean);
  for (const [i, one] of draws.entries()) {
    if (draws.findIndex((other) => other.text === one.text && other.seed === one.seed) === i) {
      list.append(fact(one.parameters_expected ? "Drawn at random, as you expect" : "Drawn at random", one.text),
        fact(one.seed_expected ? "Seed, the one that you expect" : "Seed, chosen by the statement: compare it with yours", one.seed));
    }
  }
  const clamped = proofs.reduce((all, proof) => all + (proof.clamped?.values ?? 0), 0);
  if (clamped > 0) {
    list.append(fact("Beyond their range, and clamped", count(clamped, "value")));
  }
  const bytes = proofs.reduce((all, proof) => all + (proof.bytes ?? 0), 0);
  if (bytes > 0) {
    list.append(fact(proofs.length > 1 ? "Proofs" : "Proof", `${bytes.toLocaleString("en")} bytes`));
  }
  if (seconds !== undefined) {
    list.append(fact("Time", seconds < 10 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`));
  }
  return list;
}

/// The key's chat template, which makes the prompt of messages.
function chatBox(chat) {
  const beginning = make("p", "", make("bdi", "", ...readable(chat.beginning)), chat.whole ? "" : " …");
  const box = make("details", "chat", make("summary", "", `Chat template of the key: ${count(chat.bytes, "byte")}`),
    make("p", "mono", `BLAKE2s-256 ${chat.digest}`), make("div", "words", make("h3", "title", chat.whole ? "Template" : "It begins"), beginning));
  for (const [title, tokens] of [["Tokens that it is given", chat.tokens], ["Special tokens, which no content can imitate", chat.special]]) {
    if (tokens) {
      box.append(make("div", "words", make("h3", "title", title), make("p", "", make("bdi", "", ...readable(tokens)))));
    }
  }
  return box;
}

// --- texts

function mark(name, text, says) {
  const element = make("span", `mark ${name}`, text);
  element.title = says;
  return element;
}

/// A text as the verifier prints it, with its lines, and marks for what does not show: \u{202e}, \xff. No mark can be
/// taken for text: what a text itself has of backslashes and quotation marks has one more before it there.
function readable(printed) {
  const pieces = [];
  const escape = /\\(?:(["\\])|(n)|u\{([0-9a-f]+)\}|x([0-9a-f]{2}))/g;
  let end = 0;
  let plain = "";
  const put = (...marks) => {
    pieces.push(...(plain ? [plain] : []), ...marks);
    plain = "";
  };
  for (const found of printed.matchAll(escape)) {
    const [all, itself, line, code, byte] = found;
    plain += printed.slice(end, found.index) + (itself ?? "");
    end = found.index + all.length;
    if (line) {
      put(mark("line", "↵", "a new line"), "\n");
    } else if (code) {
      put(mark("", `U+${code.toUpperCase().padStart(4, "0")}`, "a character that does not show"));
    } else if (byte) {
      put(mark("", `0x${byte.toUpperCase()}`, "a byte that belongs to no character"));
    }
  }
  plain += printed.slice(end);
  put();
  return pieces;
}

/// Without a text, of another key's ids, these alone.
function textBox(kind, title, ids, text, proven, heading) {
  const numbers = make("details", "", make("summary", "", count(ids.length, "token")), make("p", "mono", ids.join(" ")));
  numbers.open = text === undefined;
  const shown = text === undefined ? "" : make("p", "", make("bdi", "", ...readable(text)));
  return make("div", `words ${kind}${proven ? "" : " unproven"}`,
    make(heading, "title", proven ? title : `${title}: claimed, not proven`), shown, numbers);
}

/// What a proof says; `several`: the number of proofs that were given is larger than 1.
function part(proof, index, several, answer) {
  const box = make("article", "part");
  const heading = several ? "h4" : "h3";
  const alone = answer.mode === "each";
  const proven = (alone ? proof : answer).verdict === "accepted";
  if (several) {
    const state = proven || proof.verdict !== "accepted" ? proof.verdict : "part of a conversation that is not accepted";
    box.append(make("h3", "name", `${alone ? "Proof" : "Part"} ${index + 1}: ${proof.file} `, make("span", "state", `(${state})`)));
    if (alone && proof.reason) {
      box.append(make("p", "state", proof.scope ? `At ${proof.scope}: ${proof.reason}` : proof.reason));
    }
    if (alone && proof.made_for) {
      box.append(make("p", "state", madeFor(proof, answer)));
    }
  }
  const { prompt, generated, printed } = proof;
  if (prompt?.ids.length > 0) {
    box.append(textBox("prompt", "Prompt", prompt.ids, printed?.prompt, proven, heading));
  }
  if (generated) {
    const number = count(generated.ids.length, "token");
    const title = proof.complete ? `Generated: ${number}, complete` : `Generated: the first ${number}`;
    box.append(textBox("generated", proven ? title : "Generated", generated.ids, printed?.generated, proven, heading));
  }
  return box;
}
