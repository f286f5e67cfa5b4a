import Bodega
import Foundation

extension OutboxStorage {

    /// What is stored about the remote database.
    struct SyncPlace: Codable, Hashable {
        /// The cursors in the logs of the collections. The names are in ASCII, which has one spelling.
        private var cursors: [String: StorageCursor] = [:]
        /// The requests without an outcome.
        var requests: [SentRequest] = []
        /// The number of pulls that have stored something. A pull is not stored if another one was since it began: it
        /// can be older.
        var pulls = 0
        /// The collections whose items from before they were synchronized are in the outbox.
        private var adopted: Set<String> = []
        /// Those whose items are being written to the outbox; `nil` in places of earlier versions.
        private var adopting: Set<String>?
        /// What a program has noted about the remote database, to recognize it.
        var remote: String?

        /// The place in the log of a collection; `nil` if it has none.
        func cursor(of collection: String) -> StorageCursor? {
            cursors[collection.inASCII].flatMap { $0 == Self.noCursor ? nil : $0 }
        }

        /// Whether a pull of a collection has been stored.
        func hasPulled(_ collection: String) -> Bool { cursors[collection.inASCII] != nil }

        mutating func move(_ collection: String, to cursor: StorageCursor?) {
            cursors[collection.inASCII] = cursor ?? Self.noCursor
        }

        /// Stands for a place in a remote database without a log.
        private static let noCursor = StorageCursor(rawValue: "")

        func hasAdopted(_ collection: String) -> Bool { adopted.contains(collection.inASCII) }

        /// The names of the collections whose changes are noted.
        var collections: Set<String> {
            Set(adopted.union(adopting ?? []).compactMap(\.removingPercentEncoding))
        }

        /// Whether all changes of a collection have to be noted.
        func notesChanges(of collection: String) -> Bool {
            hasAdopted(collection) || adopting?.contains(collection.inASCII) == true
        }

        mutating func beginToAdopt(_ collection: String) { adopting = (adopting ?? []).union([collection.inASCII]) }

        mutating func adopt(_ collection: String) {
            adopted.insert(collection.inASCII)
            adopting?.remove(collection.inASCII)
            if adopting?.isEmpty == true { adopting = nil }
        }
    }
}

extension String {
    /// The text in ASCII, another one for each other text.
    fileprivate var inASCII: String {
        utf8.map { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%")
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
