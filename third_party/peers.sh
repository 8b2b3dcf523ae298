#!/usr/bin/env bash
# peers.sh: puts the shared library that the benchmark compares with into the cache and prints its path on the last line.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_go
need_target
read -r package file want < <(awk -v target="$target" '$1 == target { print $2, $3, $4 }' "$here/peers.txt") ||
  die "third_party/peers.txt has no line for $target"
library="$cache/peers/$want/$(basename "$file")"

if [[ ! -f $library || $(sha "$library") != "$want" ]]; then
  need_tools npm
  work="$(mktemp -d)"
  trap 'rm -rf -- "$work"' EXIT
  log="$cache/logs/peers.log"
  mkdir -p "$cache/logs" "$(dirname "$library")"
  say "peers: $package, about 110 MB, with npm" >&2
  # npm's cache would only keep a second copy.
  npm pack --ignore-scripts --cache "$work/npm" --pack-destination "$work" "$package" </dev/null >"$log" 2>&1 || {
    show_log "$log"
    die "npm could not fetch $package"
  }
  tar -xzf "$work"/*.tgz -C "$work" "package/$file" || die "there is no $file in $package"
  got="$(sha "$work/package/$file")"
  [[ $got == "$want" ]] || die "$file of $package has SHA-256 $got, not $want, which is pinned"
  cp -- "$work/package/$file" "$library.$$"
  mv -f -- "$library.$$" "$library"
fi
say "$library"
