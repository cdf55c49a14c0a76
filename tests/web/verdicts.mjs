// node verdicts.mjs PROGRAMS CORPUS WORKER MODULE: the page's verifier says what tessera-verify says of every file that
// corpus.py has made: verdict, scope, statement and soundness; and the reason of each rejection.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [programs, corpus, worker, module_file] = process.argv.slice(2).map((path) => resolve(path));
const { verifyFiles } = createRequire(import.meta.url)(worker);
const module = new WebAssembly.Module(readFileSync(module_file));
const load = (name) => ({ name, bytes: readFileSync(name) });
let failures = 0;
const counts = {};

function native(...options) {
  try {
    return JSON.parse(execFileSync(join(programs, "tessera-verify"), ["--json", ...options],
      { maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "ignore"] }));
  } catch (error) {
    return JSON.parse(error.stdout);
  }
}

function inPage(key, proofs, expected = { key: "", prompts: [] }, renewals = []) {
  try {
    return verifyFiles(module, { key: load(key), renewals: renewals.map(load), proofs: proofs.map(load), expected });
  } catch (error) {
    return { verdict: "failed", error: error.message };
  }
}

const relevant = (proof) => JSON.stringify([proof.verdict, proof.scope, proof.verdict === "rejected" ? proof.reason : "",
  proof.made_for, proof.prompt, proof.generated, proof.soundness, proof.bytes, proof.sampling]);

function same(name, expected, found) {
  if (expected !== found) {
    ++failures;
    console.log(`FAILED: ${name}\n  tessera-verify: ${expected.slice(0, 300)}\n  page: ${found.slice(0, 300)}`);
  }
}

function sameConversation(name, key, proofs, options = [], expected = undefined) {
  const theirs = native("--key", key, ...proofs, ...options);
  const ours = inPage(key, proofs, expected);
  counts[`conversation ${ours.verdict}`] = (counts[`conversation ${ours.verdict}`] ?? 0) + 1;
  same(name, JSON.stringify([theirs.verdict, theirs.key, (theirs.proofs ?? []).map(relevant)]),
    JSON.stringify([ours.verdict, ours.key, (ours.proofs ?? []).map(relevant)]));
}

/// Proofs of which none goes on where another ends: the page judges each alone.
function sameEach(name, key, proofs) {
  const theirs = native("--key", key, "--each", ...proofs);
  const ours = inPage(key, proofs);
  same(`${name}: mode`, "each", ours.mode);
  same(name, JSON.stringify([theirs.verdict, theirs.proofs.map(relevant)]), JSON.stringify([ours.verdict, ours.proofs.map(relevant)]));
}

