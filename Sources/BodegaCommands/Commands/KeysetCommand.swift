#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega keyset`.
struct KeysetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyset",
        abstract: "Create and rotate the keyset of an encrypted store.",
        discussion: """
            A keyset is a file in the JSON of Tink with the keys in clear text: one that encrypts, and others that \
            still decrypt. Keep it where only the programs that need it can read it, and keep a backup of it apart \
            from the data: without it, no item can ever be read again.
            """,
        subcommands: [CreateKeysetCommand.self, RotateKeysetCommand.self]
    )
}

/// `bodega keyset create`.
struct CreateKeysetCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Write a new keyset to a file that only its owner can read.",
        discussion: """
            The keyset has one random AES-GCM key of 256 bits. An existing file is not replaced.

            EXAMPLES:
              bodega keyset create notes.keyset
              echo '{"done": false}' | bodega put notes.db today --keyset notes.keyset
              bodega keyset create copy.keyset
              bodega copy plain.db encrypted.db --to-keyset copy.keyset
            """)

    @Argument(help: "The file to create.", completion: .file())
    var file: String

    func validate() throws {
        if file.isEmpty { throw ValidationError("The path of the keyset is empty. Name a file.") }
        if file == "-" { throw ValidationError("A keyset is written to a file, not to standard output. Name a file.") }
    }

    func run(on console: Console) async throws { try KeysetFile(path: file).create(EncryptionKeyset()) }
}
#endif
