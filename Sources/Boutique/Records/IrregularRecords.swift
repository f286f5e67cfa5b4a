import Bodega

/// The records of a store that are not simply an item under its own key.
struct IrregularRecords: Sendable {

    /// The records that could not be decoded, numbered in their order.
    private var undecodableRecords: [CacheKey: (number: Int, error: StorageError)] = [:] {
        didSet { revision += 1 }
    }
    private var nextNumber = 0
    private var hasVerbatimKeys = false

    /// Grows with each change.
    private(set) var revision = 0

    /// The keys of records that hold an item which belongs under another key, by that other key. Other programs leave
    /// such records, and so does a store whose items were identified by something else before.
    private(set) var strays: [CacheKey: [CacheKey]] = [:] {
        didSet { revision += 1 }
    }

    /// Whether there are none, as nearly always.
    var isEmpty: Bool { undecodableRecords.isEmpty && strays.isEmpty }

    /// Whether all records could be decoded.
    var isDecodable: Bool { undecodableRecords.isEmpty }

    /// One error for each record that could not be decoded, in the order of the records, with its key.
    var undecodable: [StorageError] {
        undecodableRecords.values.sorted { $0.number < $1.number }.map(\.error)
    }

    /// Adds a record that could not be decoded.
    mutating func add(undecodable error: StorageError) {
        guard let key = error.key else { return }
        undecodableRecords[key] = (nextNumber, error)
        nextNumber += 1
        if key.kind == .verbatim { hasVerbatimKeys = true }
    }

    /// Forgets a record that could not be decoded.
    mutating func remove(undecodable key: CacheKey) {
        undecodableRecords[key] = nil
    }

    /// The key of the undecodable record that a write under another key would replace, if there is one.
    func undecodableKey(replacedBy key: CacheKey) -> CacheKey? {
        if isDecodable { return nil }
        if undecodableRecords[key] != nil { return key }
        // The first Bodega named files by a key's value, which is all that is known of such keys.
        guard hasVerbatimKeys else { return nil }
        let name = CacheKey(verbatim: key.value)
        return undecodableRecords[name] != nil ? name : nil
    }

    /// Whether a record could not be decoded.
    func isUndecodable(_ key: CacheKey) -> Bool {
        undecodableRecords[key] != nil
    }

    /// Adds a record that holds an item of another key.
    mutating func add(stray: CacheKey, of key: CacheKey) {
        strays[key, default: []].append(stray)
    }

    /// Forgets the other records of an item, because it is about to be written or removed.
    ///
    /// - Returns: The keys of those records.
    mutating func takeStrays(of key: CacheKey) -> [CacheKey] {
        strays[key] == nil ? [] : strays.removeValue(forKey: key) ?? []
    }

    /// Forgets the other records of all items.
    mutating func removeStrays() {
        if !strays.isEmpty { strays = [:] }
    }
}

extension CacheKey {
    /// Whether a record under this key is at the right place for an item that belongs under another key.
    func isHome(of key: CacheKey) -> Bool {
        self == key || kind == .verbatim && rawValue == key.value
    }
}
