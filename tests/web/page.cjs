// node page.cjs PAGE CORPUS SCREENSHOTS [KEY PROOF]: verify.html in headless Chromium, from file:// and from a server.
// KEY and PROOF: also how long these take.
const { readFileSync, mkdirSync, statSync } = require("node:fs");
const { createServer } = require("node:http");
const { join, resolve } = require("node:path");
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [page_file, corpus, pictures, ...timed] = process.argv.slice(2).map((path) => resolve(path));
const key = join(corpus, "keys/odd-40k.key");
const other_key = join(corpus, "keys/odd-qwen-60k.key");
const renewal = (name) => join(corpus, "renewals", name);
const proof = (name) => join(corpus, "proofs", `${name}.h5`);
mkdirSync(pictures, { recursive: true });
let failures = 0;

function check(good, what) {
  console.log(`${good ? "ok" : "FAILED"}: ${what}`);
  failures += good ? 0 : 1;
}

async function open(browser, address, { dark = false, width = 900 } = {}) {
  const page = await browser.newPage();
  page.requests = [];
  page.problems = [];
  page.on("request", (request) => page.requests.push(request.url().slice(0, 80)));
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  await page.setViewport({ width, height: 1000 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.goto(address);
  return page;
}

/// Real files, dropped on the page from outside.
async function drop(page, files) {
  const client = await page.createCDPSession();
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await client.send("Input.dispatchDragEvent", { type, x: 300, y: 200, data });
  }
  await client.detach();
}

async function choose(page, files) {
  await (await page.$("#files")).uploadFile(...files);
}

async function verdict(page) {
  await page.waitForFunction(() => document.querySelector("#verdict .word"), { timeout: 60000 });
  return page.$eval("#verdict", (element) => element.innerText.replace(/\s+/g, " "));
}

/// The verdict with the key's digest.
async function outcome(page) {
  await verdict(page);
  return page.$eval("#outcome", (element) => element.innerText.replace(/\s+/g, " "));
}

const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

const text = (page, selector) => page.$$eval(selector, (all) => all.map((element) => element.textContent));

async function accessible(page, what) {
  // not by a script element: the page's policy is in force
  const client = await page.createCDPSession();
  await client.send("Runtime.evaluate", { expression: axe });
  const { result } = await client.send("Runtime.evaluate",
    { expression: "axe.run().then((r) => JSON.stringify(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 100))])))",
      awaitPromise: true });
  check(result.value === "[]", `accessible: ${what} ${result.value === "[]" ? "" : result.value}`);
}

function onlyItself(page, address, what) {
  const others = page.requests.filter((url) => url !== address.slice(0, 80) && !url.startsWith("blob:"));
  check(others.length === 0, `no requests: ${what} ${others}`);
  check(page.problems.length === 0, `no errors: ${what} ${page.problems}`);
}

async function dropped(browser, address) {
  const page = await open(browser, address);
  await accessible(page, "empty");
  await page.screenshot({ path: join(pictures, "empty.png"), fullPage: true });
  await drop(page, [proof("odd-40k-proof")]);
  await page.waitForFunction(() => document.querySelector("#parts .name"));
  check(await page.$eval("#verify", (button) => button.disabled), "no key, nothing to verify");
  await drop(page, [key]);
  const said = await verdict(page);
  check(/^ACCEPTED After this prompt .* begins with these, the first 12 tokens, and with no others\. The text is cut off at 12 tokens\. How many .* the prover’s choice/.test(said),
    `a dropped key and proof are accepted: ${said}`);
  check(/ Digest of the key [0-9a-f]{64} Nobody has compared this digest\. The key is worth/.test(await outcome(page)),
    "beside the digest stands that nobody has compared it");
  const ends = await page.evaluate(() => {
    const one = { generated: { ids: [1, 7] }, ended_by: { id: 7, text: "\u202e" }, printed: { last: "\\u{202e}" } };
    const answer = (...parts) => ({ verdict: "accepted", mode: "conversation", proofs: parts.map((complete) => ({ ...one, complete })) });
    return [answer(true), answer(true, false), { ...answer(true, true), mode: "each" }].map((given) => why(given, {}).join(" "));
  });
  check(/says these 2 tokens, and no others\. .*text is complete: it is ended by “\\u\{202e\}”, token 7,/.test(ends[0]), `a text that ends is complete: ${ends[0]}`);
  check(/text is cut off at 2 tokens\./.test(ends[1]), `a conversation's last part is what counts: ${ends[1]}`);
  check(!/complete|cut off/.test(ends[2]), `of several texts nothing is said: ${ends[2]}`);
  check((await text(page, ".generated bdi"))[0].length > 5, "the continuation is shown");
  check((await text(page, ".prompt bdi"))[0] === "The old man", "the prompt is shown");
  await page.evaluate(() => { at("verify").click(); at("verify").click(); });
  check((await verdict(page)).startsWith("ACCEPTED"), "asked again at once, it answers");
  const facts = await page.$eval(".facts", (element) => element.innerText);
  check(/bits/.test(facts) && /ms/.test(facts), "soundness and time are shown");
  await accessible(page, "accepted");
  await page.screenshot({ path: join(pictures, "accepted.png"), fullPage: true });
  onlyItself(page, address, `accepted from ${address.slice(0, 8)}`);
  const refused = await page.evaluate(() => fetch("https://example.org/").then(() => "sent", () => "refused"));
  check(refused === "refused", "the policy refuses requests");
  await page.close();
}

async function rejected(browser, address) {
  const page = await open(browser, address, { dark: true });
  await choose(page, [key, proof("odd-40k-proof-payload-1000")]);
  const words = await verdict(page);
  check(/^REJECTED at \/\S+: /.test(words), `a false payload is rejected: ${words}`);
  check((await text(page, ".words .title"))[1] === "Generated: claimed, not proven", "its text is not taken for proven");
  check(await page.$eval(".unproven bdi", (element) => getComputedStyle(element).textDecorationLine === "none"),
    "and does not look like a spelling mistake");
  await accessible(page, "rejected, dark");
  await page.screenshot({ path: join(pictures, "rejected-dark.png"), fullPage: true });
  await page.click("#clear");
  await choose(page, [key, proof("text")]);
  check(/^UNUSABLE text\.h5 is none of tessera’s files\. text\.h5: expected an HDF5 file/.test(await verdict(page)),
    "what is wrong comes first");
  for (const [name, wrong] of [["empty", "is empty"], ["odd-40k-proof-cut000", "is cut short: \\d+ of its \\d+ bytes are there"]]) {
    await page.click("#clear");
    await choose(page, [key, proof(name)]);
    const unusable = await verdict(page);
    check(new RegExp(`^UNUSABLE ${name}\\.h5 ${wrong}\\. `).test(unusable), `what is wrong comes first: ${unusable}`);
  }
  await page.click("#clear");
  await choose(page, [key, renewal("model.h5")]);
  check(/^UNUSABLE model\.h5 is a model, and no proof\. /.test(await verdict(page)), "a model is called one");
  await accessible(page, "unusable, dark");
  await page.screenshot({ path: join(pictures, "unusable-dark.png"), fullPage: true });
  await page.click("#clear");
  await choose(page, [key, proof("odd-40k-proof-hidden")]);
  check((await verdict(page)).startsWith("ACCEPTED"), "a file with hidden characters in its own text is accepted");
  await page.click("#clear");
  await choose(page, [other_key, proof("odd-40k-proof")]);
  check(/^REJECTED at .* another verifying key It was made for the key of digest [0-9a-f]{64}/.test(await verdict(page)),
    "another key's proof names its key");
  check((await text(page, ".words bdi")).length === 0 && (await text(page, ".words .mono")).length === 2,
    "another key's tokens are ids without a text");
  check(/[0-9a-f]{64}/.test((await text(page, "#digest .mono"))[0]), "and the key's digest stands beside it");
  onlyItself(page, address, "rejected");
  await page.close();
}

async function conversation(browser, address) {
  const page = await open(browser, address, { width: 390 });
  await choose(page, [key, proof("odd-40k-proof-part2"), proof("odd-40k-proof-part1")]);
  check((await verdict(page)).startsWith("ACCEPTED"), "parts are taken in the order of their names");
  check((await text(page, ".part")).length === 2, "both parts are shown");
  await accessible(page, "parts, narrow");
  check(await fits(page), "nothing is wider than a narrow page");
  check(await page.evaluate(() => at("outcome").getBoundingClientRect().top < innerHeight / 2), "the verdict is what one sees");
  check(await page.$eval(".facts", (list) => getComputedStyle(list).gridTemplateColumns.split(" ").length === 2), "facts stand in pairs");
  const small = await page.$$eval("button, .choose", (all) => all.filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    return !element.closest("#digest") && width > 0 && (height < 34 || width < 34);
  }).length);
  check(small === 0, `${small} buttons too small for a finger`);
  await page.screenshot({ path: join(pictures, "parts-narrow.png"), fullPage: true });
  await page.click("[aria-label^='Later: odd-40k-proof-part1']");
  check(await page.$eval("#result", (element) => element.hidden), "another order: no result stays");
  await page.click("#verify");
  check(/^REJECTED Part 1.*give all parts in order/.test(await verdict(page)), "the wrong order is rejected");
  await page.screenshot({ path: join(pictures, "order-narrow.png"), fullPage: true });
  onlyItself(page, address, "parts");
  await page.close();
}

