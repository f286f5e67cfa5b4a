# The public symbols of the products, for scripts. Source targets.sh, too.

# The modules of the libraries, each after those that its documentation links to.
documented_modules=(
    RecordCoder Bodega BodegaTesting BodegaTestSupport BodegaHTTP BodegaRemote BodegaServer BodegaWebTokens
    BodegaPostgres Boutique BodegaSync CodableStoreKit
)

# Writes the symbol graphs of a module on Linux or macOS and, from the branches for them, on Apple platforms.
#
# $1: the module  $2: the folder for the graphs; those of Apple platforms are in its folder `apple`
# $3...: more options
extract_all_symbols() {
    local module=$1 output=$2
    shift 2
    extract_symbols "$module" "$root/.build/debug/Modules" "$output" "$@"
    if [[ $(uname) != Darwin ]]; then
        extract_symbols "$module" "$root/.build/apple-typecheck" "$output/apple" "$@"
    fi
}

# Writes the symbol graphs of a module.
#
# $1: the module  $2: the folder with compiled modules  $3: the folder for the graphs  $4...: more options
extract_symbols() {
    local module=$1 folder=$2 output=$3
    shift 3
    if [[ -z ${symbol_target:-} ]]; then
        find_import_flags "$root/.build"
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
