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

    /// Returns the key of the object with an identifier.
    func key(of identifier: Object.ID) throws -> CacheKey {
        records.key(try IdentifierText.text(of: identifier))
    }

    // MARK: Reading

    func object(_ identifier: Object.ID) throws -> Object? {
        let key = try key(of: identifier)
        if let data = try records.data(of: key) {
            let object = try decode(data, key)
            if !records.canHoldStrays || !isStray(object, under: key) { return object }
            core.hasStrays = true
        }
        return try strays()[key]?.object
    }

    func contains(_ identifier: Object.ID) throws -> Bool {
        let key = try key(of: identifier)
        guard try records.contains(key) else { return try strays()[key] != nil }
        let strays = try strays()
        return strays[key] != nil || !strays.haveRecord(under: key)
    }

    /// Decodes a record.
    func decode(_ data: Data, _ key: CacheKey) throws -> Object {
        do {
            return try Codec<Object>().decode(data, key)
        } catch {
            throw noted(error)
        }
    }

    /// Remembers that a record cannot be decoded, and adds the record's file to the error. If the file cannot be found,
    /// the error is returned without it.
    func noted(_ error: StorageError) -> StorageError {
        var error = error
        if let key = error.key { core.noteUndecodable(key) }
        do {
            if let key = error.key { error.file = try records.file(of: key) }
        } catch let failure {
            codableStoreLogger.debug("The file of a record could not be found.", metadata: ["error": "\(failure)"])
        }
        return error
    }

    func prepareToObserve() throws { try records.prepareToFollow() }

    // MARK: Writing

    func transaction<Value>(_ body: () throws -> Value) throws -> Value { try records.transaction(body) }

    func removeAll() throws {
        try core.operating {
            try records.removeAll { [core, observers] items in
                core.forgetUndecodable(Set(items.map(\.key)))
                for (key, data) in items {
                    observers.enqueue(.removed(key, data))
                    core.enqueue(.removed(key, data), except: observers)
                }
            }
        }
    }

    func save(_ objects: [Object]) -> [Outcome<Object>] { core.operating { saved(objects) } }

    private func saved(_ objects: [Object]) -> [Outcome<Object>] {
        var writes: [Result<StorageOperation, any Error>] = []
        writes.reserveCapacity(objects.count)
        for (object, data) in zip(objects, Codec<Object>().encode(objects)) {
            writes.append(Result { .write(key: try key(of: object.codableStoreID), data: try data.get()) })
        }
        let ready = writes.indices.filter { if case .success = writes[$0] { true } else { false } }
        let failures = errors(inBatch: ready) { try write($0, objects, writes) }
        for case (let index, let failure?) in zip(ready, failures) { writes[index] = .failure(failure) }
        return zip(objects, writes).map { object, result in
            Outcome(identifier: object.codableStoreID, result: result.map { _ in object })
        }
    }

    private func write(
        _ indices: [Int],
        _ objects: [Object],
        _ writes: [Result<StorageOperation, any Error>]
    ) throws {
        if indices.isEmpty { return }
        let operations = try indices.map { try writes[$0].get() }
        // Used only by this thread, and by the thread that commits while this one waits.
        nonisolated(unsafe) let written = indices.map { objects[$0] }
        let suspects = core.undecodable(among: operations.lazy.compactMap(\.writtenKey))
        nonisolated(unsafe) let strays = try strays()
        nonisolated(unsafe) let this = self
        try records.update { contents in
            try suspects.compactMap { try this.keepingAside($0, contents) }
                + this.operations(operations, among: strays, in: contents)
        } committed: { [core, observers] in
            core.forgetUndecodable(suspects)
            for case (let object, .write(let key, let data)) in zip(written, operations) {
                observers.enqueue(.saved(object), .written(key, data))
                core.enqueue(.written(key, data), except: observers)
            }
        }
    }

    /// Returns the operation that copies an undecodable record to another key before it is replaced, or `nil` if the
    /// record has become decodable or is gone.
    private func keepingAside(_ key: CacheKey, _ contents: any RecordContents) throws -> StorageOperation? {
        guard let data = try contents.data(of: key) else { return nil }
        do {
            _ = try Codec<Object>().decode(data, key)
            return nil
        } catch {
            let aside = records.key("\(key.rawValue) (kept aside, \(UUID().uuidString))")
            codableStoreLogger.error(
                "A saved object replaces a record that cannot be decoded. The old record is kept under another key.",
                metadata: ["key": "\(key)", "aside": "\(aside)", "error": "\(error)"]
            )
            return .write(key: aside, data: data)
        }
    }
}

extension StorageOperation {
    /// The key of a write, `nil` for other operations.
    var writtenKey: CacheKey? {
        if case .write(let key, _) = self { key } else { nil }
    }
}
