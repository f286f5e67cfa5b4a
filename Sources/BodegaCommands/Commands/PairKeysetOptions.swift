#if CommandLineTool
import ArgumentParser

/// The keysets of the two stores of `bodega copy`.
struct CopyKeysetOptions: ParsableArguments {
    @Option(help: "The file with the keyset of the store to copy.", completion: .file())
    var fromKeyset: String?

    @Option(
        help: ArgumentHelp(
            "The collection name that is authenticated with its items, if it is not that of its address.",
            valueName: "name"))
    var fromKeysetCollection: String?

    @Option(help: "The file with the keyset that hides the keys of its items.", completion: .file())
    var fromKeysetForKeys: String?

    @Option(help: "The file with the keyset of the destination.", completion: .file())
    var toKeyset: String?

    @Option(
        help: ArgumentHelp(
            "The collection name that is authenticated with its items, if it is not that of its address.",
            valueName: "name"))
    var toKeysetCollection: String?

    @Option(help: "The file with the keyset that hides the keys of its items.", completion: .file())
    var toKeysetForKeys: String?

    func validate() throws {
        if fromKeyset == nil, fromKeysetCollection != nil || fromKeysetForKeys != nil {
            throw ValidationError("--from-keyset-collection and --from-keyset-for-keys need --from-keyset.")
        }
        if toKeyset == nil, toKeysetCollection != nil || toKeysetForKeys != nil {
            throw ValidationError("--to-keyset-collection and --to-keyset-for-keys need --to-keyset.")
        }
    }

    /// Reads the keysets of the source.
    func from() throws -> StoreEncryption? {
        try StoreEncryption(keysetFile: fromKeyset, for: fromKeysetForKeys, collection: fromKeysetCollection)
    }

    /// Reads the keysets of the destination.
    func to() throws -> StoreEncryption? {
        try StoreEncryption(keysetFile: toKeyset, for: toKeysetForKeys, collection: toKeysetCollection)
    }
}

/// The keysets of the two stores of `bodega diff`.
struct DiffKeysetOptions: ParsableArguments {
    @Option(help: "The file with the keyset of the first store.", completion: .file())
    var firstKeyset: String?

    @Option(
        help: ArgumentHelp(
            "The collection name that is authenticated with its items, if it is not that of its address.",
            valueName: "name"))
    var firstKeysetCollection: String?

    @Option(help: "The file with the keyset that hides the keys of its items.", completion: .file())
    var firstKeysetForKeys: String?

    @Option(help: "The file with the keyset of the second store.", completion: .file())
    var secondKeyset: String?

    @Option(
        help: ArgumentHelp(
            "The collection name that is authenticated with its items, if it is not that of its address.",
            valueName: "name"))
    var secondKeysetCollection: String?

    @Option(help: "The file with the keyset that hides the keys of its items.", completion: .file())
    var secondKeysetForKeys: String?

    func validate() throws {
        if firstKeyset == nil, firstKeysetCollection != nil || firstKeysetForKeys != nil {
            throw ValidationError("--first-keyset-collection and --first-keyset-for-keys need --first-keyset.")
        }
        if secondKeyset == nil, secondKeysetCollection != nil || secondKeysetForKeys != nil {
            throw ValidationError("--second-keyset-collection and --second-keyset-for-keys need --second-keyset.")
        }
    }

    /// Reads the keysets of the first store.
    func first() throws -> StoreEncryption? {
        try StoreEncryption(keysetFile: firstKeyset, for: firstKeysetForKeys, collection: firstKeysetCollection)
    }

    /// Reads the keysets of the second store.
    func second() throws -> StoreEncryption? {
        try StoreEncryption(keysetFile: secondKeyset, for: secondKeysetForKeys, collection: secondKeysetCollection)
    }
}
#endif
