#!/usr/bin/env bash
# fetch.sh DIR: puts one accepted tarball of every pin into DIR, as NAME.tar.xz. Each comes from the folder XNNGO_SOURCES,
# from the cache, or from the distribution's source packages; whatever the way, only the checksum makes it acceptable.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

dest="$1"
declare -A digests=() # of files already read
apt=""                # the private configuration, once it is needed
kept="$cache/sources"
mkdir -p "$kept"

names() { awk '!/^#/ && NF && !seen[$1]++ { print $1 }' "$here/pins.txt"; }
# sums NAME: accepted checksums, the preferred one first.
sums() { awk -v name="$1" '$1 == name { print $4 }' "$here/pins.txt"; }
# version SUM: the version a checksum belongs to.
version() { awk -v sum="$1" '$4 == sum { print $2 }' "$here/pins.txt"; }

# take NAME FROM...: the first accepted file among FROM goes to DIR and into the cache.
take() {
  local name="$1" want file got from
  shift
  local -A have=()
  for file in "$@"; do
    [[ -f $file && -r $file ]] || continue
    [[ -n ${digests[$file]:-} ]] || digests[$file]="$(sha "$file")"
    have[${digests[$file]}]="$file"
  done
  for want in $(sums "$name"); do
    file="${have[$want]:-}"
    [[ -n $file ]] || continue
    cp -- "$file" "$dest/$name.tar.xz"
    # What was copied is what is checked: the folder may change under us.
    got="$(sha "$dest/$name.tar.xz")"
    [[ $got == "$want" ]] || continue
    if [[ ! -f $kept/$name-$want.tar.xz ]]; then
      cp -- "$dest/$name.tar.xz" "$kept/.$name-$want.$$"
      mv -f -- "$kept/.$name-$want.$$" "$kept/$name-$want.tar.xz"
    fi
    from="${file%/*}"
    [[ -z $apt || $from != "$apt"/* ]] || from="the distribution"
    say "  $name $(version "$want") from $from"
    return 0
  done
  return 1
}

# refuse NAME FILE...: a tarball that carries a pinned name and is something else deserves a word.
refuse() {
  local name="$1" file
  shift
  for file in "$@"; do
    [[ -f $file ]] || continue
    printf 'build.sh: %s has SHA-256 %s, not one that is pinned\n' "$file" "$(sha "$file")" >&2
  done
}

# mirrors: addresses in the machine's own apt configuration that may carry source packages, likely ones first.
mirrors() {
  local all
  # shellcheck disable=SC2016 # $(REPO_URI) is apt's, not the shell's
  all="$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | sort -u | grep -v -e security -e '^cdrom:')" || return 0
  grep -E '/debian(\.list)?/?$' <<<"$all" || true
  grep -vE '/debian(\.list)?/?$' <<<"$all" || true
}

# from_apt NAME...: source packages through a private apt configuration, so that the system's is untouched and no root is needed.
from_apt() {
  local mirror suite signed="" name found version opt
  command -v apt-get >/dev/null || return 1
  apt="$(mktemp -d)"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/got"
  [[ -f /usr/share/keyrings/debian-archive-keyring.gpg ]] && signed="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
  opt=(
    -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache"
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=2 -o Acquire::http::Timeout=30
  )
  while read -r mirror; do
    for suite in sid trixie; do
      say "deb-src $signed$mirror $suite main"
    done >"$apt/sources.list"
    say "  source lists of the distribution"
    # A suite that is not there is no failure as long as another one has what is pinned.
    apt-get "${opt[@]}" update || true
    found=0
    for name in "$@"; do
      version="$(apt-cache "${opt[@]}" showsrc --only-source "$name" | pinned_version "$name")" || continue
      (cd "$apt/got" && apt-get "${opt[@]}" source --download-only --tar-only "$name=$version") && found=1
    done
    ((found == 0)) || return 0
  done < <(mirrors)
  return 1
}

# pinned_version NAME: reads apt's source records and prints the version whose tarball is pinned, preferred first.
pinned_version() {
  local records want
  records="$(cat)"
  for want in $(sums "$1"); do
    awk -v want="$want" '
      /^Version:/ { version = $2 }
      $1 == want { found = version }
      END { if (found == "") exit 1; print found }' <<<"$records" && return
  done
  return 1
}

trap '[[ -z $apt ]] || rm -rf -- "$apt"' EXIT

missing=()
for name in $(names); do
  if [[ -n ${XNNGO_SOURCES:-} ]]; then
    [[ -d $XNNGO_SOURCES ]] || die "XNNGO_SOURCES=$XNNGO_SOURCES is not a folder"
    take "$name" "$XNNGO_SOURCES"/* && continue
    refuse "$name" "$XNNGO_SOURCES/$name"[_-]*.tar.*
  fi
  take "$name" "$kept/$name"-*.tar.xz || missing+=("$name")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

log="$cache/logs/apt-source.log"
mkdir -p "$cache/logs"
say "  from the distribution's source packages: ${missing[*]}"
from_apt "${missing[@]}" </dev/null >"$log" 2>&1 || true
lacking=()
for name in "${missing[@]}"; do
  take "$name" "${apt:-/nonexistent}"/got/* || lacking+=("$name")
done
[[ ${#lacking[@]} -gt 0 ]] || exit 0

{
  say "build.sh: no sources for: ${lacking[*]}"
  say "Neither XNNGO_SOURCES nor the distribution's source packages (log: $log) have them."
  say "Put one of these of each name into a folder and set XNNGO_SOURCES to it. They are the .orig.tar.xz files of Debian's"
  say "source packages (suites sid and trixie), made from the upstream commit; the checksum decides, the file's name does not."
  for name in "${lacking[@]}"; do
    awk -v name="$name" '$1 == name { printf "  %s_%s.orig.tar.xz\n    commit  %s\n    sha256  %s\n", $1, $2, $3, $4 }' "$here/pins.txt"
  done
} >&2
exit 1
