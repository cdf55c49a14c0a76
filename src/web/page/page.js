"use strict";

const key_mark = "tessera verifying key"; // in the first bytes of a key's file
const max_file_bytes = 2 ** 29; // more than any key or proof may have
const seconds_for_a_part = 30;
const words = { accepted: "ACCEPTED", rejected: "REJECTED", unusable: "UNUSABLE", failed: "FAILED" };

const at = (id) => document.getElementById(id);

/// An element with a class and children, which are elements or text; text is never read as HTML.
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) {
    element.className = name;
  }
  element.append(...children);
  return element;
}

const files = { key: null, proofs: [] }; // each {name, bytes, choice}: files that were chosen together have the same one
let choices = 0;

// --- the verifier, in a worker

async function unpack(base64) {
  const packed = new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
}

const verifier = {
  worker: null,
  loaded: null, // a promise
  last: Promise.resolve(), // of what was asked last
  start() {
    const code = at("worker-code").textContent;
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.loaded = unpack(at("module").textContent).then((wasm) => this.answer({ wasm }, seconds_for_a_part));
    this.loaded.catch(() => {});
  },
  /// The next message of the worker, which gets this one. One that takes too long is ended, and another one begins.
  answer(message, seconds) {
    const { worker } = this;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        worker.terminate();
        reject(new Error(`it takes longer than ${seconds} s`));
        this.start();
      }, seconds * 1000);
      const settle = (done) => (value) => {
        clearTimeout(late);
        done(value);
      };
      worker.onmessage = ({ data }) =>
        data.failure ? settle(reject)(new Error(data.failure)) : settle(resolve)(data.answer);
      worker.onerror = (event) => settle(reject)(new Error(event.message || "the verifier has stopped"));
      worker.postMessage(message);
    });
  },
  /// One after the other: the worker has one answer at a time.
  verify(request) {
    const next = this.last.catch(() => {}).then(() => this.loaded)
      .then(() => this.answer(request, seconds_for_a_part * request.proofs.length));
    this.last = next;
    return next;
  },
};

// --- files

function looksLikeKey(bytes) {
  return new TextDecoder("latin1").decode(bytes.subarray(0, 512)).includes(key_mark);
}

/// Names stand for files: two of the same name get numbers.
function freeName(name) {
  const taken = new Set([files.key, ...files.proofs].filter(Boolean).map((file) => file.name));
  let free = name;
  for (let number = 2; taken.has(free); ++number) {
    free = `${name} (${number})`;
  }
  return free;
}

/// What is wrong with a choice of files in which there are these keys. A key is never taken instead of another one: whoever
/// gives a proof must not be able to bring its own key along.
function refusedKeys(keys) {
  const names = keys.map((file) => file.name).join(", ");
  if (keys.length > 1) {
    return `${names}: several keys. None of them was taken: choose the one that you trust.`;
  }
  return keys.length === 1 && files.key ? `${names}: a second key. It was not taken, and nothing was verified with it: `
    + `proofs are verified under ${files.key.name} until you remove that one.` : "";
}

async function addFiles(list) {
  const chosen = [...list].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const read = [];
  const choice = ++choices;
  for (const file of chosen) {
    try {
      if (file.size > max_file_bytes) {
        throw new Error(`expected at most ${max_file_bytes} bytes, found ${file.size}`);
      }
      read.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()), choice });
    } catch (error) {
      showFailure("unusable", `${file.name} cannot be read: ${error.message}`);
      return;
    }
  }
  const keys = read.filter((file) => looksLikeKey(file.bytes));
  const refused = refusedKeys(keys);
  for (const file of read.filter((file) => !refused || !keys.includes(file))) {
    file.name = freeName(file.name);
    if (keys.includes(file)) {
      files.key = file;
    } else {
      files.proofs.push(file);
    }
  }
  showFiles();
  showRefused(refused);
  if (!refused && files.key && files.proofs.length > 0 && read.length > 0) {
    await verify();
  }
}

function showRefused(why) {
  at("refused").hidden = !why;
  at("refused").textContent = why;
}

function sizeOf({ bytes }) {
  const size = bytes.length < 1e6 ? `${Math.ceil(bytes.length / 1e3)} kB` : `${(bytes.length / 1e6).toFixed(1)} MB`;
  return make("span", "size", size);
}

function fileButton(label, sign, file, enabled, act) {
  const button = make("button", "", sign);
  button.type = "button";
  button.setAttribute("aria-label", `${label} ${file.name}`);
  button.disabled = !enabled;
  button.onclick = () => {
    act();
    showFiles();
    showRefused("");
    const next = at("parts").querySelectorAll("button:not(:disabled)");
    (next[0] ?? at("files")).focus();
  };
  return button;
}

function swap(i, j) {
  [files.proofs[i], files.proofs[j]] = [files.proofs[j], files.proofs[i]];
}

