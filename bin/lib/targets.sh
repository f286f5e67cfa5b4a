# The package manager's description of the package, for scripts.

# All traits of the package. Apps are built in the same folder, with the environment variable EMPORIUM_ALL_TRAITS, so
# that the modules that both packages need are built once. For that, they need the same options in the same order. The
# package manager takes the order from a set, which has the same size for both with the trait `default`, although the
# package has none.
all_traits=default,CommandLineTool,Metrics,Postgres
# Its tests need GNOME Keyring.
if [[ $(uname) != Darwin ]]; then all_traits+=,SecretService; fi
all_traits+=,Server,WebTokens

# Prints one line for each Swift target in Sources/ or Tests/: name, type, path and the targets that it depends on. The
# fields are separated by tabs, the targets by spaces.
#
# It only reads, so it does not wait for another command of the package manager, which may be the one that started it.
describe_targets() {
    swift package --package-path "$root" --ignore-lock --traits "$all_traits" describe --type text | awk '
        function flush() {
            if (path ~ /^(Sources|Tests)\// && kind == "SwiftTarget") print name "\t" type "\t" path "\t" dependencies
            name = ""; type = ""; path = ""; kind = ""; dependencies = ""
        }
        /^[^ ]/ { flush(); section = $1 }
        section != "Targets:" { next }
        /^    [^ ]/ { list = "" }
        /^    Name: / { flush(); name = $2 }
        /^    Type: / { type = $2 }
        /^    Path: / { path = $0; sub(/^ *Path: /, "", path) }
        /^    Module type: / { kind = $3 }
        /^    Target dependencies:/ { list = "targets" }
        /^        [^ ]/ && list == "targets" { dependencies = dependencies (dependencies ? " " : "") $1 }
        END { flush() }'
}

# Sets `import_flags` to the options with which the compiler finds the modules of a finished build, including C modules
# of dependencies and headers of system libraries.
#
# $1: the build's folder, such as `.build`
find_import_flags() {
    local build=$1 map
    [[ -f $build/debug.yaml && -d $build/debug/Modules ]] ||
        fail "$build contains no finished build. Run: swift build --build-tests --traits $all_traits"
    import_flags=(-I "$build/debug/Modules")
    while IFS= read -r map; do
        import_flags+=(-Xcc "$map")
    done < <(grep -oE '"(-fmodule-map-file=|-I)[^"]+"' "$build/debug.yaml" | tr -d '"' | sort -u)
}

# Sets `target_settings` to the language mode and the language features with which a finished build has compiled a
# target.
#
# $1: the build's folder, such as `.build`  $2: the target
find_target_settings() {
    local setting
    target_settings=()
    while IFS= read -r setting; do target_settings+=("$setting"); done < <(
        grep -m 1 -o "\"-module-name\",\"$2\",.*\"-swift-version\".*" "$1/debug.yaml" | tr -d '"[]' |
            tr ',' '\n' | awk '
            isValue { print; isValue = 0 }
            /^-(swift-version|enable-upcoming-feature|enable-experimental-feature)$/ { print; isValue = 1 }')
    [[ ${#target_settings[@]} -gt 0 ]] ||
        fail "The build in $1 has no target $2. Run: swift build --build-tests --traits $all_traits"
}