async function keys(browser, address) {
  const page = await open(browser, address);
  const refused = () => page.$eval("#refused", (element) => (element.hidden ? "" : element.innerText));
  const used = () => page.$eval("#key-file", (element) => element.innerText);
  const hidden = () => page.$eval("#result", (element) => element.hidden);
  await choose(page, [key, proof("odd-40k-proof")]);
  check(/Nobody has compared this digest\. The key came together with the proof/.test(await outcome(page)),
    "of a key that came with the proof it is said");
  await drop(page, [other_key]);
  await page.waitForFunction(() => !document.querySelector("#refused").hidden);
  check(/^odd-qwen-60k\.key: a second key\. It was not taken/.test(await refused()), `a second key is refused: ${await refused()}`);
  check((await used()).startsWith("odd-40k.key") && (await hidden()), "the first key stays, and no result beside the refusal");
  await accessible(page, "a second key");
  await page.screenshot({ path: join(pictures, "second-key.png"), fullPage: true });
  await choose(page, [other_key, proof("odd-qwen-60k-proof")]);
  await page.waitForFunction(() => document.querySelectorAll("#parts .name").length === 2);
  check((await used()).startsWith("odd-40k.key") && (await hidden()), "nor is one that comes with a proof; nothing is verified");
  await page.click("[aria-label='Remove odd-40k.key']");
  check(/still to come/.test(await used()) && (await refused()) === "", "the key can be removed");
  await choose(page, [key, other_key]);
  await page.waitForFunction(() => !document.querySelector("#refused").hidden);
  check(/several keys\. None of them was taken/.test(await refused()) && /still to come/.test(await used()), "of two keys none is taken");
  await choose(page, [key]);
  check(/^REJECTED/.test(await verdict(page)) && (await refused()) === "", "then another key is taken");
  await page.click("#clear");
  await choose(page, [proof("odd-40k-proof")]);
  await choose(page, [key]);
  await verdict(page);
  const digest = (await text(page, "#digest .mono"))[0];
  await page.click("#digest button");
  check((await page.evaluate(() => document.activeElement.id)) === "expect-key", "the place to compare it is one click away");
  await page.keyboard.type(digest.toUpperCase());
  check(await hidden(), "another expectation: no result stays");
  await page.click("#verify");
  check(/^ACCEPTED .* Digest of the key [0-9a-f]{64} Compared: it is the one that you expect\.$/.test(await outcome(page)),
    "a key that was compared is no stranger's");
  onlyItself(page, address, "keys");
  await page.close();
}

