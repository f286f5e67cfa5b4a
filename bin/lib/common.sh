# Shared by the commands. Each command sources this file first, which changes to the package's root.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$root"

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
    bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
    bold='' dim='' plain=''
fi

# Announces a step.
step() {
    printf '%s== %s%s\n' "$bold" "$*" "$plain"
}

# Ends the command with a message.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Ends the command after a usage error.
misused() {
    printf '%s: %s Try --help.\n' "$(basename "$0")" "$*" >&2
    exit 64
}

# Prints the comment at the head of the command as its help, and ends the command.
show_help() {
    awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
    exit 0
}

require_swift() {
    local least=6.2 version
    command -v swift >/dev/null ||
        fail "PATH contains no Swift toolchain. Install Swift $least or later: https://www.swift.org/install/"
    version=$(swift --version 2>/dev/null | grep -oE 'Swift version [0-9]+\.[0-9]+' | grep -oE '[0-9.]+$' || true)
    if [[ -n $version && $(printf '%s\n' "$least" "$version" | sort -V | head -n 1) != "$least" ]]; then
        fail "This is Swift $version, but $least or later is required: https://www.swift.org/install/"
    fi
}

# Sets `whole_modules` to the options of `swift build` that compile each module as a whole, and link with LLVM's linker
# if the toolchain has it. That takes a fifth less time if nothing is built yet, but much more after a change.
set_whole_modules() {
    local bin
    whole_modules=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc "$(getconf _NPROCESSORS_ONLN)")
    bin=$(dirname "$(readlink -f "$(command -v swift)")")
    if [[ $(uname) == Linux && -x $bin/ld.lld ]]; then whole_modules+=(-Xswiftc -use-ld=lld); fi
}
whole_modules=()
