#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega keyset`.
struct KeysetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyset",
        abstract: "Create and rotate the keyset of an encrypted store.",
        discussion: """
            A keyset is a file in the JSON of Tink with the keys in clear text: one that encrypts, and others that still \
            decrypt. Keep it where only the programs that need it can read it, and keep a backup of it apart from the \
            data: without it, no item can ever be read again.
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
              bodega copy plain.db encrypted.db --to-keyset notes.keyset
            """
    )

    @Argument(help: "The file to create.", completion: .file())
    var file: String

    func run(on console: Console) async throws {
        try KeysetFile(path: file).create(EncryptionKeyset())
    }
}

/// `bodega keyset rotate`.
struct RotateKeysetCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Add a key to a keyset, and encrypt all items of a store again with it.",
        discussion: """
            The new key is first added to the file, which is replaced atomically, so that the file can decrypt all items \
            at any moment. Then the items are encrypted again in atomic batches. An item that another program writes at \
            the same time is not replaced by an older version of it. Programs that have read the keyset before can't \
            read the items that are encrypted again: end them first, and start them with the new file.

            After an interruption, --resume encrypts the rest without another new key. If several collections or stores \
            share the keyset, run the command with --resume for each of the others. Then --remove-old-keys removes the \
            keys that no longer encrypt; backups that need them can't be decrypted with the file any more.

            Items that can't be decrypted stay as they are and are listed, with exit status 1. The keyset that hides \
            keys can't be rotated; copy the items into another store instead.

            EXAMPLES:
              bodega keyset rotate notes.db --keyset notes.keyset
              bodega keyset rotate notes.db --keyset notes.keyset --resume --remove-old-keys
            """
    )

    @Argument(
        help: "The store: sqlite:PATH or postgres://…, with #COLLECTION, or the path of a store.", completion: .file())
    var store: String

    @Option(help: "The file with the keyset.", completion: .file())
    var keyset: String

    @Option(
        help: ArgumentHelp(
            "The collection name that is authenticated with the items, if it is not that of the store's address.",
            valueName: "name"))
    var keysetCollection: String?

    @Flag(help: "Add no key, but encrypt the items that are not encrypted with the primary key.")
    var resume = false

    @Flag(help: "Remove all other keys from the keyset if all items are encrypted with the new one.")
    var removeOldKeys = false

    @Flag(help: "Print no progress and no result.")
    var quiet = false

    @OptionGroup var reporting: ReportingOptions

    func run(on console: Console) async throws {
        let address = try StorageAddress(argument: store)
        let file = KeysetFile(path: keyset)
        var keys = try file.read()
        var bar = ProgressBar(console: console, isQuiet: quiet)
        let encryption = StoreEncryption(keyset: keys, collection: keysetCollection)
        let count = try await address.openExisting().decrypting(with: encryption).use { store in
            guard let base = store.base as? any ConditionalStorageEngine else {
                throw ToolError(
                    .usage,
                    """
                    The items of a folder can't be encrypted again in place. Copy them into a new folder with: bodega copy \
                    \(address) disk:PATH --from-keyset OLD --to-keyset NEW
                    """)
            }
            try await store.checkKeyset()
            if !resume {
                try keys.makePrimary(keys.addKey())
                try file.replace(with: keys)
            }
            let result = try await Self.reencrypt(
                base, with: keys, collection: keysetCollection ?? address.collection ?? ""
            ) { bar.update(items: $0, done: $0, of: $1) }
            bar.clear()
            let unreadable = UnreadableItems()
            result.errors.forEach(unreadable.add)
            try unreadable.check("could not be encrypted again, all others were")
            return result.count
        }
        if removeOldKeys {
            for id in keys.keyIDs where id != keys.primaryKeyID { try keys.removeKey(id) }
            try file.replace(with: keys)
        }
        if !quiet { try console.output.write("\(count) items encrypted again with key \(keys.primaryKeyID)\n") }
    }

    private static func reencrypt(
        _ base: some ConditionalStorageEngine, with keyset: EncryptionKeyset, collection: String,
        progress: (Int, Int) -> Void
    ) async throws -> (count: Int, errors: [StorageError]) {
        try await base.encrypted(with: keyset, collection: collection).reencrypt(progress: progress)
    }
}
#endif
