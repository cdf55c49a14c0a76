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

const files = { key: null, proofs: [] }; // each {name, bytes}

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

async function addFiles(list) {
  const chosen = [...list].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  for (const file of chosen) {
    let bytes;
    try {
      if (file.size > max_file_bytes) {
        throw new Error(`expected at most ${max_file_bytes} bytes, found ${file.size}`);
      }
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      showFailure("unusable", `${file.name}: cannot be read: ${error.message}`);
      return;
    }
    if (looksLikeKey(bytes)) {
      files.key = null;
      files.key = { name: freeName(file.name), bytes };
    } else {
      files.proofs.push({ name: freeName(file.name), bytes });
    }
  }
  showFiles();
  if (files.key && files.proofs.length > 0 && chosen.length > 0) {
    await verify();
  }
}

function sizeOf({ bytes }) {
  const size = bytes.length < 1e6 ? `${Math.ceil(bytes.length / 1e3)} kB` : `${(bytes.length / 1e6).toFixed(1)} MB`;
  return make("span", "size", size);
}

function partButton(label, sign, index, enabled, act) {
  const button = make("button", "", sign);
  button.type = "button";
  button.setAttribute("aria-label", `${label} ${files.proofs[index].name}`);
  button.disabled = !enabled;
  button.onclick = () => {
    act();
    showFiles();
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
  at("key-file").replaceChildren(...(files.key ? [files.key.name, " ", sizeOf(files.key)]
    : [make("span", "wanted", "still to come: verifying.key, from the model’s owner")]));
  at("parts-title").textContent = several ? "Parts" : "Proof";
  at("parts").replaceChildren(...files.proofs.map((proof, i) => {
    const row = make("li", "", make("span", "name", several ? `${i + 1}. ${proof.name}` : proof.name), sizeOf(proof));
    if (several) {
      row.append(partButton("Earlier:", "↑", i, i > 0, () => swap(i, i - 1)),
        partButton("Later:", "↓", i, i + 1 < files.proofs.length, () => swap(i, i + 1)));
    }
    row.append(partButton("Remove", "✕", i, true, () => files.proofs.splice(i, 1)));
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
    const label = make("label", "", several ? `Prompt of part ${i + 1}` : "Prompt");
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

function showVerdict(verdict, why) {
  at("result").hidden = false;
  at("verdict").className = `verdict ${verdict}`;
  at("verdict").replaceChildren(make("span", "word", words[verdict] ?? words.failed), make("span", "why", why));
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
  const expected = { key: at("expect-key").value.trim().toLowerCase(),
    prompts: prompts.some((text) => text !== "") ? prompts : [] };
  let answer;
  try {
    answer = await verifier.verify({ key: files.key, proofs: files.proofs, expected });
  } catch (error) {
    answer = { verdict: "failed", error: error.message };
  }
  if (mine === run) {
    showAnswer(answer);
    at("result").scrollIntoView({ block: "nearest" });
  }
}

function why(answer) {
  const { proofs = [] } = answer;
  const last = proofs.at(-1);
  const generated = proofs.reduce((sum, proof) => sum + (proof.generated?.ids.length ?? 0), 0);
  if (answer.error) {
    return answer.error;
  }
  if (answer.verdict === "accepted") {
    return `The key’s model generates ${generated === 1 ? "this token" : `these ${generated} tokens`}, and no others, after `
      + `${proofs.length === 1 ? "this prompt." : `these prompts, in this conversation of ${proofs.length} parts.`}`;
  }
  const part = files.proofs.length > 1 ? `Part ${proofs.length}, ${last.file}: ` : "";
  return last.scope ? `${part}at ${last.scope}: ${last.reason}` : `${part}${last.reason}`;
}

function fact(name, value, wide) {
  return make("div", wide ? "wide" : "", make("dt", "", name), make("dd", wide ? "mono" : "", value));
}

function facts({ key, proofs = [], seconds, verdict }) {
  const list = make("dl", "facts");
  if (key) {
    list.append(fact("Digest of the key", key.digest, true));
  }
  if (verdict === "accepted") {
    const least = Math.min(...proofs.map((proof) => proof.soundness.least));
    const sum = -Math.log2(proofs.reduce((errors, proof) => errors + 2 ** -proof.soundness.sum, 0));
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

function textBox(kind, title, ids, text, proven, heading) {
  const shown = make("p", "", make("bdi", "", text));
  const numbers = make("details", "", make("summary", "", `${ids.length} ${ids.length === 1 ? "token" : "tokens"}`),
    make("p", "mono", ids.join(" ")));
  return make("div", `words ${kind}${proven ? "" : " unproven"}`,
    make(heading, "title", proven ? title : `${title}: claimed, not proven`), shown, numbers);
}

function part(proof, index, count, proven) {
  const box = make("article", "part");
  const heading = count > 1 ? "h4" : "h3";
  if (count > 1) {
    const state = proven || proof.verdict !== "accepted" ? proof.verdict : "part of a conversation that is not accepted";
    box.append(make("h3", "name", `Part ${index + 1}: ${proof.file} `, make("span", "state", `(${state})`)));
  }
  if (proof.printed) {
    const { prompt, generated, printed } = proof;
    if (prompt.ids.length > 0) {
      box.append(textBox("prompt", "Prompt", prompt.ids, printed.prompt, proven, heading));
    }
    box.append(textBox("generated", "Generated", generated.ids, printed.generated, proven, heading));
  }
  return box;
}

function showAnswer(answer) {
  const { proofs = [], verdict } = answer;
  showVerdict(verdict, why(answer));
  at("details").replaceChildren(facts(answer),
    ...proofs.map((proof, i) => part(proof, i, files.proofs.length, verdict === "accepted")));
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
  at("prompts").replaceChildren();
  showFiles();
  at("files").focus();
};
at("expect-key").oninput = clearResult;
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
