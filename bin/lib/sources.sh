# The Swift sources of this repository, including nested packages.

# Ends the command with git's error message if git can't list the files of this clone.
require_clone() {
    local reason
    command -v git >/dev/null || fail "git is not installed, but is needed to list the sources. Install git."
    reason=$(git ls-files -- Package.swift 2>&1 >/dev/null) || fail "git cannot list the sources of $root: $reason"
}

# Sets `swift_sources` to the files that git tracks or would add, which excludes build folders.
find_swift_sources() {
    local file
    require_clone
    swift_sources=()
    while IFS= read -r -d '' file; do
        if [[ -e $file ]]; then swift_sources+=("$file"); fi
    done < <(git ls-files -z --cached --others --exclude-standard -- '*.swift')
    [[ ${#swift_sources[@]} -gt 0 ]] || fail "There are no Swift sources in $root."
}
