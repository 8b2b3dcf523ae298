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
pure_packages=(./schema/... ./xnn/graph/...)

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

generated() {
  local answer
  want_tool flatc
  answer="$(schema/generate.sh --check 2>&1)" || die "$answer"
  [[ $answer != *"not compared"* ]] || skip "$answer"
}

examples() {
  local folder
  for folder in examples/*/; do
    say "go run ./$folder"
    go run "./$folder"
  done
}

benchmark() { (cd xnn/bench && go vet . && go test .); }

all() {
  step "gofmt" formatted
  step "shellcheck" scripts
  step "generated code is that of the schema" generated
  step "go vet ./..." go vet ./...
  step "go vet without cgo" vet_pure
  step "go test without cgo" test_pure
  step "one readable sentence without cgo" no_cgo_sentence
  step "go test ./..." go test ./...
  step "examples" examples
  step "go test of the benchmark, a module of its own" benchmark
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
