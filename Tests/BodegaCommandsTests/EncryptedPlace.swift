#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import Testing

/// A folder with a keyset and an encrypted store with the items a and b.
struct EncryptedPlace {
    let store: String
    let keyset: String
    let folder: URL

    init(_ folder: URL, _ address: (URL) -> String = storeAddresses[0]) async throws {
        (store, keyset) = (address(folder), folder.appendingPathComponent("keyset").path)
        self.folder = folder
        try #require(await bodega("keyset", "create", keyset).status == 0)
        for (key, text) in [("a", #"{"name":"dolly"}"#), ("b", #"{"name":"molly"}"#)] {
            try #require(
                await bodega("put", store, key, "--keyset", keyset, input: Array(text.utf8)).status == 0)
        }
    }

    /// The engine with the encrypted bytes.
    var base: any StorageEngine { get throws { try StorageAddress(parsing: store).open() } }

    /// Flips a bit of an item.
    func damage(_ key: String) async throws {
        var data = try #require(try await base.fetch(key: CacheKey(key)))
        data[data.endIndex - 1] ^= 1
        try await base.write(data, key: CacheKey(key))
    }
}
#endif
