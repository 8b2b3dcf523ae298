// Runs a model with TensorFlow Lite, built for WebAssembly: the npm package @tensorflow/tfjs-tflite, in the folder TFLITE_PACKAGE.
//
//   node oracle.js MODEL OUT INPUT...   writes the bytes of output i to OUT.i
'use strict';
const fs = require('fs');
const path = require('path');

// The package means to run in a browser.
globalThis.window = globalThis.self = globalThis;
globalThis.document = { currentScript: { src: 'file:///' } };

const wasm = path.join(process.env.TFLITE_PACKAGE, 'wasm', 'tflite_web_api_cc');

function list(vector) {
  return Array.from({ length: vector.size() }, (_, i) => vector.get(i));
}

async function main([model, out, ...inputs]) {
  const runtime = await require(wasm + '.js')({
    wasmBinary: fs.readFileSync(wasm + '.wasm'), print: console.error, printErr: console.error,
  });
  const bytes = fs.readFileSync(model);
  const at = runtime._malloc(bytes.length);
  runtime.HEAPU8.set(bytes, at);
  const made = runtime.TFLiteWebModelRunner.CreateFromBufferAndOptions(at, bytes.length,
    { numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 16 });
  if (!made.ok()) throw new Error(made.errorMessage());
  const runner = made.value();
  const tensors = list(runner.GetInputs());
  inputs.forEach((file, i) => {
    const to = tensors[i].data();
    const from = fs.readFileSync(file);
    if (from.length !== to.byteLength) throw new Error(`input ${i} has ${to.byteLength} bytes, ${file} ${from.length}`);
    new Uint8Array(to.buffer, to.byteOffset, to.byteLength).set(from);
  });
  if (!runner.Infer()) throw new Error('the run failed');
  list(runner.GetOutputs()).forEach((tensor, i) => {
    const from = tensor.data();
    fs.writeFileSync(`${out}.${i}`, Buffer.from(from.buffer, from.byteOffset, from.byteLength));
  });
}

main(process.argv.slice(2)).catch((err) => {
  console.error(String(err));
  process.exit(1);
});
