package import Bodega
import Foundation

/// Looks for everything that can be wrong with a store.
package struct Verification: Sendable {
    /// What was found.
    package private(set) var findings: [StorageFinding] = []
    /// How many items were read.
    package private(set) var count = 0
    /// Whether items that are not JSON are a problem.
    private let expectsJSON: Bool

    /// Nothing was found yet.
    ///
    /// - Parameter expectsJSON: Whether items that are not JSON are a problem.
    package init(expectsJSON: Bool) {
        self.expectsJSON = expectsJSON
    }

    /// Whether something is wrong.
    package var hasProblems: Bool { findings.contains { $0.severity == .problem } }

    /// Examines a store and reads all its items, of all collections.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - onItems: Is told how many items were read so far, of how many.
    package mutating func run(_ store: OpenStore, onItems: (Int, Int) throws -> Void) async throws {
        if let engine = store.engine as? any ExaminableStorageEngine { findings += try await engine.examine() }
        try await read(store.engine, named: store.address.collection, onItems)
        guard store.address.collection == nil, let names = try await store.collectionNames() else { return }
        for name in names {
            do {
                try await read(try await store.collection(named: name), named: name, onItems)
            } catch let error as StorageError where error.code == .cannotOpen {
                // That its table is missing was found before.
                continue
            }
        }
    }

    /// Adds what can't even be opened.
    package mutating func add(_ error: StorageError) {
        findings.append(StorageFinding(.problem, "\(error.code): \(error.message)", key: error.key, file: error.file))
    }

    /// Adds what keeps the store from being examined.
    package mutating func add(_ error: ToolError) {
        findings.append(StorageFinding(.problem, error.message))
    }

    private mutating func read(
        _ engine: any StorageEngine,
        named name: String?,
        _ onItems: (Int, Int) throws -> Void
    ) async throws {
        let place = name.map { " of the collection \"\($0)\"" } ?? ""
        do {
            let keys = try await engine.fetchKeys()
            let before = count
            if Set(keys).count < keys.count {
                findings.append(
                    StorageFinding(.problem, "There are several items\(place) under one key. Restore a backup."))
            }
            for try await batch in ItemBatches(of: keys, in: engine) {
                for (key, data) in batch where expectsJSON && !Self.isJSON(data) {
                    findings.append(StorageFinding(.problem, "The item\(place) is not JSON.", key: key))
                }
                count += batch.count
                try onItems(count, before + keys.count)
            }
        } catch let error as StorageError {
            var finding = StorageFinding(
                .problem, "Not all items\(place) can be read: \(error.message)", key: error.key)
            finding.file = error.file
            findings.append(finding)
        }
    }

    private static func isJSON(_ data: Data) -> Bool {
        data.withUnsafeBytes { isValidUTF8($0) && JSONScanner.document($0) != nil }
    }
}
