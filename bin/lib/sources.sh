# The Swift sources of this repository, including nested packages.

# Ends the command with git's error message if git can't list the files of this clone.
require_clone() {
    local reason
    command -v git >/dev/null || fail "git is not installed, but is needed to list the sources. Install git."
    reason=$(git ls-files -- Package.swift 2>&1 >/dev/null) || fail "git cannot list the sources of $root: $reason"
}

# Fails if a text file has a line over 120 columns, except for tables, the data of tests, single words such as links,
# markup of the gallery, and files that are generated or frozen.
check_line_lengths() {
    require_clone
    git ls-files -z --cached --others --exclude-standard -- ':!Tests/Fixtures' ':!docs/interface' ':!docs/bodega.1' \
        ':!docs/tour.txt' ':!Apps/Demo/Sources/Gallery/Web' | perl -CSD -0 -ne '
            chomp;
            next unless -T $_ && open my $file, "<", $_;
            local $/ = "\n";
            while (my $line = <$file>) {
                chomp $line;
                next if length $line <= 120 || $line =~ m{^\s*(///? )?\||^\s*(///? )?\S+$};
                next if m{^Tests/.*\.swift$} && $line =~ /^\s*(#*"|\{")/;
                print STDERR "$_:$.: error: the line has ", length $line, " columns, over the limit of 120\n";
                $failed = 1;
            }
            END { exit 1 if $failed }'
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
