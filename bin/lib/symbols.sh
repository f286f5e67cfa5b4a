# The public symbols of the products, for scripts. Source targets.sh, too.

# The modules of the libraries, each after those that its documentation links to.
documented_modules=(
    RecordCoder Bodega BodegaTesting BodegaTestSupport BodegaHTTP BodegaRemote BodegaServer BodegaWebTokens
    BodegaPostgres Boutique BodegaSync CodableStoreKit
)

# Those of them that only the build of Apps contains. In the package's own build they are empty, because it leaves out
# the trait Server, whose dependencies take minutes to build. So their branches for Apple platforms are not checked.
server_modules=(BodegaServer BodegaWebTokens)

# $1: a module
is_of_server() {
    [[ " ${server_modules[*]} " == *" $1 "* ]]
}

# Prints the folder of the build that contains a module.
#
# $1: the module
build_with() {
    if is_of_server "$1"; then printf '%s' "$root/Apps/.build"; else printf '%s' "$root/.build"; fi
}

# Writes the symbol graphs of a module on Linux or macOS and, from the branches for them, on Apple platforms.
#
# $1: the module  $2: the folder for the graphs; those of Apple platforms are in its folder `apple`
# $3...: more options
extract_all_symbols() {
    local module=$1 output=$2
    shift 2
    extract_symbols "$module" "$(build_with "$module")/debug/Modules" "$output" "$@"
    if [[ $(uname) != Darwin ]] && ! is_of_server "$module"; then
        extract_symbols "$module" "$root/.build/apple-typecheck" "$output/apple" "$@"
    fi
}

# Writes the symbol graphs of a module.
#
# $1: the module  $2: the folder with compiled modules  $3: the folder for the graphs  $4...: more options
extract_symbols() {
    local module=$1 folder=$2 output=$3 build
    shift 3
    build=$(build_with "$module")
    if [[ $build != "${symbols_build:-}" ]]; then
        find_import_flags "$build"
        symbols_build=$build
    fi
    if [[ -z ${symbol_target:-} ]]; then
        symbol_target=$(swiftc -print-target-info | sed -nE 's/^ *"triple": "([^"]+)".*$/\1/p')
    fi
    mkdir -p "$output"
    swift symbolgraph-extract -module-name "$module" -target "$symbol_target" -minimum-access-level public "$@" \
        -I "$folder" "${import_flags[@]}" -output-dir "$output"
}

# Builds the program that reads symbol graphs, and sets `symbols_tool` to its path.
build_symbols_tool() {
    swift build --package-path "$root/Tools/Symbols" --quiet
    symbols_tool=$(swift build --package-path "$root/Tools/Symbols" --show-bin-path)/Symbols
}
