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
  check(/^ACCEPTED After this prompt .* begins with these 12 tokens, and with no others\. How many .* the prover’s choice/.test(said),
    `a dropped key and proof are accepted: ${said}`);
  check(/Nobody has compared the key/.test(said), "that nobody has compared the key is said");
  check((await text(page, ".generated bdi"))[0].length > 5, "the continuation is shown");
  check((await text(page, ".prompt bdi"))[0] === "The old man", "the prompt is shown");
  await page.evaluate(() => { at("verify").click(); at("verify").click(); });
  check((await verdict(page)).startsWith("ACCEPTED"), "asked again at once, it answers");
  const facts = await page.$eval(".facts", (element) => element.innerText);
  check(/[0-9a-f]{64}/.test(facts) && /bits/.test(facts) && /ms/.test(facts), "digest, soundness and time are shown");
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
  check((await text(page, ".title"))[1] === "Generated: claimed, not proven", "its text is not taken for proven");
  await accessible(page, "rejected, dark");
  await page.screenshot({ path: join(pictures, "rejected-dark.png"), fullPage: true });
  await page.click("#clear");
  await choose(page, [key, proof("text")]);
  check(/^UNUSABLE text\.h5 cannot be used.* text\.h5: expected an HDF5 file/.test(await verdict(page)), "another file is unusable");
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
  onlyItself(page, address, "rejected");
  await page.close();
}

async function conversation(browser, address) {
  const page = await open(browser, address, { width: 390 });
  await choose(page, [key, proof("odd-40k-proof-part2"), proof("odd-40k-proof-part1")]);
  check((await verdict(page)).startsWith("ACCEPTED"), "parts are taken in the order of their names");
  check((await text(page, ".part")).length === 2, "both parts are shown");
  await accessible(page, "parts, narrow");
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a narrow page");
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
  check(/The key came together with the proof, and nobody has compared it/.test(await verdict(page)),
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
  const digest = (await text(page, ".facts .mono"))[0];
  check(/compared by nobody/.test((await text(page, ".facts dt"))[0]), "beside the digest stands that nobody has compared it");
  await page.$eval("#expect-key", (field, value) => { field.value = value; }, digest);
  await page.click("#verify");
  await page.waitForFunction(() => /the one that you expect/.test(document.querySelector(".facts")?.innerText ?? ""));
  check(!/Nobody has compared|came together/.test(await verdict(page)), "a key that was compared is no stranger's");
  onlyItself(page, address, "keys");
  await page.close();
}

async function independent(browser, address) {
  const page = await open(browser, address);
  await choose(page, [key, proof("odd-40k-proof"), proof("odd-40k-proof-part1")]);
  const said = await verdict(page);
  check(/^ACCEPTED Each of these 2 proofs is accepted, alone.* nothing to do with each other/.test(said), `each alone: ${said}`);
  check((await text(page, ".part .name")).every((name) => /^Proof \d: .*\(accepted\)$/.test(name)), "each has its verdict");
  await page.screenshot({ path: join(pictures, "independent.png"), fullPage: true });
  await choose(page, [proof("odd-40k-proof-payload-1000")]);
  check(/^REJECTED odd-40k-proof-payload-1000\.h5: at .* nothing to do with each other/.test(await verdict(page)), "one of them is false");
  check((await text(page, ".part .state")).filter((state) => state === "(accepted)").length === 2, "the others are accepted all the same");
  await accessible(page, "independent proofs");
  onlyItself(page, address, "independent proofs");
  await page.close();
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
  const ids = (await page.evaluate(() => verifier.verify({ key: files.key, proofs: files.proofs, expected: { key: "" } })
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
  check(statSync(join(page_file, "../verifier.wasm")).size <= 8e5, `module of ${statSync(join(page_file, "../verifier.wasm")).size} bytes`);
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
      await keyboard(browser, file);
    }
  } finally {
    await browser.close();
    server.close();
  }
  console.log(failures === 0 ? "passed" : `${failures} failures`);
  process.exit(failures === 0 ? 0 : 1);
}

main();
