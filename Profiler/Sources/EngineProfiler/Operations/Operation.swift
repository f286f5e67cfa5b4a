/// What is measured.
///
/// The raw values are the names on the command line and in results.
enum Operation: String, CaseIterable, Codable, Sendable {
    case write
    case writeBatch = "write-batch"
    case update
    case remove
    case removeBatch = "remove-batch"
    case read
    case readMissing = "read-missing"
    case readBatch = "read-batch"
    case exists
    case mixed
    case readAll = "read-all"
    case keys
    case count
    case storeInsert = "store-insert"
    case storeInsertBatch = "store-insert-batch"
    case storeUpdate = "store-update"
    case storeRemove = "store-remove"
    case storeLookup = "store-lookup"
    case storeLoad = "store-load"

    /// Operations that belong together in a report.
    enum Group: String, CaseIterable, Sendable {
        case changing = "Changing"
        case looking = "Looking up"
        case everything = "Everything at once"
        case store = "The store"
    }

    /// Where the operation belongs.
    var group: Group {
        switch self {
        case .write, .writeBatch, .update, .remove, .removeBatch: .changing
        case .read, .readMissing, .readBatch, .exists, .mixed: .looking
        case .readAll, .keys, .count: .everything
        case .storeInsert, .storeInsertBatch, .storeUpdate, .storeRemove, .storeLookup, .storeLoad: .store
        }
    }

    /// Whether a call is about all items that there are, so that it is expected to take longer the more there are.
    var isAboutAllItems: Bool {
        switch self {
        case .readAll, .keys, .count, .storeLoad: true
        default: false
        }
    }

    /// What one call does.
    ///
    /// - Parameter batch: How many items a call for several handles; `nil` if that differs.
    func summary(batch: Int?) -> String {
        let several = batch.map(Quantity.whole) ?? "several"
        return switch self {
        case .write: "writes a new item"
        case .writeBatch: "writes \(several) new items with one call"
        case .update: "overwrites an item"
        case .remove: "removes an item"
        case .removeBatch: "removes \(several) items with one call"
        case .read: "reads an item"
        case .readMissing: "asks for an item that is not there"
        case .readBatch: "reads \(several) items with one call"
        case .exists: "asks whether an item exists"
        case .mixed: "reads an item, one time in five overwrites it"
        case .readAll: "reads all items with their keys"
        case .keys: "lists all keys"
        case .count: "counts the items"
        case .storeInsert: "inserts a new item into a Store"
        case .storeInsertBatch: "inserts \(several) new items into a Store with one call"
        case .storeUpdate: "changes an item of a Store"
        case .storeRemove: "removes an item from a Store"
        case .storeLookup: "finds an item of a Store by its identifier, in memory"
        case .storeLoad: "makes a Store and loads all items"
        }
    }

    /// The operations of engines.
    static let ofEngines = allCases.filter { $0.group != .store }

    /// The operations of the store.
    static let ofTheStore = allCases.filter { $0.group == .store }
}
