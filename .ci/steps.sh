# shellcheck shell=bash disable=SC2154 # cache comes from common.sh
# A list of titled steps: each is timed, logged into its own file and counted; one that fails does not stop the others.
# Sourced.

skip_status=77
number=0
passed=0
failed=()
skipped=()
logs="$(mktemp -d "$cache/logs/test-XXXXXX")"

# skip REASON: ends a step that cannot run here.
skip() {
  say "skipped: $*"
  exit "$skip_status"
}

# note: a step's standard input becomes lines of the summary.
note() { cat >>"$logs/notes"; }

# step TITLE COMMAND...: of $steps; runs it in a shell of its own, with no input. A function must not rely on `set -e` reaching it
# through a condition, so the status is taken from a background job.
step() {
  local title="$1" log started=$SECONDS status=0
  shift
  number=$((number + 1))
  log="$logs/$number.log"
  printf '[%d/%d] %s ... ' "$number" "$steps" "$title"
  (
    set -euo pipefail
    "$@"
  ) </dev/null >"$log" 2>&1 &
  wait $! || status=$?
  case $status in
    0)
      passed=$((passed + 1))
      say "ok ($(duration $((SECONDS - started))))"
      ;;
    "$skip_status")
      skipped+=("$title")
      tail -n 1 "$log"
      ;;
    *)
      failed+=("$title")
      say "FAILED ($(duration $((SECONDS - started))))"
      show_log "$log"
      ;;
  esac
}

# summary: the counts, and what failed or was skipped by name; its status is that of the whole.
summary() {
  local title
  say
  [[ ! -e $logs/notes ]] || cat "$logs/notes"
  for title in "${skipped[@]}"; do say "skipped: $title"; done
  for title in "${failed[@]}"; do say "failed: $title"; done
  say "logs: $logs, total $(duration "$SECONDS")"
  say "$passed passed, ${#failed[@]} failed"
  [[ ${#failed[@]} -eq 0 ]]
}