function showFiles() {
  clearResult();
  const several = files.proofs.length > 1;
  at("chosen").hidden = !files.key && files.proofs.length === 0;
  at("drop").classList.toggle("small", !at("chosen").hidden);
  const removeKey = () => { files.key = null; };
  at("key-file").replaceChildren(...(files.key
    ? [make("span", "name", files.key.name), sizeOf(files.key), fileButton("Remove", "✕", files.key, true, removeKey)]
    : [make("span", "wanted", "still to come: verifying.key, from the model’s owner")]));
  at("parts-title").textContent = several ? "Proofs" : "Proof";
  at("parts").replaceChildren(...files.proofs.map((proof, i) => {
    const row = make("li", "", make("span", "name", several ? `${i + 1}. ${proof.name}` : proof.name), sizeOf(proof));
    if (several) {
      row.append(fileButton("Earlier:", "↑", proof, i > 0, () => swap(i, i - 1)),
        fileButton("Later:", "↓", proof, i + 1 < files.proofs.length, () => swap(i, i + 1)));
    }
    row.append(fileButton("Remove", "✕", proof, true, () => files.proofs.splice(i, 1)));
    return row;
  }));
  if (files.proofs.length === 0) {
    at("parts").append(make("li", "wanted", "still to come"));
  }
  showPromptFields(several);
  at("verify").disabled = !files.key || files.proofs.length === 0;
}

function showPromptFields(several) {
  const before = [...document.querySelectorAll("#prompts textarea")].map((field) => field.value);
  at("prompts").replaceChildren(...files.proofs.map((_, i) => {
    const field = make("textarea");
    field.id = `prompt-${i}`;
    field.rows = 2;
    field.value = before[i] ?? "";
    field.setAttribute("aria-describedby", "prompts-help");
    field.oninput = clearResult;
    const label = make("label", "", several ? `Prompt ${i + 1}` : "Prompt");
    label.htmlFor = field.id;
    return make("div", "field", label, field);
  }));
}

// --- results

let run = 0; // results of earlier ones are not shown

function clearResult() {
  ++run;
  at("result").hidden = true;
  at("verdict").className = "verdict";
  at("verdict").replaceChildren();
  at("details").replaceChildren();
}

/// `why`: sentences, each in a line of its own.
function showVerdict(verdict, ...why) {
  at("result").hidden = false;
  at("verdict").className = `verdict ${verdict}`;
  at("verdict").replaceChildren(make("span", "word", words[verdict] ?? words.failed),
    ...why.filter(Boolean).map((line) => make("span", "why", line)));
}

function showFailure(verdict, why) {
  clearResult();
  showVerdict(verdict, why);
}

async function verify() {
  clearResult();
  const mine = run;
  at("result").hidden = false;
  at("verdict").replaceChildren(make("span", "working", "Verifying …"));
  const prompts = [...document.querySelectorAll("#prompts textarea")].map((field) => field.value);
  const expected = { key: at("expect-key").value.trim().toLowerCase() };
  if (prompts.some((text) => text !== "")) {
    expected[at("as-ids").checked ? "ids" : "prompts"] = at("as-ids").checked ? prompts.map((ids) => ids.trim()) : prompts;
  }
  let answer;
  try {
    answer = await verifier.verify({ key: files.key, proofs: files.proofs, expected });
  } catch (error) {
    answer = { verdict: "failed", error: error.message };
  }
  if (mine === run) {
    showAnswer(answer, expected);
    at("result").scrollIntoView({ block: "nearest" });
  }
}

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

/// What an accepted answer says, and no more than that.
function claim({ mode, proofs }) {
  const tokens = count(proofs.reduce((sum, proof) => sum + proof.generated.ids.length, 0), "token");
  if (mode === "each") {
    return `Each of these ${proofs.length} proofs is accepted, alone: after its prompt, the key’s model begins with the tokens shown.`;
  }
  return proofs.length === 1 ? `After this prompt the key’s model begins with these ${tokens}, and with no others.`
    : `In this conversation of ${proofs.length} parts the key’s model begins each answer with the tokens shown, ${tokens} in all, and with no others.`;
}

const choice_of_length = "How many tokens there are was the prover’s choice: the model may go on, and change what is said.";
const no_conversation = "These proofs have nothing to do with each other: none goes on where another one ends.";

/// Whether anybody has compared the key, whose proofs are worth no more than that. `expected.key`: somebody has.
function keyCompared(expected) {
  if (expected.key) {
    return "";
  }
  return files.proofs.some((proof) => proof.choice === files.key.choice)
    ? "The key came together with the proof, and nobody has compared it: whoever made both can prove any text of a model of their own."
    : "Nobody has compared the key: it is worth as much as the place that you have it from.";
}

/// What is wrong, first of all.
function headline(answer, last, expected) {
  if (answer.verdict === "failed") {
    return "Nothing is known of the proof: it could not be verified.";
  }
  if (answer.key) {
    return answer.error ? "" : /: tokenizer: /.test(last.reason) ? "The key’s tokenizer does not take the prompt that you expect."
      : `${last.file} cannot be used: it is no proof, or it is damaged.`;
  }
  if (/^expected (key digest|ids): /.test(answer.error)) {
    return `What you expect as ${/^expected ids/.test(answer.error) ? "token ids" : "the digest of the key"} is none.`;
  }
  return expected.key && /: key digest: expected/.test(answer.error) ? "The key is not the one that you expect."
    : "The key cannot be used.";
}

