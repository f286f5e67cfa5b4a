# Extracts the Swift snippets of a document into source files. The compiler reports their lines with the document's name
# and line.
#
# The package is built without the trait Server, so without Hummingbird. Snippets that import it, ServiceLifecycle or
# BodegaServer are skipped: tests of Apps compare them with the programs from which they are.
#
# Variables: `document`, the path of the document as errors show it; `output`, the folder for the files.
# Prints the path of each file, and fails if a snippet has no imports and no snippet before it has any.

function fail(number, text) {
    printf "%s:%d: error: %s\n", document, number, text > "/dev/stderr"
    hasFailed = 1
}

# Whether a line at the left margin begins a declaration that can't or shouldn't be local: a type, an extension or a
# function.
function beginsDeclaration(line) {
    sub(/^(@[A-Za-z]+(\([^)]*\))? )*((public|final|indirect) )*/, "", line)
    return line ~ /^(struct|class|actor|enum|extension|protocol|func|typealias) /
}

# Writes a snippet: its imports, its declarations, and its statements in a function. A snippet without statements that
# execute stays in one piece, including its constants.
function writeSnippet(    file, i, line, isInside, hasImports, hasStatements, hasDeclarations, kinds) {
    if (lines[1] ~ /^(\.|\/\/ swift-tools-version)/) return  # goes into a manifest, or is one
    file = sprintf("%s/snippet%d.swift", output, start)
    for (i = 1; i <= count; i++) {
        line = lines[i]
        if (line ~ /^import /) {
            if (!hasImports) imports = ""
            hasImports = 1
            imports = imports line "\n"
            kinds[i] = "import"
        } else if (isInside || beginsDeclaration(line)) {
            hasDeclarations = 1
            kinds[i] = "declaration"
            # The declaration ends with a brace at the left margin, or with its only line.
            isInside = line != "}" && (isInside || line !~ /}$/) && line !~ /^typealias /
        } else if (line ~ /^@/ && line !~ / (var|let) /) {
            kinds[i] = "attribute"  # of the declaration in the next line
        } else {
            kinds[i] = "statement"
            if (line ~ /(try|await) / || line !~ /^((let|var|\/\/) ?.*|[ })].*|)$/) hasStatements = 1
        }
    }
    if (imports ~ /import (BodegaServer|Hummingbird|ServiceLifecycle)\n/) return  # of the example, see above
    if (imports == "") return fail(start, "the snippet has no imports, and no snippet before it has.")
    for (i = count - 1; i >= 1; i--) if (kinds[i] == "attribute") kinds[i] = kinds[i + 1]

    # Constants stay with the declarations if no statement executes.
    if (hasDeclarations && !hasStatements) for (i = 1; i <= count; i++) sub("statement", "declaration", kinds[i])
    print file
    printf "%s", imports > file
    writeLines(file, kinds, "declaration")
    printf "@MainActor func snippet%d() async throws {\n", start > file
    writeLines(file, kinds, "statement")
    print "}" > file
    close(file)
}

# Writes the lines of one kind. A directive tells the compiler the position of each piece.
function writeLines(file, kinds, kind,    i, last) {
    last = -1
    for (i = 1; i <= count; i++) {
        if (kinds[i] != kind) continue
        if (i != last + 1) printf "#sourceLocation(file: \"%s\", line: %d)\n", document, start + i > file
        print lines[i] > file
        last = i
    }
    if (last >= 0) print "#sourceLocation()" > file
}

/^```swift$/ { start = NR; count = 0; isSnippet = 1; next }
/^```/ && isSnippet { isSnippet = 0; writeSnippet(); next }
isSnippet { lines[++count] = $0 }
END { if (hasFailed) exit 1 }