async function independent(browser, address) {
  const page = await open(browser, address);
  await choose(page, [key, proof("odd-40k-proof"), proof("odd-40k-proof-part1")]);
  const said = await verdict(page);
  check(/^ACCEPTED Each of these 2 proofs is accepted, alone.* are no conversation/.test(said), `each alone: ${said}`);
  check((await text(page, ".part .name")).every((name) => /^Proof \d: .*\(accepted\)$/.test(name)), "each has its verdict");
  await page.screenshot({ path: join(pictures, "independent.png"), fullPage: true });
  await choose(page, [proof("odd-40k-proof-payload-1000")]);
  check(/^REJECTED odd-40k-proof-payload-1000\.h5: at .* are no conversation/.test(await verdict(page)), "one of them is false");
  check((await text(page, ".part .state")).filter((state) => state === "(accepted)").length === 2, "the others are accepted all the same");
  await accessible(page, "independent proofs");
  onlyItself(page, address, "independent proofs");
  await page.close();
}

async function renewals(browser, address) {
  const page = await open(browser, address, { width: 390, dark: true });
  const names = () => text(page, "#renewals .name");
  await choose(page, [renewal("first/verifying.key"), renewal("first-second.h5")]);
  check(/^ACCEPTED The new key commits to the same parameters .* Renewed by first-second\.h5, to [0-9a-f]{64}$/.test(await outcome(page)),
    `a renewal alone: ${await outcome(page)}`);
  await accessible(page, "a renewal, dark, narrow");
  await choose(page, [renewal("second-third.h5"), renewal("third.h5")]);
  const digests = await page.waitForFunction(() => document.querySelector(".generated bdi")
    && [...document.querySelectorAll("#digest .mono")].map((element) => element.textContent)).then((found) => found.jsonValue());
  check((await verdict(page)).startsWith("ACCEPTED After this prompt") && new Set(digests).size === 3, "a proof behind two renewals");
  check((await names()).join() === "first-second.h5,second-third.h5", "renewals stand apart from proofs");
  check(await fits(page), "nothing is wider than a narrow page");
  await page.screenshot({ path: join(pictures, "renewed-narrow-dark.png"), fullPage: true });
  await page.click("[aria-label='Remove first-second.h5']");
  await page.click("#verify");
  check(/^REJECTED at \/statement: renewal second-third\.h5: it renews another key than the one before it$/.test(await verdict(page)),
    `a chain with a gap: ${await verdict(page)}`);
  await page.click("#clear");
  check((await names()).length === 0, "nothing stays");
  await choose(page, [renewal("first/verifying.key"), renewal("first-second.h5"), renewal("first.h5")]);
  check(/^REJECTED at .*another verifying key It was made for .* remove the renewal/.test(await verdict(page)), "the old key's proof");
  check((await text(page, ".words bdi")).length === 0, "has no text under the new one");
  await page.click("#clear");
  await choose(page, [renewal("first/verifying.key"), renewal("cut.h5")]);
  check(/^UNUSABLE cut\.h5 is cut short.* cut\.h5: expected/.test(await verdict(page)), "a damaged renewal");
  onlyItself(page, address, "renewals");
  await page.close();
}

