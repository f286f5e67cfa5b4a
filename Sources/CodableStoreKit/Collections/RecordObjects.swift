import Bodega
import Foundation
import Logging

/// The objects of one type in a collection of records.
final class RecordObjects<Object: BaseCodableStoreable>: ObjectCollection {

    let core: CollectionCore
    let observers: Observers<Object>

    var records: any RecordCollection { core.records }

    init(_ core: CollectionCore) {
        self.core = core
        observers = core.observers(of: Object.self)
    }

    /// The key of the object with an identifier.
    func key(of identifier: Object.ID) throws -> CacheKey {
        records.key(try IdentifierText.text(of: identifier))
    }

    // MARK: Reading

    func object(_ identifier: Object.ID) throws -> Object? {
        let key = try key(of: identifier)
        if let data = try records.data(of: key) { return try decode(data, key) }
        return try strays()[key]?.object
    }

    func contains(_ identifier: Object.ID) throws -> Bool {
        let key = try key(of: identifier)
        return try records.contains(key) || strays()[key] != nil
    }

    /// Decodes a record.
    func decode(_ data: Data, _ key: CacheKey) throws -> Object {
        do {
            return try Codec<Object>().decode(data, key)
        } catch {
            throw placed(error)
        }
    }

    /// Takes note of a record that can't be decoded, and adds to the error which file it is about. If that can't be found
    /// out, the error is told all the same.
    func placed(_ error: StorageError) -> StorageError {
        var error = error
        if let key = error.key { core.noteUndecodable(key) }
        do {
            if let key = error.key { error.file = try records.file(of: key) }
        } catch let failure {
            codableStoreLogger.debug("A file could not be found.", metadata: ["error": "\(failure)"])
        }
        return error
    }

    // MARK: Writing

    func save(_ objects: [Object]) -> [Outcome<Object>] {
        core.deliveries.begin()
        defer { core.deliveries.end() }
        var results: [Result<StorageOperation, any Error>] = []
        results.reserveCapacity(objects.count)
        let encoded = Codec<Object>().encode(objects)
        for (object, data) in zip(objects, encoded) {
            results.append(Result { .write(key: try key(of: object.codableStoreID), data: try data.get()) })
        }
        let failures = write(objects, results)
        return zip(objects, zip(results, failures)).map { object, outcome in
            let (result, failure) = outcome
            return Outcome(
                identifier: object.codableStoreID,
                result: result.flatMap { _ in failure.map { .failure($0) } ?? .success(object) }
            )
        }
    }

    /// Writes those of the objects that could be encoded, together if possible.
    ///
    /// - Returns: For each object in its place, why it could not be written.
    private func write(_ objects: [Object], _ prepared: [Result<StorageOperation, any Error>]) -> [(any Error)?] {
        var failures = [(any Error)?](repeating: nil, count: objects.count)
        let ready = prepared.indices.filter { if case .success = prepared[$0] { true } else { false } }
        do {
            try write(ready, objects, prepared)
        } catch {
            // One may be to blame, and the others need not suffer. Not so when the medium is locked: then each would wait
            // in vain for as long as all did.
            let isLocked = (error as? StorageError)?.code == .locked
            for index in ready {
                failures[index] = error
                if ready.count == 1 || isLocked { continue }
                do {
                    try write([index], objects, prepared)
                    failures[index] = nil
                } catch {
                    failures[index] = error
                }
            }
        }
        return failures
    }

    private func write(
        _ indices: [Int],
        _ objects: [Object],
        _ prepared: [Result<StorageOperation, any Error>]
    ) throws {
        if indices.isEmpty { return }
        let operations = try indices.map { try prepared[$0].get() }
        // Only looked at by this thread, or by the one that commits while this one waits.
        nonisolated(unsafe) let written = indices.map { objects[$0] }
        let suspects = core.undecodable(among: operations.lazy.compactMap(\.writtenKey))
        nonisolated(unsafe) let strays = try strays()
        nonisolated(unsafe) let this = self
        try records.update { contents in
            try suspects.compactMap { try this.keepingAside($0, contents) } + operations
                + this.removing(strays, replacedBy: operations, contents)
        } committed: { [core, observers] in
            core.forgetUndecodable(suspects)
            for case (let object, .write(let key, let data)) in zip(written, operations) {
                observers.enqueue(.saved(object), .written(key, data))
            }
        }
    }

    /// What keeps a record that can't be decoded, before another takes its place.
    ///
    /// - Returns: The operation, `nil` if it can be decoded by now or is gone.
    private func keepingAside(_ key: CacheKey, _ contents: any RecordContents) throws -> StorageOperation? {
        guard let data = try contents.data(of: key) else { return nil }
        do {
            _ = try Codec<Object>().decode(data, key)
            return nil
        } catch {
            let aside = records.key("\(key.rawValue) (kept aside, \(UUID().uuidString))")
            codableStoreLogger.error(
                "An object is saved in place of a record that can't be decoded. That was kept.",
                metadata: ["key": "\(key)", "aside": "\(aside)", "error": "\(error)"]
            )
            return .write(key: aside, data: data)
        }
    }
}

extension StorageOperation {
    /// The key of a write.
    var writtenKey: CacheKey? {
        if case .write(let key, _) = self { key } else { nil }
    }
}
