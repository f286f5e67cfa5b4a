# How the commands build tests and run them.

# Builds a package and its tests with the given options. SwiftPM hands traits to the compiler in the order of a set; that
# would be another one in every second call, which would build everything anew.
build_tests() {
    SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests "$@"
}

# Runs a package's tests, which have been built, with the given options, and fails if none ran: a pattern that matches nothing
# proves nothing.
run_tests() {
    local log
    log=$(mktemp)
    # Ctrl-C ends the tests, and what they say of it is read to its end.
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
