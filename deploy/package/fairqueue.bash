# SPDX-License-Identifier: Apache-2.0
# Completion of fairqueue's commands and options for bash.

_fairqueue() {
  local word="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]:-}" choices=
  COMPREPLY=()
  if [[ "$word" == -* ]]; then
    local path=("$command")
    if [[ "${COMP_WORDS[2]:-}" == [a-z]* ]]; then path+=("${COMP_WORDS[2]}"); fi
    # The program knows the options of each command.
    choices="$(
      for help in --help --help-all; do "${COMP_WORDS[0]}" "${path[@]}" "$help" 2>/dev/null; done \
        | grep -o -- '--[a-z][a-z0-9_.-]*' | sort -u
    )"
  elif [[ "$COMP_CWORD" -eq 1 ]]; then
    choices="serve check-config print-config token organizer customer tenant apikey keys migrate admin cluster healthcheck"
  elif [[ "$COMP_CWORD" -eq 2 ]]; then
    case "$command" in
      organizer) choices="add sign-out remove" ;;
      customer) choices="export erase" ;;
      tenant) choices="add list" ;;
      apikey) choices="issue revoke" ;;
      keys) choices="rotate" ;;
      migrate) choices="up status" ;;
      admin) choices="verify rebuild accept-loss" ;;
      cluster) choices="init-ca issue-cert revoke-cert status drain handoff" ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o default -F _fairqueue fairqueue
