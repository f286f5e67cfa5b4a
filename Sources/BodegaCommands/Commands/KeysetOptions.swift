#if CommandLineTool
import ArgumentParser
import Bodega
import Foundation

/// The keyset of an encrypted store.
struct KeysetOptions: ParsableArguments {
    @Option(
        help: "The file with the keyset of an encrypted store; by default the JSON in the variable BODEGA_KEYSET.",
        completion: .file())
    var keyset: String?

    @Option(
        help: ArgumentHelp(
            "The collection name that is authenticated with the items, if it is not that of the store's address.",
            valueName: "name"))
    var keysetCollection: String?

    @Option(help: "The file with the keyset that hides the keys of the items, if they are hidden.", completion: .file())
    var keysetForKeys: String?

    /// Whether the user has given a keyset, which may be invalid.
    func isGiven(_ environment: [String: String]) -> Bool { keyset != nil || environment["BODEGA_KEYSET"] != nil }

    /// Reads the keysets, `nil` if the store is not encrypted.
    func encryption(_ environment: [String: String]) throws -> StoreEncryption? {
        let encryption = try StoreEncryption(keysetFile: keyset, for: keysetForKeys, collection: keysetCollection)
        if let encryption { return encryption }
        guard let json = environment["BODEGA_KEYSET"] else {
            if keysetCollection != nil || keysetForKeys != nil {
                throw ToolError(.usage, "--keyset-collection and --keyset-for-keys need a keyset. Give --keyset FILE.")
            }
            return nil
        }
        guard json.first(where: { !$0.isWhitespace }) == "{" else {
            let what = json.isEmpty ? "is empty" : "does not contain the JSON of a keyset"
            throw ToolError(
                .failure, "The variable BODEGA_KEYSET \(what). Unset it, and name the file with: --keyset FILE")
        }
        return try StoreEncryption(
            keyset: KeysetFile.keyset(Data(json.utf8), from: "The variable BODEGA_KEYSET"),
            keysetForKeys: keysetForKeys.map { try KeysetFile(path: $0).read() }, collection: keysetCollection
        ).checked()
    }
}

extension StoreEncryption {

    /// Reads keysets from files, `nil` if no file is named for the items.
    init?(keysetFile: String?, for keysFile: String?, collection: String?) throws {
        guard let keysetFile else { return nil }
        self.init(
            keyset: try KeysetFile(path: keysetFile).read(),
            keysetForKeys: try keysFile.map { try KeysetFile(path: $0).read() }, collection: collection)
        self = try checked()
    }

    /// Checks that the two keysets are not the same.
    fileprivate func checked() throws -> StoreEncryption {
        guard let keysetForKeys, keysetForKeys.sharesKey(with: keyset) else { return self }
        throw ToolError(
            .failure,
            """
            The keyset for keys has a key of the keyset for items. Use one of its own, because it must never be \
            rotated: bodega keyset create FILE
            """)
    }
}
#endif
