# shellcheck shell=bash disable=SC2154 # root, here and scratch come from the scripts that source this
# The steps about how a program finds and links the archive. Sourced by test.sh.

no_cgo_sentence() {
  local answer lines
  if answer="$(CGO_ENABLED=0 go build ./xnn 2>&1)"; then
    die "xnn builds without cgo"
  fi
  say "$answer"
  # Go heads the errors of a package with its name behind a #.
  lines="$(grep -v '^#' <<<"$answer")"
  [[ $(wc -l <<<"$lines") -eq 1 && $lines == *cgo* ]] || die "not one sentence about cgo"
}

# copy_tree FOLDER: what a clone of the working tree would hold.
copy_tree() {
  local file
  git -C "$root" rev-parse --git-dir >/dev/null 2>&1 || skip "this is not a git checkout"
  mkdir -p "$1"
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      [[ ! -e $root/$file ]] || printf '%s\0' "$file"
    done | tar -C "$root" --null --files-from - -cf - | tar -C "$1" -xf -
}

outside_module() {
  local module="$scratch/outside module" prefix="$scratch/an installed prefix" answer
  want_tool pkg-config
  "$here/install.sh" "$prefix"
  mkdir -p "$module"
  cp .ci/outside/main.go go.sum "$module"
  cd "$module" || exit
  go mod init example.org/outside
  go mod edit -require github.com/xnngo/xnngo@v0.0.0 -replace "github.com/xnngo/xnngo=$root"
  go mod tidy
  go mod vendor
  PKG_CONFIG_PATH="$prefix/lib/pkgconfig" go build -tags xnn_system -mod=vendor -o outside .
  answer="$(./outside)"
  say "$answer"
  [[ $answer == "[11 22 33]" ]] || die "wrong sums"
}

space_in_path() {
  copy_tree "$scratch/a checkout"
  cd "$scratch/a checkout" || exit
  ./build.sh native
  go build ./...
  go run ./examples/add
}

# stale_archive: another stamp in the archive of a copy, as when something else has put its own build there.
stale_archive() {
  local archive answer pins
  copy_tree "$scratch/stale"
  cd "$scratch/stale" || exit
  ./build.sh native
  archive="$PWD/third_party/out/$(go env GOOS)_$(go env GOARCH)/libxnn.a"
  pins="$(grep -oE '[0-9a-f]{64}' cgo/xnnpack/pins.go)"
  gcc -fPIC '-DXG_STAMP="another"' "-DXG_PINS=\"$pins\"" -c third_party/stamp.c -o "$scratch/xg_stamp.o"
  ar r "$archive" "$scratch/xg_stamp.o"
  go build -o "$scratch/stale-add" ./examples/add
  if answer="$("$scratch/stale-add" 2>&1)"; then
    die "the program ran: $answer"
  fi
  say "$answer"
  [[ $answer == *"./build.sh native"* ]] || die "the error does not name ./build.sh native"
}
