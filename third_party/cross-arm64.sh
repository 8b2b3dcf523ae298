#!/usr/bin/env bash
# cross-arm64.sh: builds the archive and examples/add for linux/arm64 with Debian's cross compiler and runs the example under
# qemu's user mode where that is installed.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export GOOS=linux GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++
"$here/native.sh"

cd "$root"
say "cross-arm64: go build ./examples/add"
go build -o bin/add-linux-arm64 ./examples/add
if ! command -v qemu-aarch64 >/dev/null; then
  say "cross-arm64: bin/add-linux-arm64 is built, not run: there is no qemu-aarch64 (Debian package: qemu-user)"
  exit 0
fi
# An empty folder to work in shows that the program needs nothing but itself and the C library.
cd "$(mktemp -d)"
trap 'rm -rf -- "$PWD"' EXIT
say "cross-arm64: running it under qemu-aarch64"
qemu-aarch64 -L /usr/aarch64-linux-gnu "$root/bin/add-linux-arm64"
