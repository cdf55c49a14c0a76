// Runs the module, away from the page. Told {name, bytes} of a key, of renewals and of proofs and what is expected of
// them, it posts the document that the module makes of them (src/web/binding.cpp).
"use strict";

const no_such_call = 52; // of WASI: what a module may ask for, and this one has no use for

function connect(module) {
  let memory;
  const known = {
    emscripten_notify_memory_growth: () => {},
    clock_time_get: (_clock, _precision, to) => {
      new DataView(memory.buffer).setBigUint64(to, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit: () => {
      throw new Error("the verifier has stopped");
    },
  };
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = known[name] ?? (() => no_such_call);
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  memory = exports.memory;
  exports._initialize?.();
  const lend = (bytes, use) => {
    const at = exports.tessera_allocate(Math.max(bytes.length, 1));
    if (at === 0) {
      throw new Error("not enough memory");
    }
    new Uint8Array(memory.buffer).set(bytes, at);
    try {
      return use(at, bytes.length);
    } finally {
      exports.tessera_release(at);
    }
  };
  const encoder = new TextEncoder();
  return {
    addFile(name, bytes) {
      lend(encoder.encode(name), (name_at, name_size) =>
        lend(bytes, (at, size) => exports.tessera_add_file(name_at, name_size, at, size)));
    },
    clear: () => exports.tessera_clear(),
    verify(request) {
      const answer = lend(encoder.encode(JSON.stringify(request)), (at, size) => exports.tessera_verify(at, size));
      const all = new Uint8Array(memory.buffer);
      return JSON.parse(new TextDecoder().decode(all.subarray(answer, all.indexOf(0, answer))));
    },
  };
}

/// What becomes of files, each {name, bytes}; `expected` is {key, prompts} or {key, ids}: of each part, or of none;
/// and {sampling}, of {parameters, seed, commitment, opening} those that are expected.
function verifyFiles(module, { key, renewals, proofs, expected }) {
  const start = performance.now();
  const verifier = connect(module); // a new one: nothing is left of files before
  for (const file of [key, ...renewals, ...proofs]) {
    verifier.addFile(file.name, file.bytes);
  }
  const answer = verifier.verify({
    key: key.name,
    renewals: renewals.map((renewal) => renewal.name),
    proofs: proofs.map((proof) => proof.name),
    expect_key: expected.key,
    expect_prompt: expected.prompts ?? [],
    expect_ids: expected.ids ?? [],
    sampling: { parameters: "", seed: "", commitment: "", opening: "", ...expected.sampling },
  });
  answer.seconds = (performance.now() - start) / 1000;
  return answer;
}

if (typeof self !== "undefined" && typeof self.postMessage === "function" && typeof window === "undefined") {
  let module;
  self.onmessage = async ({ data }) => {
    try {
      if (data.wasm) {
        module = await WebAssembly.compile(data.wasm);
        self.postMessage({ ready: true });
      } else {
        self.postMessage({ answer: verifyFiles(module, data) });
      }
    } catch (error) {
      self.postMessage({ failure: String(error?.message ?? error) });
    }
  };
}

if (typeof exports !== "undefined") {
  exports.verifyFiles = verifyFiles;
}
