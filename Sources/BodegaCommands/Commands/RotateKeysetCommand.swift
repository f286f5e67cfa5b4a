#if CommandLineTool
import ArgumentParser
import Bodega

/// `bodega keyset rotate`.
struct RotateKeysetCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Add a key to a keyset, and re-encrypt all items of a store with it.",
        discussion: """
            The new key is first added to the file, which is replaced atomically, so that the file can decrypt all \
            items at any moment. Then the items are re-encrypted in atomic batches. An item that another program \
            writes at the same time is not replaced by an older version of it. Programs that have read the keyset \
            before can't read the re-encrypted items: end them first, and start them with the new file. Only one \
            rotation of a keyset runs at a time.

            If the store is synchronized, the re-encrypted items are sent as changes. Encrypted items can't be merged: \
            where others have changed one since the last synchronization, one of the two is taken, and the other is \
            kept, see bodega help outbox conflicts. So synchronize all devices before.

            After an interruption, --resume re-encrypts the rest without another new key. If several collections or \
            stores share the keyset, run the command with --resume for each of the others.

            With --remove-old-keys, items are re-encrypted until none needs an old key. Then the old keys are removed, \
            unless an item of any collection of the same file or database still needs one. Other files and databases \
            are not examined, and an item that a program writes with an old key afterwards can't be decrypted: end the \
            programs that have not read the new file. Backups that need the old keys can't be decrypted with the file \
            any more, either: keep a copy of the keyset with them.

            Items that can't be decrypted stay as they are and are listed, with exit status 1. The keyset that hides \
            keys can't be rotated; copy the items into another store instead.

            EXAMPLES:
              bodega keyset rotate notes.db --keyset notes.keyset
              bodega keyset rotate notes.db --keyset notes.keyset --resume --remove-old-keys
            """)

    @Argument(
        help: "The store: sqlite:PATH, postgres://… or https://…, with #COLLECTION, or a path.", completion: .file())
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

    @OptionGroup var token: TokenOptions
    @OptionGroup var reporting: ReportingOptions

    func run(on console: Console) async throws {
        let address = try StorageAddress(argument: store)
        if removeOldKeys, address.engine == .server {
            throw ToolError(
                .usage,
                """
                --remove-old-keys is for files and databases: a server does not say which other collections need the \
                old keys.
                """)
        }
        let token = try token.token(for: address, console.environment)
        let file = try LockedKeysetFile(path: keyset)
        var keys = try file.read()
        let encryption = StoreEncryption(keyset: keys, collection: keysetCollection)
        try await address.openExisting(token: token).decrypting(with: encryption).use { store in
            guard store.base.traits.contains(.conditional) else {
                throw ToolError(
                    .usage,
                    """
                    The items of this store can't be re-encrypted in place. Copy them into a new one with: bodega copy \
                    \(address) NEW-STORE --from-keyset OLD --to-keyset NEW
                    """)
            }
            if !quiet { try await store.noteOtherCollections("re-encrypted", on: console) }
            try await store.checkEncryption(hasHiddenKeys: true)
            if !resume {
                try keys.makePrimary(keys.addKey())
                try file.replace(with: keys)
            }
            let count = try await reencrypt(store.base, with: keys, at: address, on: console)
            var (failure, removed): (ToolError?, Int) = (nil, 0)
            if removeOldKeys {
                let old = Set(keys.keyIDs).subtracting([keys.primaryKeyID])
                failure = try await store.need(forKeys: old)
                if failure == nil {
                    for id in old { try keys.removeKey(id) }
                    try file.replace(with: keys)
                    removed = old.count
                }
            }
            if !quiet { try console.output.write(Self.result(count, keys, removed: removed)) }
            if let failure { throw failure }
        }
    }

    /// Re-encrypts all items, and counts them. Before old keys are removed, it is repeated until no item needs one.
    private func reencrypt(
        _ base: any StorageBackend, with keyset: EncryptionKeyset, at address: StorageAddress,
        on console: Console
    ) async throws -> Int {
        let engine = base.encrypted(with: keyset, collection: keysetCollection ?? address.collection ?? "")
        var count = 0
        for _ in 0..<10 {
            var bar = ProgressBar(console: console, isQuiet: quiet)
            let result = try await engine.reencrypt { bar.update(items: $0, done: $0, of: $1) }
            bar.clear()
            count += result.count
            let unreadable = UnreadableItems()
            result.errors.forEach(unreadable.add)
            try unreadable.check("could not be re-encrypted, all others were. The keyset has all its keys")
            if !removeOldKeys || result.count == 0 { return count }
        }
        throw ToolError(
            .failure,
            """
            Another program still encrypts items with an old key, so the old keys were kept. End it, and run the \
            command again with --resume.
            """)
    }

    private static func result(_ count: Int, _ keys: EncryptionKeyset, removed: Int) -> String {
        let parts = [
            "\(Counted.text(count, "item")) re-encrypted with key \(keys.primaryKeyID)",
            removed == 0 ? nil : "\(Counted.text(removed, "old key")) removed",
            keys.keyIDs.count == 1 ? nil : "\(Counted.text(keys.keyIDs.count - 1, "old key")) kept",
        ]
        return parts.compactMap { $0 }.joined(separator: ", ") + "\n"
    }
}
#endif