const keys = ["odd-40k", "odd-qwen-60k"].map((name) => join(corpus, "keys", `${name}.key`));
const proof = (name) => join(corpus, "proofs", `${name}.h5`);
for (const key of keys) {
  for (const theirs of native("--key", key, "--each", join(corpus, "proofs")).proofs) {
    const ours = inPage(key, [theirs.file]);
    counts[ours.verdict] = (counts[ours.verdict] ?? 0) + 1;
    same(`${key} ${theirs.file}: ${theirs.reason} / ${ours.proofs?.[0]?.reason ?? ours.error}`, relevant(theirs),
      relevant(ours.proofs?.[0] ?? ours));
  }
}
for (const name of readdirSync(join(corpus, "damaged_keys"))) {
  sameConversation(`key ${name}`, join(corpus, "damaged_keys", name), [proof("odd-40k-proof")]);
}
const parts = [proof("odd-40k-proof-part1"), proof("odd-40k-proof-part2")];
sameConversation("parts", keys[0], parts);
sameConversation("parts in the wrong order", keys[0], [...parts].reverse());
sameEach("independent proofs", keys[0], [parts[0], proof("odd-40k-proof")]);
sameEach("independent proofs, one of them false", keys[0], [proof("odd-40k-proof-payload-1000"), parts[0], proof("odd-40k-proof")]);
sameEach("independent proofs, one of them unusable", keys[0], [proof("odd-40k-proof"), proof("text")]);
sameEach("independent proofs, one of them another key's", keys[0], [proof("odd-40k-proof"), proof("odd-qwen-60k-proof"), proof("text")]);
same("the same proof twice", "accepted", inPage(keys[0], [parts[0], parts[0]]).verdict);
sameConversation("a part that is continued twice", keys[0], [...parts, parts[1]]);
sameConversation("a part after a whole", keys[0], [proof("odd-40k-proof"), parts[1]]);
sameConversation("another key", keys[1], parts);
sameEach("a false start: beginning", keys[0], [parts[0], proof("start-beginning")]);
for (const what of ["root", "length", "keeps"]) {
  sameConversation(`a false start: ${what}`, keys[0], [parts[0], proof(`start-${what}`)]);
}
const digest = native("--key", keys[0], parts[0]).key.digest;
for (const key of [digest, digest.replace(/^./, (c) => (c === "0" ? "1" : "0")), "ab"]) {
  const options = ["--expect-key", key];
  if (key.length === 64) {
    sameConversation(`expected key ${key}`, keys[0], parts, options, { key, prompts: [] });
  } else {
    same("an expected key that is none", "unusable", inPage(keys[0], parts, { key, prompts: [] }).verdict);
  }
}
for (const prompts of [["The old man"], ["The old woman"], ["The  old man"], ["1,2,3"], [""], ["Z\u0301\u1E9B\u0323 ｶﾞ １２"]]) {
  sameConversation(`expected prompt ${prompts}`, keys[0], [proof("odd-40k-proof")], ["--expect-prompt", ...prompts],
    { key: "", prompts });
  sameConversation(`expected prompt ${prompts}, qwen`, keys[1], [proof("odd-qwen-60k-proof")], ["--expect-prompt", ...prompts],
    { key: "", prompts });
}
const ids = native("--key", keys[0], proof("odd-40k-proof")).proofs[0].prompt.ids.join(",");
for (const list of [ids, `${ids},1`, "1,2,3", ""]) {
  sameConversation(`expected ids ${list}`, keys[0], [proof("odd-40k-proof")], ["--expect-ids", list], { key: "", ids: [list] });
}
same("ids are no text", "rejected", inPage(keys[0], [proof("odd-40k-proof")], { key: "", prompts: [ids] }).verdict);
for (const list of ["The old man", "1,,2"]) {
  same(`expected ids ${list}`, "unusable", inPage(keys[0], [proof("odd-40k-proof")], { key: "", ids: [list] }).verdict);
}
sameConversation("expected prompts of parts", keys[0], parts, ["--expect-prompt", "The old man", "--expect-prompt", " and"],
  { key: "", prompts: ["The old man", " and"] });
sameConversation("too few expected prompts", keys[0], parts, ["--expect-prompt", "The old man"], { key: "", prompts: ["The old man"] });

// how tokens are drawn, and what the key says of chats
const chats = (name) => join(corpus, "chats", name);
const chat_key = chats("commitment/verifying.key");
const number = (value) => value.toString(16).padStart(64, "0");
const hash = (digits) => createHash("blake2s256").update(Buffer.from(digits, "hex")).digest("hex");
const opening = number(5), commitment = hash(opening);
const options_of = { parameters: "--expect-sampling", seed: "--expect-seed", commitment: "--seed-commitment", opening: "--seed-opening" };
function sameSampling(verdict, file, sampling) {
  const name = `${file} ${JSON.stringify(sampling)}`;
  sameConversation(name, chat_key, [chats(file)], Object.entries(sampling).flatMap(([field, value]) => [options_of[field], value]),
    { key: "", sampling });
  same(`${name}: verdict`, verdict, inPage(chat_key, [chats(file)], { key: "", sampling }).verdict);
}
const drawn = "temperature=3,top_k=40";
sameSampling("accepted", "sampled.h5", {});
sameSampling("accepted", "sampled.h5", { parameters: drawn });
sameSampling("accepted", "sampled.h5", { parameters: drawn, seed: number(7) });
sameSampling("accepted", "joint.h5", { seed: number(7), commitment, opening });
for (const parameters of ["temperature=3", "temperature=3.1,top_k=40", `${drawn},top_p=0.9`, `${drawn},min_p=0.1`, "temperature=0"]) {
  sameSampling("rejected", "sampled.h5", { parameters });
}
sameSampling("rejected", "sampled.h5", { seed: number(8) });
sameSampling("rejected", "sampled.h5", { seed: number(7), commitment, opening });
sameSampling("rejected", "joint.h5", { seed: number(7) });
sameSampling("rejected", "joint.h5", { seed: number(8), commitment, opening });
sameSampling("rejected", "joint.h5", { seed: number(7), commitment, opening: number(6) });
sameSampling("rejected", "joint.h5", { seed: number(7), commitment: hash(number(6)), opening: number(6) });
for (const [field, sampling] of [["expected sampling", { parameters: "top_k=4" }], ["expected seed", { seed: "07" }],
  ["expected seed", { commitment, opening }], ["seed opening", { seed: number(7), commitment }],
  ["seed commitment", { seed: number(7), opening }], ["seed commitment", { seed: number(7), commitment: "x", opening }]]) {
  const found = inPage(chat_key, [chats("sampled.h5")], { key: "", sampling });
  same(`${JSON.stringify(sampling)}: ${found.error}`, "unusable true", `${found.verdict} ${found.error?.startsWith(`${field}: `)}`);
}
same("parameters of the best tokens' proof", "rejected",
  inPage(keys[0], [proof("odd-40k-proof")], { key: "", sampling: { parameters: drawn } }).verdict);
