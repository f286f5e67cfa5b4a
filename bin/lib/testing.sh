# Builds and runs tests for the commands.

# Builds a package and its tests with the given options. SwiftPM passes traits to the compiler in the order of a set.
# Without deterministic hashing that order would change in every second call, which would rebuild everything.
#
# With EMPORIUM_WHOLE_MODULES, each module is compiled as a whole. With EMPORIUM_OPTIMIZED, see Package.swift, there is
# no information for debuggers: the trace of a crash has the names of functions, but not the lines.
build_tests() {
    local options=()
    if [[ -n ${EMPORIUM_WHOLE_MODULES:-} ]]; then
        set_whole_modules
        options=("${whole_modules[@]}")
    fi
    if [[ -n ${EMPORIUM_OPTIMIZED:-} ]]; then options+=(-debug-info-format none); fi
    SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests "$@" ${options[@]+"${options[@]}"}
}

# Runs the tests of a built package with the given options. Fails if no test ran, so that a pattern without matches is
# an error. If tests fail, repeats their issues at the end, runs them again alone, and prints the command that does so.
# Ends tests of which one waits for ever.
run_tests() {
    local log events watcher status=0
    mkdir -p "$test_events"
    log=$(mktemp) events=$(mktemp "$test_events/XXXXXX")
    "$root/Tools/Steps/events" watch "$events" "$test_patience" >"$log.stuck" &
    watcher=$!
    # Ctrl-C ends the tests, and `tee` still reads their remaining output.
    swift test --skip-build --event-stream-output-path "$events" "$@" 2>&1 | tee -i "$log" || status=$?
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    if [[ -s $log.stuck ]]; then status=1; fi
    if [[ $status -eq 0 ]] && ! grep -qE 'Test run with [1-9][0-9]* tests?|Executed [1-9][0-9]* tests?,' "$log"; then
        rm -f "$log" "$log.stuck"
        fail "No test ran."
    fi
    if [[ $status -ne 0 ]]; then explain_failure "$log" "$events" "$@"; fi
    rm -f "$log" "$log.stuck"
    [[ $status -eq 0 ]] || fail "Tests failed."
}

# The seconds without an event after which a run of tests is ended. With all cases, some tests take long.
test_patience=600
if [[ ${EMPORIUM_SIZE:-} == all ]]; then test_patience=7200; fi

# Where runs of tests leave their events, for `print_slowest_tests`.
test_events=$root/.build/logs/events

# Prints what failed in a run of tests.
#
# $1: the output  $2: the events  the rest: the options of the run
explain_failure() {
    local log=$1 events=$2 seed pattern options=()
    shift 2
    while [[ $# -gt 0 ]]; do
        case $1 in
            --filter | --skip) shift 2 ;;
            *) options+=("$1") && shift ;;
        esac
    done
    printf '\nIn short:\n'
    cat "$log.stuck"
    "$root/Tools/Steps/events" failed "$events" || true
    # After a crash, the last events are missing.
    awk '
        function test(line) {
            sub(/^[^ ]+ Test /, "", line)
            sub(/( with [0-9]+ test cases?)? (started\.|passed after .*|failed after .*)$/, "", line)
            return line
        }
        /^◇ Test run started/ { isRunning = 1; next }
        /^(✔|✘) Test run with / { isRunning = 0 }
        /^◇ Test .* started\.$/ && !/^◇ Test case / { running[test($0)]++ }
        /^(✔|✘) Test .* (passed|failed) after / { running[test($0)]-- }
        END { if (isRunning) for (name in running) if (running[name] > 0) print "was running: " name }
    ' "$log" | head -n 20
    seed=$(grep -m 1 -oE 'EMPORIUM_SEED=[0-9]+' "$log" || true)
    pattern=$("$root/Tools/Steps/events" filter "$events" || true)
    if [[ -z $pattern ]]; then return; fi
    printf '\nTheir own output, when they run alone:\n'
    env ${seed:+"$seed"} swift test --skip-build ${options[@]+"${options[@]}"} --filter "$pattern" 2>&1 |
        grep -vE '^(◇|✔ Test|➜|↳ Test|Test Suite|\t Executed)' | tail -n 100 || true
    printf '\nTo repeat them: %sbin/test --filter "%s"\n' "${seed:+$seed }" "$pattern"
}

# Prints the tests that took the largest shares of the time.
print_slowest_tests() {
    local events=("$test_events"/*)
    [[ -e ${events[0]} ]] || return 0
    printf 'The slowest tests, by their shares of the time:\n'
    Tools/Steps/events slowest "${events[@]}"
}

# Prints a pattern of the suites that start other processes, which are those in files that use one of the helpers for
# that, and those of the command-line tool.
suites_with_processes() {
    local helpers='PostgresServer|Keyring|ToolProcess|Shell|Terminal|Volume|APIServer|Processors'
    local modules='(Bodega|Boutique|CodableStoreKit|RecordCoder)[A-Za-z]*Tests|CompatibilityTests'
    printf 'BodegaCommandsTests'
    grep -rlE --include='*.swift' "Child\(|Process\(\)|($helpers)\b" Tests | xargs grep -hoE '\b[A-Za-z0-9]+Tests\b' |
        grep -vxE "$modules" | sort -u | sed 's/^/|/' | tr -d '\n'
}

# Gives the tests of this command a folder for their temporary files, and `end_test_run` the traces of their processes.
begin_test_run() {
    # Short, because the paths of sockets are limited.
    test_run=$(mktemp -d "${TMPDIR:-/tmp}/et.XXXXXX")
    # Servers of other users have folders in it.
    chmod 711 "$test_run"
    export TMPDIR=$test_run EMPORIUM_TEST_RUN=$test_run
}
test_run=''

# Ends the processes that the tests have left, removes their volumes and files, and says so if there were any. Nothing
# is left after a run that was not interrupted.
end_test_run() {
    local signal turn mount processes
    [[ -n $test_run ]] || return 0
    # The commands below are none of the tests' processes.
    unset EMPORIUM_TEST_RUN
    for signal in TERM KILL; do
        # Watchdogs stop the servers of a test process that has ended, and then end themselves.
        for ((turn = 0; turn < 150; turn++)); do
            processes=$(processes_of_run)
            [[ -n $processes ]] || break 2
            if [[ $turn -eq 0 ]]; then kill "-$signal" $processes 2>/dev/null || true; fi
            sleep 0.2
        done
    done
    if [[ -r /proc/mounts ]]; then
        while IFS= read -r mount; do umount -l "$mount" 2>/dev/null || true; done < <(
            awk -v folder="$test_run/" 'index($2, folder) == 1 { print $2 }' /proc/mounts)
    fi
    rm -rf "$test_run"
    test_run=''
}

# Prints the identifiers of the running processes that this command's tests have started.
processes_of_run() {
    grep -lazxF "EMPORIUM_TEST_RUN=$test_run" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3 || true
}
