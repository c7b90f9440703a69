# Stages of a run, to be sourced: each prints what it prints, a failed one does not keep the next from running, the summary
# names the failed ones and is the exit code.

stages_failed=()
stages_started=$SECONDS

# stage NAME COMMAND...
stage() {
    local name=$1 code started=$SECONDS
    shift
    printf '\n=== %s\n' "$name"
    # Not in a condition: there, bash would go on after a failed command inside of it.
    set +e
    (
        set -e
        "$@"
    )
    code=$?
    set -e
    printf -- '--- %s: %s in %d s\n' "$name" "$([ "$code" -eq 0 ] && echo passed || echo "FAILED ($code)")" \
        "$((SECONDS - started))"
    if [ "$code" -ne 0 ]; then
        stages_failed+=("$name")
    fi
}

# summary: the last command of a run.
summary() {
    printf '\n'
    if [ "${#stages_failed[@]}" -eq 0 ]; then
        printf 'all stages passed in %d s\n' "$((SECONDS - stages_started))"
        return 0
    fi
    printf 'FAILED in %d s:' "$((SECONDS - stages_started))"
    printf ' [%s]' "${stages_failed[@]}"
    printf '\n'
    return 1
}
