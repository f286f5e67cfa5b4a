# Installs what the system lacks, with apt-get where that is possible.

# Runs a command as root, or fails without asking for a password.
as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

# Tells whether apt-get is there and may be used.
can_install() {
    command -v apt-get >/dev/null && as_root true
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}

# Installs Debian packages. On a fresh machine apt has no package lists, or old ones, so they are fetched if need be.
install_packages() {
    if ! can_install; then
        fail "The system lacks: $*. On Debian and Ubuntu: sudo apt-get install $*. Elsewhere, install what matches them."
    fi
    step "Installing $*"
    if ! apt_install "$@" >&2; then
        as_root apt-get update >&2
        apt_install "$@" >&2 || fail "apt-get could not install: $*."
    fi
}

# Tells whether a C header can be included.
has_header() {
    if command -v clang >/dev/null; then
        printf '#include <%s>\n' "$1" | clang -x c -fsyntax-only - 2>/dev/null
    else
        [[ -e /usr/include/$1 ]]
    fi
}

# Installs what the package needs to build.
require_build_packages() {
    local missing=()
    has_header sqlite3.h || missing+=(libsqlite3-dev)
    # The demo's server is linked with it.
    has_header zlib.h || missing+=(zlib1g-dev)
    command -v git >/dev/null || missing+=(git)
    # Debian's git only recommends them, but without them it can clone nothing over HTTPS.
    if command -v apt-get >/dev/null && [[ ! -e /etc/ssl/certs/ca-certificates.crt ]]; then missing+=(ca-certificates); fi
    if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
}

# Installs the browser that the demo's tests need, and sets `browser` to its name. They find it by the names that are looked
# for here.
require_browser() {
    for browser in chromium chromium-browser google-chrome google-chrome-stable; do
        if command -v "$browser" >/dev/null; then return; fi
    done
    install_packages chromium
    browser=chromium
}
