// node report.cjs BROWSER PAGES PICTURES: pages of tessera report, folded and unfolded, on wide, dark and narrow screens and
// on paper: pictures and PDF files to be looked at, and what can be checked without looking.
const { readFileSync } = require("node:fs");
const { join, resolve } = require("node:path");
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [browser_file, pages, pictures] = process.argv.slice(2).map((path) => resolve(path));
let failures = 0;

function check(good, what) {
  if (!good) {
    console.log(`FAILED: ${what}`);
    ++failures;
  }
}

/// From outside: the page's policy allows no script.
async function evaluate(page, expression) {
  const client = await page.createCDPSession();
  const { result, exceptionDetails } = await client.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  await client.detach();
  if (exceptionDetails) {
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
  return result.value;
}

async function accessible(page, what) {
  await evaluate(page, axe);
  const found = await evaluate(page, "axe.run().then((r) => JSON.stringify(r.violations.map((v) => "
    + "[v.id, v.nodes.length, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 100))])))");
  check(found === "[]", `${what}: accessible: ${found}`);
}

/// Figures lie in their frames and on the page, with letters that can be read.
async function readable(page, what) {
  const faults = await evaluate(page, `[...document.querySelectorAll("svg")].flatMap((svg) => {
    const frame = svg.viewBox.baseVal, scale = svg.getBoundingClientRect().width / frame.width;
    const faults = svg.getBoundingClientRect().right > innerWidth ? ["wider than the page"] : [];
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBBox(), size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < 9.5) { faults.push(text.textContent + ": " + size + " px"); }
      if (box.x < -1 || box.x + box.width > frame.width + 1 || box.y < -1 || box.y + box.height > frame.height + 1) {
        faults.push(text.textContent + ": out of its frame");
      }
    }
    return faults.map((fault) => svg.querySelector("title").textContent + ": " + fault);
  })`);
  check(faults.length === 0, `${what}: ${faults.slice(0, 5).join("; ")}`);
  check(await evaluate(page, 'document.querySelectorAll("svg").length > 2'), `${what}: expected figures`);
  check(await evaluate(page, "document.documentElement.scrollWidth <= innerWidth"), `${what}: wider than the screen`);
}

async function look(browser, name, { width = 1000, dark = false, picture = name } = {}) {
  const page = await browser.newPage();
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.goto(`file://${join(pages, `${name}.html`)}`);
  await accessible(page, picture);
  check(await evaluate(page, 'document.querySelectorAll("details[open]").length === 0'), `${picture}: expected all folded`);
  const screens = await evaluate(page, "document.documentElement.scrollHeight / innerHeight");
  check(screens < 4, `${picture}: ${screens} screens although folded`);
  await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true });
  await evaluate(page, 'document.querySelectorAll("details").forEach((part) => { part.open = true; })');
  await accessible(page, `${picture}, unfolded`);
  await readable(page, `${picture}, unfolded`);
  await page.screenshot({ path: join(pictures, `${picture}-open.png`), fullPage: true });
  check(requests.length === 1, `${picture}: expected no requests, found ${requests}`);
  await page.close();
}

async function print(browser, name) {
  const page = await browser.newPage();
  await page.goto(`file://${join(pages, `${name}.html`)}`);
  await page.pdf({ path: join(pictures, `${name}.pdf`), preferCSSPageSize: true, printBackground: true });
  await page.close();
}

async function main() {
  const browser = await puppeteer.launch({ executablePath: browser_file, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    for (const name of ["one", "unverified", "talk", "many", "wrong"]) {
      await look(browser, name);
    }
    await look(browser, "many", { dark: true, picture: "many-dark" });
    for (const name of ["one", "many", "wrong"]) {
      await look(browser, name, { width: 390, picture: `${name}-narrow` });
    }
    for (const name of ["one", "talk", "many"]) {
      await print(browser, name);
    }
  } finally {
    await browser.close();
  }
  process.exit(failures === 0 ? 0 : 1);
}

main();