/// Sentences on a verdict.
function why(answer, expected) {
  const { proofs = [], mode, verdict } = answer;
  const hint = mode === "each" ? no_conversation : "";
  if (verdict === "accepted") {
    return [claim(answer), hint, choice_of_length, keyCompared(expected)];
  }
  const bad = mode === "each" ? proofs.find((proof) => proof.verdict === verdict) : proofs.at(-1);
  const part = files.proofs.length === 1 || !bad ? "" : mode === "each" ? `${bad.file}: ` : `Part ${proofs.length}, ${bad.file}: `;
  const reason = answer.error ?? (bad.scope ? `${part}at ${bad.scope}: ${bad.reason}` : bad.reason);
  const made_for = bad?.made_for ? `It was made for the key of digest ${bad.made_for}, which alone can say what text its tokens are.` : "";
  return [verdict === "rejected" ? "" : headline(answer, bad, expected), reason, made_for, hint];
}

function fact(name, value, wide) {
  return make("div", wide ? "wide" : "", make("dt", "", name), make("dd", wide ? "mono" : "", value));
}

function facts({ key, proofs = [], seconds, verdict }, expected) {
  const list = make("dl", "facts");
  if (key) {
    list.append(fact(`Digest of the key (${expected.key ? "compared: the one that you expect" : "compared by nobody"})`, key.digest, true));
  }
  if (verdict === "accepted") {
    const least = Math.min(...proofs.map((proof) => proof.soundness.least));
    const sums = proofs.map((proof) => proof.soundness.sum);
    const sum = sums.length === 1 ? sums[0] // else rounded down, too
      : Math.floor(-10 * Math.log2(sums.reduce((errors, bits) => errors + 2 ** -bits, 0)) + 1e-5) / 10;
    list.append(fact("Soundness, each round", `${least.toFixed(1)} bits`), fact("All together", `${sum.toFixed(1)} bits`));
  }
  const clamped = proofs.reduce((all, proof) => all + (proof.clamped?.values ?? 0), 0);
  if (clamped > 0) {
    list.append(fact("Beyond their range, and clamped", `${clamped} ${clamped === 1 ? "value" : "values"}`));
  }
  const bytes = proofs.reduce((all, proof) => all + (proof.bytes ?? 0), 0);
  if (bytes > 0) {
    list.append(fact("Proof", `${bytes.toLocaleString("en")} bytes`));
  }
  if (seconds !== undefined) {
    list.append(fact("Time", seconds < 10 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`));
  }
  return list;
}

/// Without a text, of another key's ids, these alone.
function textBox(kind, title, ids, text, proven, heading) {
  const numbers = make("details", "", make("summary", "", count(ids.length, "token")), make("p", "mono", ids.join(" ")));
  numbers.open = text === undefined;
  const shown = text === undefined ? "" : make("p", "", make("bdi", "", text));
  return make("div", `words ${kind}${proven ? "" : " unproven"}`,
    make(heading, "title", proven ? title : `${title}: claimed, not proven`), shown, numbers);
}

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
  }
  const { prompt, generated, printed } = proof;
  if (prompt?.ids.length > 0) {
    box.append(textBox("prompt", "Prompt", prompt.ids, printed?.prompt, proven, heading));
  }
  if (generated) {
    const title = `Generated: the first ${count(generated.ids.length, "token")}`;
    box.append(textBox("generated", proven ? title : "Generated", generated.ids, printed?.generated, proven, heading));
  }
  return box;
}

function showAnswer(answer, expected) {
  const { proofs = [], verdict } = answer;
  showVerdict(verdict, ...why(answer, expected));
  at("details").replaceChildren(facts(answer, expected),
    ...proofs.map((proof, i) => part(proof, i, files.proofs.length > 1, answer)));
}

// --- events

at("files").onchange = async ({ target }) => {
  await addFiles(target.files);
  target.value = "";
};
at("verify").onclick = verify;
at("clear").onclick = () => {
  files.key = null;
  files.proofs = [];
  at("expect-key").value = "";
  at("as-ids").checked = false;
  at("prompts").replaceChildren();
  showFiles();
  showRefused("");
  at("files").focus();
};
at("expect-key").oninput = clearResult;
at("as-ids").onchange = clearResult;
let depth = 0; // of elements that something is dragged over
const over = (change) => (event) => {
  event.preventDefault();
  depth = Math.max(depth + change, 0);
  document.body.classList.toggle("over", depth > 0);
};
window.addEventListener("dragenter", over(1));
window.addEventListener("dragleave", over(-1));
window.addEventListener("dragover", (event) => event.preventDefault());
window.addEventListener("drop", (event) => {
  event.preventDefault();
  depth = 0;
  document.body.classList.remove("over");
  addFiles(event.dataTransfer.files);
});
verifier.start();
