# shellcheck shell=bash disable=SC2034 # the variables are for the scripts that source this
# What every script here shares: where things are, how to say something, what to build for. Sourced, never run.

set -euo pipefail
export LC_ALL=C # messages of tools go into hashes and are parsed

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
here="$root/third_party"
if [[ -z ${HOME:-} ]]; then
  unset HOME # the shell then takes ~ from the user database
  HOME="$(cd ~ && pwd)"
  export HOME
fi
cache="${XNNGO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/xnngo}"
[[ $cache == /* ]] || cache="$PWD/$cache"
export XNNGO_CACHE="$cache" # one meaning for all scripts, wherever they are started

say() { printf '%s\n' "$*"; }
die() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 1
}

# sha FILE: the checksum alone.
sha() { sha256sum <"$1" | cut -d' ' -f1; }

# duration SECONDS
duration() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# show_log FILE: the end of a log and where the rest is.
show_log() {
  printf '%s\n' "--- the last lines of the log ---" >&2
  tail -n 20 "$1" | cut -c1-400 >&2
  printf '%s\n' "--- the whole log: $1" >&2
}

# need_go: Go is there and new enough. Sets goos, goarch, gohost and gocc.
need_go() {
  local version
  command -v go >/dev/null || die "Go 1.24 or newer is needed and there is none in PATH"
  # Inside the module, so that a toolchain switch Go makes by itself counts. Its error is the reader's best hint.
  { read -r version; read -r goos; read -r goarch; read -r gohost; read -r gocc; } \
    < <(cd "$root" && go env GOVERSION GOOS GOARCH GOHOSTARCH CC) ||
    die "Go 1.24 or newer is needed, this is $(cd / && go version)"
  [[ $version =~ ^(go|devel\ go)1\.([0-9]+) ]] || [[ $version =~ ^(go)([2-9])\. ]] || die "cannot read the version of Go: $version"
  [[ ${BASH_REMATCH[2]} -ge 24 || $version == go[2-9].* ]] || die "Go 1.24 or newer is needed, this is $version"
}

# need_target: what is built and with which compiler. Sets target, cc and cxx; the environment's CC, GOOS and GOARCH count.
need_target() {
  local cpu prefix machine
  target="${goos}_$goarch"
  case $target in
    linux_amd64) cpu=x86_64 ;;
    linux_arm64) cpu=aarch64 ;;
    *) die "there is no recipe for $target, only for linux_amd64 and linux_arm64" ;;
  esac
  prefix=""
  [[ $goarch == "$gohost" ]] || prefix="$cpu-linux-gnu-"
  if [[ -z ${CC:-} && -n $prefix ]]; then
    gocc="${prefix}gcc"
  fi
  read -ra cc <<<"${CC:-$gocc}"
  read -ra cxx <<<"${CXX:-${prefix}g++}"
  need_tools "${cc[0]}" "${cxx[0]}"
  machine="$("${cc[@]}" -dumpmachine)" || die "the C compiler ${cc[*]} does not run"
  [[ $machine == "$cpu"-* ]] || die "the C compiler ${cc[*]} builds for $machine, not for $target: set CC"
}

# need_tools TOOL...: root gets what is missing from apt, others get one line that names it.
need_tools() {
  local tool package log packages=() missing=()
  for tool in "$@"; do
    command -v "$tool" >/dev/null && continue
    case $tool in
      ninja) package=ninja-build ;;
      xz) package=xz-utils ;;
      flatc) package=flatbuffers-compiler ;;
      dot) package=graphviz ;;
      aarch64-linux-gnu-gcc | aarch64-linux-gnu-g++) package="${tool#aarch64-linux-gnu-}-aarch64-linux-gnu" ;;
      *) package="$tool" ;;
    esac
    missing+=("$tool")
    packages+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
    die "missing: ${missing[*]} (Debian packages: ${packages[*]})"
  fi
  log="$cache/logs/apt.log"
  mkdir -p "$cache/logs"
  say "installing ${packages[*]}"
  apt_install "${packages[@]}" </dev/null >"$log" 2>&1 || {
    show_log "$log"
    die "apt-get could not install: ${packages[*]}"
  }
}

# apt_install PACKAGE...: with the lists that are there; a fresh machine has none, and old ones name files that are gone.
apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y --no-install-recommends "$@" && return
  apt-get update && apt-get install -y --no-install-recommends "$@"
}
