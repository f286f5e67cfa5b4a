# What the commands share. Each sources this file first; it moves to the package's root.

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

# Ends the command because it was called wrongly.
misused() {
    printf '%s: %s Try --help.\n' "$(basename "$0")" "$*" >&2
    exit 64
}

# Prints the comment at the head of the command, which is its help, and ends it.
show_help() {
    awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
    exit 0
}

require_swift() {
    command -v swift >/dev/null || fail "There is no Swift toolchain in PATH. Install Swift 6.1 or later: https://www.swift.org/install/"
}
