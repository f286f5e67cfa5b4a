#if CommandLineTool
import ArgumentParser

/// The keysets of one of the two stores of a command.
struct PairKeysetOptions<Side: StoreSide>: ParsableArguments {
    @Option(
        name: .customLong("\(Side.name)-keyset"), help: "The file with the keyset of \(Side.store).",
        completion: .file())
    var keyset: String?

    @Option(
        name: .customLong("\(Side.name)-keyset-collection"),
        help: ArgumentHelp(
            "The collection name that is authenticated with its items, if it is not that of its address.",
            valueName: "name"))
    var collection: String?

    @Option(
        name: .customLong("\(Side.name)-keyset-for-keys"),
        help: "The file with the keyset that hides the keys of its items.", completion: .file())
    var forKeys: String?

    func validate() throws {
        if keyset == nil, collection != nil || forKeys != nil {
            let option = "--\(Side.name)-keyset"
            throw ValidationError("\(option)-collection and \(option)-for-keys need \(option).")
        }
    }

    /// Reads the keysets.
    func encryption() throws -> StoreEncryption? {
        try StoreEncryption(keysetFile: keyset, for: forKeys, collection: collection)
    }
}

/// One of the two stores of a command.
protocol StoreSide: Sendable {
    /// The beginning of its options.
    static var name: String { get }
    /// What it is called in their help.
    static var store: String { get }
}

/// The source of `bodega copy`.
enum CopySource: StoreSide {
    static let (name, store) = ("from", "the store to copy")
}

/// The destination of `bodega copy`.
enum CopyDestination: StoreSide {
    static let (name, store) = ("to", "the destination")
}

/// The first store of `bodega diff`.
enum FirstStore: StoreSide {
    static let (name, store) = ("first", "the first store")
}

/// The second store of `bodega diff`.
enum SecondStore: StoreSide {
    static let (name, store) = ("second", "the second store")
}
#endif