same("the best tokens", "accepted", inPage(keys[0], [proof("odd-40k-proof")], { key: "", sampling: { parameters: "temperature=0" } }).verdict);
same("a key without a template", "null", JSON.stringify(inPage(keys[0], [proof("odd-40k-proof")]).chat));
const shown = inPage(chat_key, [chats("sampled.h5")]);
same("the template's digest", createHash("blake2s256").update(shown.key.chat_template).digest("hex"), shown.chat?.digest);
same("and its beginning", "{# \\u{202e}</script><b> #}\\n{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}\\n"
  + "{# a line #}\\n".repeat(3), shown.chat?.beginning);

same("nothing to be judged", "unusable", inPage(keys[0], []).verdict);

// renewals: as tessera-verify takes them in the order of the chain, whatever order they are chosen in
const renewal = (name) => join(corpus, "renewals", name);
const first = renewal("first/verifying.key");
function sameRenewed(name, expected, key, chain, proofs, given = chain) {
  const theirs = native("--key", key, ...chain.flatMap((file) => ["--renewal", file]), ...(proofs.length > 1 ? ["--each"] : []), ...proofs);
  const ours = inPage(key, proofs, { key: "", prompts: [] }, given);
  const told = (answer) => JSON.stringify([answer.verdict, answer.key, answer.key && (answer.renewals ?? []), (answer.proofs ?? []).map(relevant),
    answer.verdict === "rejected" && !answer.proofs?.length ? answer.error : ""]);
  same(`renewals: ${name}: verdict`, expected, ours.verdict);
  if (theirs.error && theirs.verdict === "unusable") {
    same(`renewals: ${name}`, theirs.verdict, ours.verdict);
  } else {
    same(`renewals: ${name}`, told(theirs), told(ours));
  }
}
const [one, two] = [renewal("first-second.h5"), renewal("second-third.h5")];
sameRenewed("alone", "accepted", first, [one], []);
sameRenewed("a proof behind one", "accepted", first, [one], [renewal("second.h5")]);
sameRenewed("a chain", "accepted", first, [one, two], [renewal("third.h5")]);
sameRenewed("a chain in another order", "accepted", first, [one, two], [renewal("third.h5")], [two, one]);
sameRenewed("proofs of several keys", "rejected", first, [one], [renewal("first.h5"), renewal("second.h5")]);
sameRenewed("the old key's proof", "rejected", first, [one], [renewal("first.h5")]);
sameRenewed("one is missing", "rejected", first, [two], [renewal("third.h5")]);
sameRenewed("of another key", "rejected", renewal("third/verifying.key"), [one, two], [renewal("third.h5")]);
for (const what of ["payload", "old_key"]) {
  sameRenewed(`a false ${what}`, "rejected", first, [renewal(`first-second-false-${what}.h5`)], [renewal("second.h5")]);
  sameRenewed(`a false ${what} in the chain`, "rejected", first, [one, renewal(`second-third-false-${what}.h5`)], [renewal("third.h5")]);
}
sameRenewed("of a plain key", "rejected", keys[0], [one], []);
sameRenewed("one that is cut short", "unusable", first, [renewal("cut.h5")], [renewal("second.h5")]);
sameRenewed("a proof for a renewal", "unusable", first, [renewal("second.h5")], [renewal("second.h5")]);
console.log(JSON.stringify(counts));
for (const verdict of ["accepted", "rejected", "unusable"]) {
  if (!(counts[verdict] > 10)) {
    ++failures;
    console.log(`FAILED: expected files of each verdict, found ${counts[verdict] ?? 0} ${verdict}`);
  }
}
console.log(failures === 0 ? "passed" : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
