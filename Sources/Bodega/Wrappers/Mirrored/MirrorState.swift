import Foundation

/// What a mirror says about itself, in an item of its own.
enum MirrorMark: String, Sendable {
    /// The mirror is equal to the base.
    case complete
    /// The mirror has no item that differs from the base, but lacks some, because it has lost them on its own.
    case partial
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

    /// Whether the mirror may have items that the base has evicted during a call that has thrown.
    var mayHaveEvictedItems = false

    /// Whether items under other keys may differ, too.
    var needsComparison = false

    /// Whether the mirror may lack changes of this program that were too many to remember, or a removal of all items.
    private var hasForgotten = false

    /// Whether all items are being compared, and none has been lost since.
    private var isComparing = false

    /// Whether the mirror may lack a write that has returned.
    private var lacksReturned = false

    /// Whether the mirror can lose items on its own.
    private(set) var canLoseItems = false

    /// Whether the mirror may have lost items on its own. Those that it has are right, but it does not know what it
    /// lacks.
    private(set) var isPartial = false

    /// How often the mirror has lost items since a comparison began.
    private var losses = 0

    /// Whether the mirror's items expire, so that it loses some without a report.
    private var hasExpiry = false

    /// Whether the mirror is known to be equal to the base, excluding what it has lost on its own.
    private var isComplete: Bool { mark != nil && missing.isEmpty && !mayHaveEvictedItems && !needsComparison }

    /// Whether the mirror lacks changes that the next write brings it.
    var lacksChanges: Bool { mark != nil && !isComplete }

    /// Whether the mirror has all writes that have returned.
    var isReadable: Bool { mark != nil && !lacksReturned }

    /// What the mirror may say after a write that it has received, or that the base has refused; `nil` if it remains
    /// incomplete.
    var markAfterWrite: MirrorMark? {
        if isComplete { return isPartial ? .partial : .complete }
        // One mark can't say that the mirror is both.
        return isReadable && !isPartial ? .outdated : nil
    }

    /// Learns what the mirror says about itself. Returns what it must say instead, because it has lost items since.
    mutating func learn(_ mark: MirrorMark) -> MirrorMark? {
        var actual = mark
        if isPartial, mark != .partial { actual = mark == .complete ? .partial : .incomplete }
        if mark == .partial { isPartial = true }
        self.mark = actual
        (needsComparison, lacksReturned) = (actual == .outdated || actual == .incomplete, actual == .incomplete)
        return actual == mark ? nil : actual
    }

    /// Learns in which ways the mirror can lose items on its own.
    mutating func learn(_ traits: StorageTraits) {
        canLoseItems = !traits.isDisjoint(with: [.evicts, .expires])
        if traits.contains(.expires) { (isPartial, hasExpiry) = (true, true) }
    }

    /// The mirror has lost an item on its own.
    mutating func loseCopy() {
        (canLoseItems, isPartial) = (true, true)
        losses += 1
    }

    /// Begins to count what the mirror loses while it gets all items.
    mutating func beginReplacement() { losses = 0 }

    /// Forgets what the mirror lacked, because it was replaced as a whole.
    mutating func wasReplaced() {
        (missing, needsComparison, hasForgotten, isComparing, lacksReturned) = ([], false, false, false, false)
        mayHaveEvictedItems = false
        isPartial = hasExpiry || losses > 0
        mark = .incomplete
    }

    /// Remembers that the mirror may lack changes.
    ///
    /// - Parameters:
    ///   - operations: The changes.
    ///   - wasReturned: Whether they were applied to the base and the call returns.
    mutating func lose(_ operations: [StorageOperation], wasReturned: Bool = false) {
        // Without operations, a call may have returned because of earlier ones, or has copied only some of them.
        if wasReturned, !operations.isEmpty || !isComplete { lacksReturned = true }
        guard !operations.isEmpty else { return }
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

    /// Remembers that missing items were copied. A read may have noticed others in the meantime.
    mutating func foundMissing(_ copied: Set<CacheKey>) {
        missing.subtract(copied)
        if !needsComparison { lacksReturned = false }
        // A removal of all items that failed, but may have been applied, is missing before a write that has returned.
        if hasForgotten { lacksReturned = true }
    }

    mutating func beginComparison() {
        mark = .incomplete
        isComparing = true
        losses = 0
    }

    /// Ends a comparison. Returns what the mirror may say then; `nil` if it is still incomplete.
    mutating func endComparison() -> MirrorMark? {
        if isComparing {
            (isComparing, needsComparison, hasForgotten) = (false, false, false)
            isPartial = hasExpiry || losses > 0
        }
        guard isComplete else { return nil }
        lacksReturned = false
        return isPartial ? .partial : .complete
    }
}

/// The items of a mirror without its mark.
struct MirrorContents: TransformingStorageEngine {
    let base: any StorageBackend

    var ownsAllItems: Bool { false }
    func key(ofStored key: CacheKey) -> CacheKey? { key == MirrorMark.key ? nil : key }
    func encode(_ data: Data, key: CacheKey) -> Data { data }
    func decode(_ stored: Data, key: CacheKey) -> Data? { key == MirrorMark.key ? nil : stored }
}
