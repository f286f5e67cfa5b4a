import Foundation

/// What a mirror says about itself, in an item of its own.
enum MirrorMark: String, Sendable {
    /// The mirror is equal to the base.
    case complete
    /// The mirror has all writes that have returned, but may lack one that has thrown.
    case outdated
    /// The mirror may lack a write that has returned.
    case incomplete

    static let key = CacheKey(verbatim: "emporium.mirror")

    /// Reads a mark. Unknown data don't say that the mirror is complete.
    init(_ data: Data) {
        self = MirrorMark(rawValue: String(decoding: data, as: UTF8.self)) ?? .incomplete
    }

    var data: Data { Data(rawValue.utf8) }

    /// Whether an operation changes the mark of a base that was a mirror, which is not copied.
    static func isKey(of operation: StorageOperation) -> Bool {
        switch operation {
        case .write(let key, _), .remove(let key): key == Self.key
        case .removeAll: false
        }
    }
}

/// What is known about a mirror.
struct MirrorState: Sendable {
    /// The maximum number of missing keys that are remembered.
    private static let maximumMissing = 10_000

    /// What the mirror says; `nil` until it was read.
    var mark: MirrorMark?

    /// Keys whose items may differ.
    private(set) var missing: Set<CacheKey> = []

    /// Whether items under other keys may differ, too.
    var needsComparison = false

    /// Whether the mirror may lack changes of this program that were too many to remember, or a removal of all items.
    private var hasForgotten = false

    /// Whether all items are being compared, and none has been lost since.
    private var isComparing = false

    /// Whether the mirror may lack a write that has returned.
    private var lacksReturned = false

    /// Whether the mirror is known to be equal to the base.
    var isComplete: Bool { mark != nil && missing.isEmpty && !needsComparison }

    /// Whether the mirror has all writes that have returned.
    var isReadable: Bool { mark != nil && !lacksReturned }

    /// What the mirror may say after a write that it has received, or that the base has refused; `nil` if it remains
    /// incomplete.
    var markAfterWrite: MirrorMark? { isComplete ? .complete : isReadable ? .outdated : nil }

    mutating func learn(_ mark: MirrorMark) {
        self.mark = mark
        (needsComparison, lacksReturned) = (mark != .complete, mark == .incomplete)
    }

    /// Forgets what the mirror lacked, because it was replaced as a whole.
    mutating func wasReplaced() { self = MirrorState(mark: .complete) }

    /// Remembers that the mirror may lack changes.
    ///
    /// - Parameters:
    ///   - operations: The changes.
    ///   - wasReturned: Whether they were applied to the base and the call returns.
    mutating func lose(_ operations: [StorageOperation], wasReturned: Bool = false) {
        guard !operations.isEmpty else { return }
        if wasReturned { lacksReturned = true }
        var isTracked = true
        for operation in operations {
            switch operation {
            case .write(let key, _), .remove(let key): missing.insert(key)
            case .removeAll: isTracked = false
            }
        }
        guard !isTracked || missing.count > Self.maximumMissing else { return }
        missing = []
        (needsComparison, hasForgotten, isComparing) = (true, true, false)
    }

    /// Remembers that the missing items were copied.
    mutating func foundMissing() {
        missing = []
        if !needsComparison { lacksReturned = false }
        // A removal of all items that failed, but may have been applied, is missing before a write that has returned.
        if hasForgotten { lacksReturned = true }
    }

    mutating func beginComparison() {
        mark = .incomplete
        isComparing = true
    }

    /// Ends a comparison. Returns whether the mirror is complete.
    mutating func endComparison() -> Bool {
        if isComparing { (isComparing, needsComparison, hasForgotten) = (false, false, false) }
        guard isComplete else { return false }
        lacksReturned = false
        return true
    }
}

/// The items of a mirror without its mark.
struct MirrorContents<Base: StorageEngine>: TransformingStorageEngine {
    let base: Base

    var ownsAllItems: Bool { false }
    func key(ofStored key: CacheKey) -> CacheKey? { key == MirrorMark.key ? nil : key }
    func encode(_ data: Data, key: CacheKey) -> Data { data }
    func decode(_ stored: Data, key: CacheKey) -> Data? { key == MirrorMark.key ? nil : stored }
}
