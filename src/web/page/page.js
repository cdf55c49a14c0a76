"use strict";

const key_mark = "tessera verifying key", renewal_mark = "tessera renewal"; // in the first bytes of such files
const max_file_bytes = 2 ** 29; // more than any key or proof may have
const seconds_for_a_part = 30;
const at = (id) => document.getElementById(id);
const sampling_fields = { parameters: "expect-sampling", seed: "expect-seed", commitment: "seed-commitment", opening: "seed-opening" };

const files = { key: null, renewals: [], proofs: [] }; // each {name, bytes, choice}: files that were chosen together have the same one
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
      .then(() => this.answer(request, seconds_for_a_part * (request.renewals.length + request.proofs.length)));
    this.last = next;
    return next;
  },
};

// --- files

function begins(bytes, mark) {
  return new TextDecoder("latin1").decode(bytes.subarray(0, 512)).includes(mark);
}

/// All that are there.
const allFiles = () => [files.key, ...files.renewals, ...files.proofs].filter(Boolean);

/// Names stand for files: two of the same name get numbers.
function freeName(name) {
  const taken = new Set(allFiles().map((file) => file.name));
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
  const keys = read.filter((file) => begins(file.bytes, key_mark));
  const refused = refusedKeys(keys);
  for (const file of read.filter((file) => !refused || !keys.includes(file))) {
    file.name = freeName(file.name);
    if (keys.includes(file)) {
      files.key = file;
    } else {
      (begins(file.bytes, renewal_mark) ? files.renewals : files.proofs).push(file);
    }
  }
  showFiles();
  showRefused(refused);
  if (!refused && canVerify() && read.length > 0) {
    await verify();
  }
}

/// Of a renewal alone there is something to be said, too.
const canVerify = () => files.key && files.proofs.length + files.renewals.length > 0;

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
  at("chosen").hidden = allFiles().length === 0;
  at("drop").classList.toggle("small", !at("chosen").hidden);
  const removeKey = () => { files.key = null; };
  at("key-file").replaceChildren(...(files.key
    ? [make("bdi", "name", files.key.name), sizeOf(files.key), fileButton("Remove", "✕", files.key, true, removeKey)]
    : [make("span", "wanted", "still to come: verifying.key, from the model’s owner")]));
  at("expected-key").hidden = !files.key;
  at("renewals-row").hidden = files.renewals.length === 0;
  at("renewals").replaceChildren(...files.renewals.map((file, i) => make("li", "", make("bdi", "name", file.name), sizeOf(file),
    fileButton("Remove", "✕", file, true, () => files.renewals.splice(i, 1)))));
  at("parts-title").textContent = several ? "Proofs" : "Proof";
  at("parts").replaceChildren(...files.proofs.map((proof, i) => {
    const row = make("li", "", make("bdi", "name", several ? `${i + 1}. ${proof.name}` : proof.name), sizeOf(proof));
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
  at("expectations").hidden = files.proofs.length === 0;
  at("verify").disabled = !canVerify();
}

function showPromptFields(several) {
  const before = [...document.querySelectorAll("#prompts textarea")].map((field) => field.value);
  at("prompts").replaceChildren(...files.proofs.map((_, i) => {
    const field = make("textarea");
    field.id = `prompt-${i}`;
    field.rows = 2;
    field.spellcheck = false; // it is compared letter by letter
    field.autocapitalize = "off";
    field.autocomplete = "off";
    field.setAttribute("autocorrect", "off");
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
  at("outcome").className = "verdict";
  for (const id of ["verdict", "digest", "details"]) {
    at(id).replaceChildren();
  }
}

/// `why`: sentences, each in a line of its own.
function showVerdict(verdict, ...why) {
  at("result").hidden = false;
  at("outcome").className = `verdict ${verdict}`;
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
  expected.sampling = Object.fromEntries(Object.entries(sampling_fields).map(([name, id]) => [name, at(id).value.trim()]));
  const given = { key: files.key, renewals: [...files.renewals], proofs: [...files.proofs], expected };
  let answer;
  try {
    answer = await verifier.verify(given);
  } catch (error) {
    answer = { verdict: "failed", error: error.message };
  }
  if (mine === run) {
    showAnswer(answer, given);
    at("result").scrollIntoView({ block: at("result").offsetHeight > innerHeight ? "start" : "nearest" });
  }
}

/// The ids of a JSON file into the fields of prompts: a list, or a list of lists for several proofs.
async function takeIds(file) {
  try {
    const read = JSON.parse(await file.text());
    const lists = Array.isArray(read) && read.length > 0 && read.every(Array.isArray) ? read : [read];
    if (!lists.every((ids) => Array.isArray(ids) && ids.every((id) => Number.isInteger(id) && id >= 0 && id < 1e9))) {
      throw new Error("expected a list of token ids, or a list of such lists, found something else");
    }
    const prompts = document.querySelectorAll("#prompts textarea");
    if (lists.length !== prompts.length) {
      throw new Error(`expected ids for ${count(prompts.length, "proof")}, found ${lists.length}`);
    }
    prompts.forEach((field, i) => { field.value = lists[i].join(","); });
    at("as-ids").checked = true;
    clearResult();
    showRefused("");
  } catch (error) {
    showRefused(`${file.name}: ${error.message}`);
  }
}

function compareKey() {
  at("expect-key").scrollIntoView({ block: "center" });
  at("expect-key").focus();
}

function showAnswer(answer, given) {
  const { proofs = [], verdict } = answer;
  showVerdict(verdict, ...why(answer, given));
  at("digest").replaceChildren(...(answer.key ? [keyDigest(answer, given, compareKey)] : []));
  at("details").replaceChildren(...proofs.map((proof, i) => part(proof, i, given.proofs.length > 1, answer)), facts(answer),
    ...(answer.chat ? [chatBox(answer.chat)] : []));
}

// --- events

at("files").onchange = async ({ target }) => {
  await addFiles(target.files);
  target.value = "";
};
at("verify").onclick = verify;
at("clear").onclick = () => {
  Object.assign(files, { key: null, renewals: [], proofs: [] });
  at("expect-key").value = "";
  at("as-ids").checked = false;
  Object.values(sampling_fields).forEach((id) => { at(id).value = ""; });
  at("prompts").replaceChildren();
  showFiles();
  showRefused("");
  at("files").focus();
};
at("expect-key").oninput = clearResult;
at("as-ids").onchange = clearResult;
at("ids-file").onchange = async ({ target }) => {
  if (target.files.length > 0) {
    await takeIds(target.files[0]);
  }
  target.value = "";
};
Object.values(sampling_fields).forEach((id) => { at(id).oninput = clearResult; });
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
