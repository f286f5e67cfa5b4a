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

    /// Reads the keysets.
    ///
    /// - Returns: `nil` if the store is not encrypted.
    func encryption(_ environment: [String: String]) throws -> StoreEncryption? {
        let encryption = try StoreEncryption(keysetFile: keyset, for: keysetForKeys, collection: keysetCollection)
        if let encryption { return encryption }
        guard let json = environment["BODEGA_KEYSET"], !json.isEmpty else {
            if keysetCollection != nil || keysetForKeys != nil {
                throw ToolError(.usage, "--keyset-collection and --keyset-for-keys need a keyset. Give --keyset FILE.")
            }
            return nil
        }
        return StoreEncryption(
            keyset: try KeysetFile.keyset(Data(json.utf8), from: "The variable BODEGA_KEYSET"),
            keysetForKeys: try keysetForKeys.map { try KeysetFile(path: $0).read() }, collection: keysetCollection)
    }
}

extension StoreEncryption {

    /// Reads keysets from files.
    ///
    /// - Returns: `nil` if no file is named for the items.
    init?(keysetFile: String?, for keysFile: String?, collection: String?) throws {
        guard let keysetFile else { return nil }
        self.init(
            keyset: try KeysetFile(path: keysetFile).read(),
            keysetForKeys: try keysFile.map { try KeysetFile(path: $0).read() }, collection: collection)
    }
}
#endif
