// node picture.cjs PAGE PICTURE DIGEST KEY PROOF...: verify.html with proofs that it accepts under a key whose digest is
// expected, as README shows it.
const { resolve } = require("node:path");
const puppeteer = require("puppeteer-core");

async function main() {
  const [page_file, picture, digest, ...files] = process.argv.slice(2);
  const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 900, height: 600 });
    await page.goto(`file://${resolve(page_file)}`);
    await page.$eval("#expect-key", (field, value) => { field.value = value; }, digest);
    await (await page.$("#files")).uploadFile(...files.map((file) => resolve(file)));
    await page.waitForFunction(() => document.querySelector("#verdict .word"), { timeout: 60000 });
    const word = await page.$eval("#verdict .word", (element) => element.textContent);
    if (!word.startsWith("ACCEPTED")) {
      throw new Error(`expected an accepted proof, found ${word}`);
    }
    await page.screenshot({ path: picture, fullPage: true });
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(`picture: ${error.message}`);
  process.exit(1);
});
