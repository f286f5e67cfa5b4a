import Bodega
import Foundation
import RecordCoder

/// Examines a store for damage.
struct Verification: Sendable {
    private(set) var findings: [StorageFinding] = []
    /// The number of items read.
    private(set) var count = 0
    /// The number of items that seem to be encrypted and were read without a keyset.
    private(set) var encrypted = 0
    /// Whether there are items that the keyset can't decrypt.
    private(set) var needsOtherKeyset = false
    /// The number of problems that say nothing about the store, because it could not be reached.
    private var interruptions = 0
    /// Whether an item that is not JSON is a problem.
    private let expectsJSON: Bool

    init(expectsJSON: Bool) { self.expectsJSON = expectsJSON }

    /// Whether there is a problem among the findings.
    var hasProblems: Bool { findings.contains { $0.severity == .problem } }

    /// Whether all problems are that the store could not be reached.
    var isOnlyInterrupted: Bool { findings.count { $0.severity == .problem } == interruptions }

    /// Examines a store and reads all its items, of all collections.
    ///
    /// - Parameter onItems: Called with the number of items read so far, and the total number.
    mutating func run(_ store: OpenStore, onItems: (Int, Int) throws -> Void) async throws {
        findings += try await store.base.examine()
        let isEncrypted = store.encryption != nil
        try await read(store.engine, named: store.address.collection, isDecrypting: isEncrypted, onItems)
        try await findDangling(in: store.engine, named: store.address.collection, store)
        guard store.address.collection == nil, let names = try await store.collectionNames() else { return }
        for name in names {
            do {
                let collection = try await store.collection(named: name)
                try await read(collection, named: name, isDecrypting: isEncrypted, onItems)
                try await findDangling(in: collection, named: name, store)
            } catch let error as StorageError where error.code == .cannotOpen {
                // The missing table is already among the findings.
                continue
            }
        }
    }

    /// Adds the error of a store that can't be opened.
    mutating func add(_ error: StorageError) {
        findings.append(StorageFinding(.problem, "\(error.code): \(error.message)", key: error.key, file: error.file))
    }

    /// Adds the error that prevents the examination.
    mutating func add(_ error: ToolError) { findings.append(StorageFinding(.problem, error.message)) }

    /// Adds the references to items that don't exist.
    private mutating func findDangling(
        in engine: any StorageBackend, named name: String?, _ store: OpenStore
    ) async throws {
        do {
            let place = Self.place(name)
            let found = Locked<[StorageFinding]>([])
            try await engine.atOneMoment {
                let findings = try await DanglingReferences.find(in: engine, place) { name, body in
                    try await store.withCollection(named: name, body)
                }
                found.withLock { $0 = findings }
            }
            findings += found.withLock { $0 }
        } catch let error as StorageError where store.address.engine == .server && error.code == .cannotOpen {
            // The client may not see the collection that the references lead to.
            findings.append(
                StorageFinding(.remark, "The references\(Self.place(name)) can't be examined: \(error.message)"))
        } catch let error as StorageError {
            add(error, "The references\(Self.place(name)) can't be examined")
        }
    }

    /// Adds the error that ends a part of the examination.
    private mutating func add(_ error: StorageError, _ message: String) {
        if StorageRetryPolicy.isTemporary(error) { interruptions += 1 }
        findings.append(
            StorageFinding(.problem, "\(message): \(error.message)", key: error.key, file: error.file))
    }

    private static func place(_ name: String?) -> String { name.map { " of the collection \"\($0)\"" } ?? "" }

    private mutating func read(
        _ engine: any StorageBackend,
        named name: String?,
        isDecrypting: Bool,
        _ onItems: (Int, Int) throws -> Void
    ) async throws {
        let place = Self.place(name)
        do {
            let keys = try await engine.fetchKeys()
            let before = count
            if Set(keys).count < keys.count {
                findings.append(
                    StorageFinding(.problem, "Several items\(place) have the same key. Restore a backup."))
            }
            let unreadable = UnreadableItems()
            defer {
                if unreadable.all.contains(where: \.isOfKeyset) { needsOtherKeyset = true }
                findings += unreadable.all.map { error in
                    StorageFinding(.problem, "The item\(place) can't be read: \(error.message)", key: error.key)
                }
            }
            for try await batch in ItemBatches(of: keys, in: engine, unreadable: unreadable) {
                if !isDecrypting { encrypted += batch.count { EncryptedItem.hasForm($0.data) } }
                for item in batch where expectsJSON && !Self.isJSON(item.data) {
                    findings.append(StorageFinding(.problem, "The item\(place) is not JSON.", key: item.key))
                }
                count += batch.count
                try onItems(count, before + keys.count)
            }
        } catch let error as StorageError {
            // A right that a server does not give says nothing about the store.
            if error.code == .permissionDenied, error.file == nil { throw error }
            add(error, "Not all items\(place) can be read")
        }
    }

    private static func isJSON(_ data: Data) -> Bool {
        data.withUnsafeBytes { isValidUTF8($0) && JSONScanner.document($0) != nil }
    }
}
