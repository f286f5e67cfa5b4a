import Bodega
import Foundation

/// An object in records whose keys are not its identifier's: files that another program has put there, or what an earlier
/// version of this one has written.
struct Stray<Object> {
    let object: Object
    var keys: [CacheKey]
}

extension RecordObjects {

    /// Whether objects can be under keys that are not their identifiers'. An identifier without a static type had another
    /// text in earlier versions.
    var canHoldStrays: Bool { records.canHoldStrays || hasErasedIdentifiers }

    private var hasErasedIdentifiers: Bool { Object.ID.self == AnyHashable.self }

    /// The objects in files of other names, by the keys of their identifiers.
    ///
    /// The files are looked through once; if there are none, they are looked through again only after reading the
    /// collection has come by one.
    func strays() throws -> [CacheKey: Stray<Object>] {
        if core.hasStrays == false || !canHoldStrays { return [:] }
        let items = try hasErasedIdentifiers ? records.items() : records.strays()
        var strays: [CacheKey: Stray<Object>] = [:]
        for (item, result) in zip(items, Codec<Object>().decode(items)) {
            guard case .success(let object) = result, let own = ownKey(of: object), own != item.key else { continue }
            strays[own, default: Stray(object: object, keys: [])].keys.append(item.key)
        }
        core.hasStrays = !strays.isEmpty
        return strays
    }

    /// Leaves out objects in files of other names where there is one in a file of its own, or another one before.
    func withoutShadowedStrays(_ found: FetchedObjects<Object>) throws -> FetchedObjects<Object> {
        if !canHoldStrays { return found }
        let strayIndices = found.objectsAndKeys.indices.filter { index in
            isStray(found.objectsAndKeys[index].object, under: found.objectsAndKeys[index].key)
        }
        if strayIndices.isEmpty { return found }
        core.hasStrays = true
        var known = Set(found.objectsAndKeys.map(\.key)).subtracting(strayIndices.map { found.objectsAndKeys[$0].key })
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

    /// Whether an object is under another key than the one that it belongs under.
    func isStray(_ object: Object, under key: CacheKey) -> Bool {
        guard let own = ownKey(of: object) else { return false }
        return own != key
    }

    /// What removes the files of other names that hold objects which are saved in files of their own. They would show again
    /// in the place of these otherwise.
    func removing(
        _ strays: [CacheKey: Stray<Object>],
        replacedBy operations: [StorageOperation],
        _ contents: any RecordContents
    ) throws -> [StorageOperation] {
        if strays.isEmpty { return [] }
        let written = Set(operations.compactMap(\.writtenKey))
        return try written.flatMap { own in
            try (strays[own]?.keys ?? []).filter { key in
                // Something else may be there by now, or be about to be.
                guard !written.contains(key), let data = try contents.data(of: key) else { return false }
                guard case .success(let object) = Codec<Object>().decode([(key, data)])[0] else { return false }
                return ownKey(of: object) == own
            }
        }
        .map { .remove(key: $0) }
    }

    /// The key that an object belongs under.
    func ownKey(of object: Object) -> CacheKey? {
        do {
            return try key(of: object.codableStoreID)
        } catch {
            // An object that can't be saved can be read all the same.
            return nil
        }
    }
}
