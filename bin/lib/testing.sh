# Builds and runs tests for the commands.

# Builds a package and its tests with the given options. SwiftPM passes traits to the compiler in the order of a set.
# Without deterministic hashing that order would change in every second call, which would rebuild everything.
build_tests() {
    SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests "$@"
}

# Runs the tests of a built package with the given options. Fails if no test ran, so that a pattern without matches is
# an error.
run_tests() {
    local log
    log=$(mktemp)
    # Ctrl-C ends the tests, and `tee` still reads their remaining output.
    if ! swift test --skip-build "$@" 2>&1 | tee -i "$log"; then
        rm -f "$log"
        fail "Tests failed."
    fi
    if ! grep -qE 'Test run with [1-9][0-9]* tests?|Executed [1-9][0-9]* tests?,' "$log"; then
        rm -f "$log"
        fail "No test ran."
    fi
    rm -f "$log"
}
