import Foundation

// What the tests run as another process. The arguments are the name of a task and what it needs; the results go to
// standard output, a line each.
let arguments = CommandLine.arguments.dropFirst()
switch (arguments.first, Array(arguments.dropFirst())) {
case ("write", let rest): try await write(rest)
case ("fill", let rest): try await fill(rest)
case ("unprivileged", let rest): try await useUnprivileged(rest)
case ("store", let rest): try await changeStore(rest)
case ("visit", let rest): try await visit(rest)
case ("hold", let rest): try await hold(rest)
case ("count", let rest): try await count(rest)
case ("write-numbers", let rest): try await writeNumbers(rest)
case ("write-rows", let rest): try writeRows(rest)
case ("say-cursor", let rest): try await sayCursor(rest)
case ("read-crowded", let rest): try await readCrowded(rest)
case ("count-descriptors", let rest): try await countDescriptors(rest)
case ("follow", let rest): try await follow(rest)
case ("directories", _): printDirectories()
case ("readme", let rest): try await runReadmeSnippets(rest)
case ("readme-codable-stores", _): try await runReadmeCodableStoreSnippets()
case ("set-secrets", let rest): try setSecrets(rest)
case ("say-secret", let rest): try sayAsSecret(rest)
case ("count-in-secret", let rest): try countInSecret(rest)
case ("unprivileged-secrets", let rest): useSecretsUnprivileged(rest)
case ("default-secret", let rest): try useDefaultSecret(rest)
case ("save-letters", let rest): saveLetters(rest)
case ("list-letters", let rest): try listLetters(rest)
case ("edit-letters", let rest): try editLetters(rest)
case ("values", let rest): try await useValues(rest)
case ("async-value", let rest): try await followAsyncValue(rest)
default: fatalError("No such task: \(arguments)")
}
