# Installs missing system packages, with apt-get where possible.

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

# Succeeds if apt-get exists and may be used.
can_install() {
    command -v apt-get >/dev/null && as_root true
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}

# Installs Debian packages. The package lists of a fresh machine are missing or old, so they are updated if necessary.
install_packages() {
    if ! can_install; then
        fail "The system lacks: $*. On Debian and Ubuntu: sudo apt-get install $*." \
            "On other systems, install the corresponding packages."
    fi
    step "Installing $*"
    if ! apt_install "$@" >&2; then
        as_root apt-get update >&2
        apt_install "$@" >&2 || fail "apt-get could not install: $*."
    fi
}

# Succeeds if a C header can be included.
has_header() {
    if command -v clang >/dev/null; then
        printf '#include <%s>\n' "$1" | clang -x c -fsyntax-only - 2>/dev/null
    else
        [[ -e /usr/include/$1 ]]
    fi
}

# Installs the packages that the build needs.
require_build_packages() {
    local missing=()
    has_header sqlite3.h || missing+=(libsqlite3-dev)
    # The demo's server is linked with zlib.
    has_header zlib.h || missing+=(zlib1g-dev)
    command -v git >/dev/null || missing+=(git)
    # Debian's git only recommends the certificates, but can't clone over HTTPS without them.
    if command -v apt-get >/dev/null && [[ ! -e /etc/ssl/certs/ca-certificates.crt ]]; then
        missing+=(ca-certificates)
    fi
    if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
}

# Installs Python, for the server of `bin/docs --preview` and for tests.
require_python() {
    command -v python3 >/dev/null || install_packages python3
}

# Succeeds if the programs of a PostgreSQL server are where the tests look for them.
has_postgres_server() {
    local folder
    for folder in $(pg_config --bindir 2>/dev/null) ${PATH//:/ } /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
        /opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin \
        /home/linuxbrew/.linuxbrew/opt/postgresql@*/bin /Applications/Postgres.app/Contents/Versions/*/bin \
        /usr/local/pgsql*/bin; do
        if [[ -x $folder/initdb && -x $folder/postgres ]]; then return; fi
    done
    return 1
}

# Succeeds if the header of PostgreSQL's client library is where the package manager looks for it.
has_postgres_client() {
    has_header libpq-fe.h || has_header postgresql/libpq-fe.h ||
        compgen -G '/*/*/opt/libpq/include/libpq-fe.h' >/dev/null ||
        compgen -G '/*/opt/libpq/include/libpq-fe.h' >/dev/null
}

# Installs the packages that the engine for PostgreSQL needs to build. With `--server`, also installs the server for its
# tests and benchmarks.
require_postgres() {
    local missing=()
    has_postgres_client || missing+=(libpq-dev)
    if [[ ${1:-} == --server ]]; then has_postgres_server || missing+=(postgresql); fi
    if [[ ${#missing[@]} -eq 0 ]]; then return; fi
    if [[ $(uname) == Darwin ]]; then
        fail "The system lacks PostgreSQL. Install it: brew install libpq postgresql@17"
    fi
    if [[ " ${missing[*]} " == *' postgresql '* ]] && can_install; then
        without_main_cluster install_packages "${missing[@]}"
    else
        install_packages "${missing[@]}"
    fi
}

# Installs the packages that the storage of secrets in a keyring needs to build: GLib, with pkg-config, by which the
# package manager finds it. With `--server`, also installs the keyring and the message bus for its tests.
require_secret_service() {
    local missing=()
    if ! pkg-config --exists gio-2.0 2>/dev/null; then
        if [[ $(uname) == Darwin ]]; then fail "The system lacks GLib. Install it: brew install glib pkgconf"; fi
        missing+=(libglib2.0-dev pkg-config)
    fi
    if [[ ${1:-} == --server ]]; then
        command -v gnome-keyring-daemon >/dev/null || missing+=(gnome-keyring)
        { command -v dbus-daemon && command -v dbus-send; } >/dev/null || missing+=(dbus)
    fi
    if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
}

# Runs a command that installs PostgreSQL. Debian's package would create and start a server for the system; its
# configuration is changed during the command to prevent that.
without_main_cluster() {
    local settings=/etc/postgresql-common/createcluster.conf status=0 is_changed=''
    install_packages postgresql-common
    if grep -q '^#create_main_cluster = true$' "$settings"; then
        is_changed=1
        as_root sed -i 's/^#create_main_cluster = true$/create_main_cluster = false/' "$settings"
    fi
    ("$@") || status=$?
    if [[ -n $is_changed ]]; then
        as_root sed -i 's/^create_main_cluster = false$/#create_main_cluster = true/' "$settings"
    fi
    [[ $status -eq 0 ]] || exit "$status"
}

# Installs a production setup of PostgreSQL: Patroni, etcd and PgBouncer.
require_postgres_cluster() {
    local missing=()
    [[ -x /usr/bin/patroni ]] || missing+=(patroni)
    [[ -x /usr/bin/etcd ]] || missing+=(etcd-server)
    [[ -x /usr/sbin/pgbouncer ]] || missing+=(pgbouncer)
    if [[ ${#missing[@]} -eq 0 ]]; then return; fi
    command -v apt-get >/dev/null || fail "The system lacks ${missing[*]}. Run this command on Debian or Ubuntu."
    without_services "${missing[@]}"
}

# Installs packages without starting their services, now or at the next start of the system.
without_services() {
    local policy=/usr/sbin/policy-rc.d status=0 is_changed='' service
    if can_install && [[ ! -e $policy ]]; then
        is_changed=1
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod +x "$policy"
    fi
    (install_packages "$@") || status=$?
    if [[ -n $is_changed ]]; then as_root rm -f "$policy"; fi
    [[ $status -eq 0 ]] || exit "$status"
    if command -v systemctl >/dev/null; then
        # The service of etcd-server is called etcd. A container may have no services.
        for service in "${@%-server}"; do as_root systemctl disable "$service" >/dev/null 2>&1 || true; done
    fi
}

# Succeeds on Ubuntu and its derivatives.
is_ubuntu() {
    [[ -r /etc/os-release ]] && (
        source /etc/os-release
        [[ " ${ID:-} ${ID_LIKE:-} " == *" ubuntu "* ]]
    )
}

# Installs the browser for the demo's tests, and sets `browser` to its name. The tests look for these names in this
# order.
require_browser() {
    for browser in chromium google-chrome google-chrome-stable chromium-browser; do
        # On Ubuntu this can be a command that only says that the browser is not installed.
        if command -v "$browser" >/dev/null && "$browser" --version >/dev/null 2>&1; then return; fi
    done
    if is_ubuntu; then
        fail "No browser is installed. Ubuntu's Chromium is a snap (sudo snap install chromium)," \
            "which containers can't install." \
            "In containers, install Google Chrome:" \
            "curl -fLO https://dl.google.com/linux/direct/google-chrome-stable_current_amd64.deb &&" \
            "sudo apt-get install ./google-chrome-stable_current_amd64.deb"
    fi
    install_packages chromium
    browser=chromium
}

# Installs the shells for the tests of completion scripts.
require_shells() {
    local missing=()
    for shell in zsh fish; do
        command -v "$shell" >/dev/null || missing+=("$shell")
    done
    if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
}

# Installs the programs of others by which the tests reach a server. Without apt-get, the tests with nginx are skipped.
require_server_programs() {
    local missing=()
    for program in curl openssl; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
    if [[ $(uname) == Darwin || -x /usr/sbin/nginx ]] || ! can_install; then return; fi
    without_services nginx
}
