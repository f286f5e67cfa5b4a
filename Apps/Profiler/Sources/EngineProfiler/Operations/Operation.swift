/// An operation to measure.
///
/// The raw values are the names on the command line and in the results.
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

    /// The groups of operations in a report.
    enum Group: String, CaseIterable, Sendable {
        case changing = "Writing"
        case looking = "Reading"
        case everything = "All items"
        case store = "Stores"
    }

    /// The group of the operation.
    var group: Group {
        switch self {
        case .write, .writeBatch, .update, .remove, .removeBatch: .changing
        case .read, .readMissing, .readBatch, .exists, .mixed: .looking
        case .readAll, .keys, .count: .everything
        case .storeInsert, .storeInsertBatch, .storeUpdate, .storeRemove, .storeLookup, .storeLoad: .store
        }
    }

    /// Whether a call handles all items, so that its time is expected to grow with their number.
    var isAboutAllItems: Bool {
        switch self {
        case .readAll, .keys, .count, .storeLoad: true
        default: false
        }
    }

    /// A description of one call.
    ///
    /// - Parameter batch: The number of items in a batch; `nil` if it differs between runs.
    func summary(batch: Int?) -> String {
        let several = batch.map(Quantity.whole) ?? "several"
        return switch self {
        case .write: "writes a new item"
        case .writeBatch: "writes \(several) new items with one call"
        case .update: "overwrites an item"
        case .remove: "removes an item"
        case .removeBatch: "removes \(several) items with one call"
        case .read: "reads an item"
        case .readMissing: "requests a missing item"
        case .readBatch: "reads \(several) items with one call"
        case .exists: "checks that an item exists"
        case .mixed: "reads an item; one call in five overwrites it"
        case .readAll: "reads all items with their keys"
        case .keys: "lists all keys"
        case .count: "counts the items"
        case .storeInsert: "inserts a new item into a Store"
        case .storeInsertBatch: "inserts \(several) new items into a Store with one call"
        case .storeUpdate: "changes an item of a Store"
        case .storeRemove: "removes an item from a Store"
        case .storeLookup: "finds an item of a Store by its identifier, in memory"
        case .storeLoad: "creates a Store and loads all items"
        }
    }

    /// The operations of engines.
    static let ofEngines = allCases.filter { $0.group != .store }

    /// The operations of stores.
    static let ofTheStore = allCases.filter { $0.group == .store }
}
