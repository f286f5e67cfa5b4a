# Steps that print a line each. The output of a step goes to a log, and is shown only if the step fails.

# bin/lib/testing.sh defines what ends a run of tests.
end_test_run() { true; }

# Opens a log for this run and prints its path. Logs older than a week are removed.
#
# $1: the folder of the logs  $2: the beginning of the log's name  $3: not empty to show all output as well
open_log() {
    step_log=$1/$2-$(date +%Y%m%d-%H%M%S)-$$.log step_shows_all=${3:-} step_number=0 step_tests=0 step_watcher=''
    mkdir -p "$1"
    find "$1" -name "$2-*.log" -mtime +7 -delete
    : >"$step_log"
    trap "stop_watching || true; end_test_run" EXIT
    trap report_interruption INT
    printf 'All output goes to %s\n' "$step_log"
}

# Runs a step and prints its name, its result, its time, and the number of tests that ran. If the step fails, prints the
# reason and ends the command with the step's status. This function must not be called in a condition: there, bash
# ignores `set -e`, and a function continues after a failed command.
#
# $1: the step's name  the rest: a command, or a function, which ends with its first command that fails
run_step() {
    local name=$1 started=$SECONDS status start tests
    shift
    printf '== %s\n' "$name" >>"$step_log"
    start=$(($(wc -c <"$step_log") + 1))
    step_number=$((step_number + 1))
    set +e
    if [[ -n $step_shows_all ]]; then
        step "$name"
        (set -e; "$@") 2>&1 | tee -ai "$step_log"
        status=${PIPESTATUS[0]}
        name_step "$name"
    else
        name_step "$name"
        watch_log "$name" "$started"
        (set -e; "$@") >>"$step_log" 2>&1
        status=$?
        if stop_watching; then name_step "$name"; fi
    fi
    set -e
    if [[ $status -ne 0 ]]; then
        printf 'failed%15s\n' "$(describe_time $((SECONDS - started)))"
        if [[ -z $step_shows_all ]]; then tail -c "+$start" "$step_log" | show_failure >&2; fi
        printf '%s: "%s" failed with status %d. All output: %s\n' "$(basename "$0")" "$name" "$status" "$step_log" >&2
        exit "$status"
    fi
    tests=$(tail -c "+$start" "$step_log" | count_tests)
    step_tests=$((step_tests + tests))
    printf 'passed%15s' "$(describe_time $((SECONDS - started)))"
    if [[ $tests -gt 0 ]]; then printf '%14s' "$(describe_tests "$tests")"; fi
    printf '\n'
}

# Runs functions beside each other, as a step. Prints what each has printed, those that failed last, and fails if one
# did.
#
# the arguments: the functions
run_together() {
    local folder processes=() failed=() number
    folder=$(mktemp -d)
    for ((number = 1; number <= $#; number++)); do
        (set -e; "${!number}") >"$folder/$number" 2>&1 &
        processes[number]=$!
    done
    for ((number = 1; number <= $#; number++)); do
        if wait "${processes[number]}"; then cat "$folder/$number"; else failed+=("$number"); fi
    done
    for number in ${failed[@]+"${failed[@]}"}; do cat "$folder/$number"; done
    rm -rf "$folder"
    [[ ${#failed[@]} -eq 0 ]]
}

# Prints the number of passed steps and tests, and the total time.
summarize_steps() {
    printf '%sAll %d steps passed, with %s, in %s. All output: %s%s\n' "$bold" "$step_number" \
        "$(describe_tests "$step_tests")" "$(describe_time "$SECONDS")" "$step_log" "$plain"
}

# Reads a step's output and prints the lines that may explain its failure. Leaves out the progress and the warnings of
# builds, and the output of tests, which `run_tests` repeats for those that failed, except for a crash and what the
# sanitizer reports.
show_failure() {
    awk '
        # What a test prints can come before the first line of Swift Testing, but not before that of XCTest.
        /◇ Test run started/ || /^Test Suite \x27/ { isRunning = 1; next }
        # The output of tests may come after their results.
        /^In short:$/ || /: No test ran\.$/ { isRunning = 0 }
        /Fatal error: |^\*\*\* |^(Swift runtime failure|Illegal instruction|Segmentation fault)/ { isRunning = 0 }
        /^=+$/ { isReport = 0 }
        /^(WARNING: ThreadSanitizer|ThreadSanitizer:)/ { isReport = 1 }
        isRunning && !isReport { next }
        /^(◇|✔|➜|✘) / && !isReport && !isShort || /^\[[0-9]+\/[0-9]+\] / { isWarning = 0; next }
        /^In short:$/ { isShort = 1 }
        # The output of XCTest, which has no tests here, and the first lines of Swift Testing.
        /^\t Executed 0 tests/ || /^↳ (Testing Library Version|Target Platform): / { next }
        /(^|: )warning: / { isWarning = 1; next }
        isWarning && (/: note: / || /^ *[0-9]* *[|`]/) { next }
        { isWarning = 0; print }'
}

# Reads a step's output and prints the number of tests that ran.
count_tests() {
    awk '/Test run with [0-9]+ tests? / { sub(/^.*Test run with /, ""); count += $1 } END { print count + 0 }'
}

# $1: a number of tests
describe_tests() {
    if [[ $1 -eq 1 ]]; then printf '1 test'; else printf '%d tests' "$1"; fi
}

# $1: the step's name
name_step() {
    printf '%s%-34s%s' "$bold" "$1" "$plain"
}

# $1: a number of seconds
describe_time() {
    if [[ $1 -lt 60 ]]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}

# On a terminal, shows the time and the last line of the log behind the step's name, until `stop_watching`.
#
# $1: the step's name  $2: its start time
watch_log() {
    if [[ ! -t 1 || ${TERM:-dumb} == dumb ]]; then return; fi
    {
        # The loop ends with this script, even if the script is killed.
        while sleep 1 && kill -0 $$ 2>/dev/null; do
            width=$(stty size <&1 2>/dev/null | cut -d ' ' -f 2)
            line=$(tail -c 1000 "$step_log" | tr -d '\000-\011\013-\037\177' | tail -n 1)
            text=$(printf '%-34s%-14s%s' "$1" "$(describe_time $((SECONDS - $2)))" "$line")
            printf '\r\e[K%s' "${text:0:$((${width:-80} - 1))}"
        done
    } &
    step_watcher=$!
}

# Clears the line of `watch_log`, or fails if the log is not watched.
stop_watching() {
    [[ -n $step_watcher ]] || return 1
    kill "$step_watcher" 2>/dev/null
    wait "$step_watcher" 2>/dev/null
    step_watcher=''
    printf '\r\e[K'
}

# Ends the command after Ctrl-C. Bash runs this function when the step's command, which also got the signal, has ended.
report_interruption() {
    printf '\n%s: interrupted. All output: %s\n' "$(basename "$0")" "$step_log" >&2
    exit 130
}
