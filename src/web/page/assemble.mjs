// node assemble.mjs MODULE OUT: one page of everything, which may load nothing else.
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";

const [module_file, out] = process.argv.slice(2);
const source = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const style = source("style.css");
const script = source("verdict.js") + source("page.js");
const policy = ["default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval' blob:`, "worker-src blob:",
  `style-src ${hash(style)}`, "base-uri 'none'", "form-action 'none'"].join("; ");
const module = deflateRawSync(readFileSync(module_file), { level: 9 }).toString("base64");
const values = { style, script, policy, worker: source("worker.js"), module };
if (/<\/script/i.test(values.script + values.worker) || /<\/style/i.test(style)) {
  throw new Error("a script ends too early");
}
const page = source("verify.html").replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
writeFileSync(`${out}.partial`, page);
renameSync(`${out}.partial`, out);
console.log(`${out}: ${page.length} bytes, module ${readFileSync(module_file).length} bytes`);
