#!/usr/bin/env bash
# Makes answers.json and models.json anew: what TensorFlow Lite, built for WebAssembly, answers for the cases of xnn's tests and for
# the models of ./build.sh models. Needs node and npm.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
package=@tensorflow/tfjs-tflite@0.0.1-alpha.10
want=f1eb42f96ae91e5ef34e2f833f011373ca1c40fdc9d4062ec21eb07b886ea54f
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
npm pack --ignore-scripts --cache "$work/npm" --pack-destination "$work" "$package" >/dev/null
tar -xzf "$work"/*.tgz -C "$work"
got="$(sha256sum <"$work/package/wasm/tflite_web_api_cc.wasm" | cut -d' ' -f1)"
[[ $got == "$want" ]] || { printf 'make.sh: %s has SHA-256 %s, not %s\n' "$package" "$got" "$want" >&2; exit 1; }
cd "$here/../.."
TFLITE_PACKAGE="$work/package" XNNGO_TFLITE_ORACLE="$here/oracle.js" go test -count=1 -timeout 30m -run '^(TestTFLiteOperators|TestModelsAgree)$' .
