import Bodega
import Foundation

/// An object in files that another program has added, whose keys are not its identifier's.
struct Stray<Object> {
    let object: Object
    var keys: [CacheKey]
}

/// Stray objects.
struct Strays<Object> {
    /// By the keys of their identifiers.
    private(set) var objects: [CacheKey: Stray<Object>] = [:]
    /// The keys of their records.
    private var recordKeys: Set<CacheKey> = []

    var isEmpty: Bool { objects.isEmpty }

    subscript(own: CacheKey) -> Stray<Object>? { objects[own] }

    mutating func add(_ object: Object, of own: CacheKey, under key: CacheKey) {
        objects[own, default: Stray(object: object, keys: [])].keys.append(key)
        recordKeys.insert(key)
    }

    /// Whether the record under a key is of a stray object.
    func haveRecord(under key: CacheKey) -> Bool { recordKeys.contains(key) }

    /// The keys of the records of an object: its own, unless the record under it is of another one, and others.
    func recordKeys(of own: CacheKey) -> [CacheKey] {
        (haveRecord(under: own) ? [] : [own]) + (objects[own]?.keys ?? [])
    }
}

extension RecordObjects {

    /// Returns the stray objects.
    ///
    /// The records are searched once. Without strays, they are searched again only after a read has found one.
    func strays() throws -> Strays<Object> {
        var strays = Strays<Object>()
        if core.hasStrays == false || !records.canHoldStrays { return strays }
        let items = try records.strays()
        for (item, result) in zip(items, Codec<Object>().decode(items)) {
            guard case .success(let object) = result, let own = ownKey(of: object), own != item.key else { continue }
            strays.add(object, of: own, under: item.key)
        }
        core.hasStrays = !strays.isEmpty
        return strays
    }

    /// Removes each stray whose object is also stored under its own key, or in an earlier stray.
    func withoutShadowedStrays(_ found: FetchedObjects<Object>) throws -> FetchedObjects<Object> {
        if !records.canHoldStrays { return found }
        let strayIndices = found.objectsAndKeys.indices.filter { index in
            isStray(found.objectsAndKeys[index].object, under: found.objectsAndKeys[index].key)
        }
        if strayIndices.isEmpty { return found }
        core.hasStrays = true
        var known = Set(found.objectsAndKeys.map { $0.key })
        known.subtract(strayIndices.map { found.objectsAndKeys[$0].key })
        var shadowed: Set<Int> = []
        for index in strayIndices {
            guard let own = ownKey(of: found.objectsAndKeys[index].object) else { continue }
            if !known.insert(own).inserted { shadowed.insert(index) }
        }
        return FetchedObjects(
            objectsAndKeys: found.objectsAndKeys.indices.filter { !shadowed.contains($0) }.map {
                found.objectsAndKeys[$0]
            },
            undecodable: found.undecodable
        )
    }

    /// Returns whether a key is not the object's own.
    func isStray(_ object: Object, under key: CacheKey) -> Bool {
        guard let own = ownKey(of: object) else { return false }
        return own != key
    }

    /// Returns operations with those that strays need.
    ///
    /// - A stray whose record is replaced by another object is stored under its own key before.
    /// - Strays of objects that are saved under their own keys are removed. They would reappear when the object is
    ///   deleted.
    func operations(
        _ operations: [StorageOperation], among strays: Strays<Object>, in contents: any RecordContents
    ) throws -> [StorageOperation] {
        if strays.isEmpty { return operations }
        let written = Set(operations.compactMap(\.writtenKey))
        let moved = try strays.objects.compactMap { own, stray -> StorageOperation? in
            guard !written.contains(own), let key = stray.keys.first(where: written.contains),
                let data = try data(under: key, of: own, contents), try contents.data(of: own) == nil
            else { return nil }
            return .write(key: own, data: data)
        }
        let removed = try written.flatMap { own in
            try (strays[own]?.keys ?? []).filter { key in
                try !written.contains(key) && data(under: key, of: own, contents) != nil
            }
        }
        return moved + operations + removed.map { .remove(key: $0) }
    }

    /// Returns the record under a key if it is that of a stray object. It may have been replaced since the strays were
    /// read.
    private func data(under key: CacheKey, of own: CacheKey, _ contents: any RecordContents) throws -> Data? {
        guard let data = try contents.data(of: key),
            case .success(let object) = Codec<Object>().decode([(key, data)])[0]
        else { return nil }
        return ownKey(of: object) == own ? data : nil
    }

    /// Returns the key of an object's identifier, or `nil` if it has none.
    func ownKey(of object: Object) -> CacheKey? {
        do {
            return try key(of: object.codableStoreID)
        } catch {
            // The object cannot be saved again, but it can be read.
            return nil
        }
    }
}
