#!/usr/bin/env bash
# progress.sh TITLE LOG: reads ninja's output, keeps it in LOG and shows how far it is on standard error: one line that
# changes on a terminal, one line every ten per cent elsewhere.
set -euo pipefail

title="$1"
log="$2"
started=$SECONDS
tenth=0
width=0
if [[ -t 2 ]]; then
  width="$(tput cols 2>/dev/null || echo 80)"
fi

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

while IFS= read -r line; do
  printf '%s\n' "$line" >&3
  [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]] || continue
  done_="${BASH_REMATCH[1]}"
  all="${BASH_REMATCH[2]}"
  step="${BASH_REMATCH[3]##*/}"
  ((all > 0)) || continue
  percent=$((100 * done_ / all))
  elapsed=$((SECONDS - started))
  left=$((done_ > 0 ? elapsed * (all - done_) / done_ : 0))
  if ((width > 0)); then
    text="$title: $percent %, step $done_ of $all, $(clock "$elapsed") gone, about $(clock "$left") left  $step"
    printf '\r\033[K%s' "${text:0:width-1}" >&2
  elif ((percent / 10 > tenth)); then
    tenth=$((percent / 10))
    printf '%s: %d %%, step %d of %d, %s gone\n' "$title" "$percent" "$done_" "$all" "$(clock "$elapsed")" >&2
  fi
done 3>>"$log"
((width == 0)) || printf '\r\033[K' >&2