/// What does not show has a mark that no text can imitate; lines are lines.
async function marks(browser, address) {
  const page = await open(browser, address);
  const made = await page.evaluate(() => {
    const bdi = make("bdi", "", ...readable(String.raw`one\ntwo\n\n\u{202e}\u{7}\xff \\u{202e} \\n \"<b>"\\\\x41`));
    document.querySelector("main").append(make("div", "words", make("p", "", bdi)));
    return { html: bdi.innerHTML.replace(/ title="[^"]*"/g, ""), lines: Math.round(bdi.getClientRects().length) };
  });
  const line = '<span class="mark line">↵</span>\n';
  check(made.html === `one${line}two${line}${line}<span class="mark ">U+202E</span><span class="mark ">U+0007</span>`
    + '<span class="mark ">0xFF</span> \\u{202e} \\n "&lt;b&gt;"\\\\x41', `marks: ${made.html}`);
  check(made.lines >= 4, `lines are lines: ${made.lines}`);
  await accessible(page, "marks");
  await page.close();
  const fields = await open(browser, address);
  await choose(fields, [key, proof("odd-40k-proof")]);
  await verdict(fields);
  check(await fields.$$eval("input[type=text], textarea", (all) => all.length === 6 && all.every((field) => !field.spellcheck
    && /^(off|none)$/.test(field.autocapitalize))), "no field is corrected");
  await fields.close();
}

async function keyboard(browser, address) {
  const page = await open(browser, address, { dark: true });
  await page.keyboard.press("Tab");
  check((await page.evaluate(() => document.activeElement.id)) === "files", "the first stop is the choice of files");
  const chooser = page.waitForFileChooser();
  await page.keyboard.press("Space");
  await (await chooser).accept([key, proof("odd-40k-proof")]);
  check((await verdict(page)).startsWith("ACCEPTED"), "accepted by keyboard alone");
  const press = async (id, most = 20) => {
    for (let i = 0; i < most && (await page.evaluate(() => document.activeElement.id || document.activeElement.tagName)) !== id; ++i) {
      await page.keyboard.press("Tab");
    }
  };
  await press("SUMMARY");
  await page.keyboard.press("Enter");
  await press("prompt-0");
  await page.keyboard.type("The old woman");
  check(await page.$eval("#result", (element) => element.hidden), "another expectation: no result stays");
  await press("verify");
  await page.keyboard.press("Enter");
  check(/^REJECTED at \/statement: the prompt is not the expected one/.test(await verdict(page)), "another prompt is rejected");
  await accessible(page, "expectations, dark");
  await page.screenshot({ path: join(pictures, "expected-dark.png"), fullPage: true });
  await page.click("#as-ids");
  check(await page.$eval("#result", (element) => element.hidden), "ids for a text: no result stays");
  await page.click("#verify");
  check(/^UNUSABLE What you expect as token ids is none/.test(await verdict(page)), "a text is no list of ids");
  const ids = (await page.evaluate(() => verifier.verify({ ...files, expected: { key: "" } })
    .then((answer) => answer.proofs[0].prompt.ids.join(","))));
  await page.$eval("#prompt-0", (field, value) => { field.value = value; }, ids);
  await page.click("#verify");
  await page.waitForFunction(() => /ACCEPTED/.test(document.querySelector("#verdict").innerText));
  await page.click("#as-ids");
  await page.click("#verify");
  check(/^REJECTED .* it was taken for a text/.test(await verdict(page)), "and ids are no text");
  await page.$eval("#expect-key", (field) => { field.value = "0".repeat(64); });
  await page.click("#verify");
  await page.waitForFunction(() => /UNUSABLE/.test(document.querySelector("#verdict").innerText));
  check(/^UNUSABLE The key is not the one that you expect\. .*expected 0{64}, found/.test(await verdict(page)), "another key is refused");
  await page.close();
}

/// How tokens have to be drawn, ids of a file, and the template that the key holds.
async function expectations(browser, address) {
  const page = await open(browser, address, { width: 390 });
  const chats = (name) => join(corpus, "chats", name);
  const facts = () => page.$eval(".facts", (element) => element.innerText);
  const number = (digit) => `${digit}`.padStart(64, "0");
  const fill = (id, value) => page.$eval(`#${id}`, (field, text) => { field.value = text; field.dispatchEvent(new Event("input")); }, value);
  const judged = async (pattern, what) => {
    check(await page.$eval("#result", (element) => element.hidden), `${what}: no result stays`);
    await page.click("#verify");
    const said = await verdict(page);
    check(pattern.test(said), `${what}: ${said}`);
  };
  await choose(page, [chats("commitment/verifying.key"), chats("joint.h5")]);
  check(/^ACCEPTED/.test(await verdict(page)) && /Seed, chosen by the statement/.test(await facts()), "a seed that nobody expects");
  const chat = await page.$eval(".chat", (element) => element.textContent);
  check(/^Chat template of the key: \d+ bytes?BLAKE2s-256 [0-9a-f]{64}It begins\{# U\+202E<\/script><b> #\}↵\n\{% for m in messages %\}/.test(chat)
    && /Special tokens, which no content can imitate.*<\|im_start\|> \(\d+\)/.test(chat), `the key's template: ${chat}`);
  await page.click("#expectations summary");
  await page.click(".chat summary");
  await fill("expect-sampling", "temperature=3,top_k=40");
  await fill("expect-seed", number(7));
  await judged(/^REJECTED at \/statement: the seed is not the expected one: expected 0{63}7, found [0-9a-f]{64}$/, "a share is not the seed");
  await fill("seed-commitment", await page.evaluate(() => "0".repeat(64)));
  await judged(/^UNUSABLE What you expect as the prover’s share of the seed is none\. seed opening: expected one/, "no opening");
  await fill("seed-opening", number(5));
  await judged(/^REJECTED at \/statement: the seed's opening is not what its commitment is to$/, "another commitment");
  await fill("seed-commitment", require("node:crypto").createHash("blake2s256").update(Buffer.from(number(5), "hex")).digest("hex"));
  await judged(/^ACCEPTED/, "a seed of both");
  check(/Drawn at random, as you expect/.test(await facts()) && /Seed, the one that you expect/.test(await facts()), "and it is said so");
  await accessible(page, "expected sampling, narrow");
  check(await fits(page), "nothing is wider than a narrow page");
  await page.screenshot({ path: join(pictures, "sampling-narrow.png"), fullPage: true });
  await fill("expect-sampling", "temperature=3");
  await judged(/^REJECTED at \/statement: tokens are not drawn as expected: expected temperature=3, found temperature=3,top_k=40$/, "other parameters");
  await fill("expect-sampling", "hot");
  await judged(/^UNUSABLE What you expect as the way tokens are drawn is none\. expected sampling: /, "no parameters");
  await fill("expect-sampling", "");
  const ids = async (name) => {
    await (await page.$("#ids-file")).uploadFile(chats(name));
    await page.waitForFunction((wanted) => document.querySelector("#prompt-0").value === wanted || !document.querySelector("#refused").hidden, {},
      { ids: "17,42,5,99", lists: "17,42,5,99", other: "17,42,5" }[name.split(".")[0]] ?? "");
  };
  for (const name of ["ids.json", "lists.json"]) {
    await fill("prompt-0", "");
    await ids(name);
    await judged(/^ACCEPTED/, `ids of ${name}`);
  }
  await ids("other.json");
  await judged(/^REJECTED at \/statement: the prompt is not the expected one: its ids differ from those of the ids "17,42,5"/, "ids of another prompt");
  for (const [name, why] of [["two.json", "expected ids for 1 proof, found 2"], ["none.json", "expected a list of token ids, or a list of such lists"]]) {
    await ids(name);
    const refused = await page.$eval("#refused", (element) => element.innerText);
    check(refused.includes(`${name}: ${why}`), `a file that does not fit: ${refused}`);
  }
  await page.click("#clear");
  check((await page.$$eval("#expectations input[type=text]", (all) => all.map((field) => field.value).join(""))) === "", "nothing stays");
  onlyItself(page, address, "expectations");
  await page.close();
}

async function speed(browser, address) {
  const page = await open(browser, address);
  const times = [];
  for (let i = 0; i < 5; ++i) {
    await choose(page, timed);
    check((await verdict(page)).startsWith("ACCEPTED"), "accepted");
    times.push((await text(page, ".facts div:last-child dd"))[0]);
    await page.screenshot({ path: join(pictures, "timed.png") });
    await page.click("#clear");
  }
  console.log(`times: ${times.join(", ")}`);
  await page.close();
}

async function main() {
  const page = readFileSync(page_file);
  check(page.length <= 1e6, `${page.length} bytes, at most 1 MB`);
  check(statSync(join(page_file, "../verifier.wasm")).size <= 9e5, `module of ${statSync(join(page_file, "../verifier.wasm")).size} bytes`);
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(page);
  }).listen(0, "127.0.0.1");
  const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const file = `file://${page_file}`;
  try {
    if (timed.length > 0) {
      await speed(browser, file);
    } else {
      await dropped(browser, file);
      await dropped(browser, `http://127.0.0.1:${server.address().port}/verify.html`);
      await rejected(browser, file);
      await conversation(browser, file);
      await keys(browser, file);
      await independent(browser, file);
      await renewals(browser, file);
      await marks(browser, file);
      await keyboard(browser, file);
      await expectations(browser, file);
    }
  } finally {
    await browser.close();
    server.close();
  }
  console.log(failures === 0 ? "passed" : `${failures} failures`);
  process.exit(failures === 0 ? 0 : 1);
}

main();
