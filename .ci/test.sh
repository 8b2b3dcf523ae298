#!/usr/bin/env bash
# test.sh: all tests, behind ./build.sh test.
# shellcheck source-path=SCRIPTDIR disable=SC2317 # a step is a function called by its name
source "$(dirname "${BASH_SOURCE[0]}")/../third_party/common.sh"

cd "$root"
"$here/native.sh"
mkdir -p "$cache/logs"
source .ci/steps.sh
source .ci/linking.sh

scratch="$(mktemp -d)"
trap 'rm -rf -- "$scratch"' EXIT

c_packages=(./cgo/... ./xnn/...)
pure_packages=(./schema/... ./xnn/graph/... ./xnn/tflite/... ./xnn/internal/nets ./xnn/internal/tfbuild)

formatted() {
  local files
  files="$(gofmt -l .)"
  [[ -z $files ]] || die "not formatted: $files"
}

scripts() {
  command -v shellcheck >/dev/null || skip "shellcheck is not installed"
  shellcheck -x build.sh .ci/run .ci/*.sh third_party/*.sh schema/*.sh
}

vet_pure() { CGO_ENABLED=0 go vet "${pure_packages[@]}"; }
test_pure() { CGO_ENABLED=0 go test "${pure_packages[@]}"; }
cgocheck() { GOEXPERIMENT=cgocheck2 go test "${c_packages[@]}"; }

# want_tool TOOL: installed when that is possible; where it is not, the step is skipped by name.
want_tool() {
  (need_tools "$1") || true
  command -v "$1" >/dev/null || skip "$1 is not installed"
}

# want_package PACKAGE PATH: the same for a Debian package without tools, known by a path of it.
want_package() {
  if [[ ! -e $2 && $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
    apt_install "$1" || true
  fi
  [[ -e $2 ]] || skip "Debian's package $1 is not installed"
}

generated() {
  local answer
  want_tool flatc
  answer="$(schema/generate.sh --check 2>&1)" || die "$answer"
  [[ $answer != *"not compared"* ]] || skip "$answer"
}

examples() {
  local folder
  for folder in examples/*/; do
    [[ ! -f $folder/main_test.go ]] || continue # go test runs it
    say "go run ./$folder"
    go run "./$folder"
  done
}

# pictures: xnn inspect --svg draws with dot, and tests of it.
pictures() {
  want_tool dot
  dot -V
}

# models: networks of others, which the tests run where they are there. Status 3: npm cannot be reached.
models() {
  local status=0
  want_tool npm
  "$here/models.sh" || status=$?
  [[ $status -ne 3 ]] || skip "npm cannot be reached, so tests with real models are left out unless the cache has them"
  return "$status"
}

# benchmark: with ONNX Runtime where ./build.sh bench --peers has fetched it.
benchmark() {
  local library
  for library in "$cache"/peers/*/libonnxruntime.so*; do
    [[ ! -f $library ]] || export XNNGO_ONNXRUNTIME="$library"
  done
  cd xnn/bench
  go vet .
  go test .
}

# conformance: the test data of ONNX, as Debian packages it. Without a package named, go test shows what the tests print.
conformance() {
  local answer status=0
  want_package libonnx-testdata /usr/share/libonnx-testdata/data
  cd xnn/conformance
  go vet .
  answer="$(go test)" || status=$?
  say "$answer"
  grep -E '^(conformance|  failed|  left out)' <<<"$answer" | note || true
  return "$status"
}

all() {
  step "gofmt" formatted
  step "shellcheck" scripts
  step "generated code is that of the schema" generated
  step "real models, with npm" models
  step "Graphviz, which draws graphs" pictures
  step "go vet ./..." go vet ./...
  step "go vet without cgo" vet_pure
  step "go test without cgo" test_pure
  step "one readable sentence without cgo" no_cgo_sentence
  step "go test ./..." go test ./...
  step "examples" examples
  step "go test of the benchmark, a module of its own" benchmark
  step "conformance with ONNX's test data, a module of its own" conformance
  step "go test -race ./..." go test -race ./...
  step "go test -asan, the packages that touch C" go test -asan "${c_packages[@]}"
  step "go test with GOEXPERIMENT=cgocheck2" cgocheck
  step "fuzz, 10 s each" .ci/fuzz.sh 10s
  step "a module outside that vendors xnn and links an installed archive" outside_module
  step "a checkout with a space in its path" space_in_path
  step "a stale archive is noticed" stale_archive
  summary
}

# The file may change while the tests run: in a function it has been read before.
steps="$(grep -c '^  step ' .ci/test.sh)"
all
exit
