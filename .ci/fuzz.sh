#!/usr/bin/env bash
# fuzz.sh TIME: every fuzz target of every package, one after the other, for TIME each.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../third_party/common.sh"

time="${1:-10s}"
cd "$root"
listed="$(go test -list '^Fuzz' ./... 2>&1)" || die "the tests do not build: $listed"
count=0
while read -r package target; do
  say "fuzz: $package $target for $time"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
  count=$((count + 1))
done < <(awk '/^Fuzz/ { targets[++n] = $1 } $1 == "ok" { for (i = 1; i <= n; i++) print $2, targets[i]; n = 0 }' <<<"$listed")
((count > 0)) || die "there is no fuzz target"
say "fuzz: $count targets"
