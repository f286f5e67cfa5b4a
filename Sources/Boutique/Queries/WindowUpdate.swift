import Bodega

/// What a window has read.
struct WindowContents<Item: StorableItem>: Sendable {
    /// The rows that are shown, and those in reserve.
    fileprivate(set) var window: QueryWindow<Item>
    /// The index whose order the rows have.
    fileprivate(set) var index: StorageIndex?
    /// The errors of the records that could not be read.
    fileprivate var errors: [CacheKey: StorageError] = [:]
    /// Whether rows come from a copy, whose places can't be compared with those of the engine's items.
    fileprivate var isCopy = false

    /// The errors of the records that could not be read.
    var undecodable: [StorageError] { Array(errors.values) }

    fileprivate mutating func add(_ new: [StorageError]) {
        for error in new where errors.count < QueryReader<Item>.maximumErrors {
            if let key = error.key { errors[key] = error }
        }
    }
}

/// What a window shows after a read, and how that differs from what it showed before.
///
/// It is prepared off the main actor, in time `n · log(n)` for `n` rows, so that the main actor only has to show it.
struct WindowUpdate<Item: StorableItem>: Sendable {
    let contents: WindowContents<Item>
    /// The items that are shown.
    let items: [Item]
    /// The events that lead from the earlier items to these.
    let events: [LiveQueryEvent<Item>]

    fileprivate init(_ contents: WindowContents<Item>, after old: WindowContents<Item>?) {
        self.contents = contents
        let shown = contents.window.shown
        items = shown.map { $0.item }
        events = QueryRow.events(from: old?.window.shown ?? [], to: shown)
    }
}

extension QueryReader {

    /// Reads all rows of a window.
    @concurrent func all(limit: Int, after old: WindowContents<Item>?) async throws -> WindowUpdate<Item> {
        var new = WindowContents(window: QueryWindow<Item>(limit: limit, isAscending: try comparison()))
        let part = try await rows(limit: new.window.capacity, after: nil)
        new.window.replace(with: part.rows, hasMore: part.hasMore)
        new.index = part.index
        new.isCopy = part.isCopy
        new.add(part.undecodable)
        return WindowUpdate(new, after: old)
    }

    /// Reads the changed items of a window, and the rows that it lacks then.
    ///
    /// - Parameters:
    ///   - read: What was read before the changes.
    ///   - changes: The changes.
    ///   - old: What is shown.
    @concurrent func update(
        _ read: WindowContents<Item>, with changes: Changes, after old: WindowContents<Item>?
    ) async throws -> WindowUpdate<Item> {
        var new = read
        new.errors = new.errors.filter { !changes.keys.contains($0.key) }
        // The rows that do not belong to the window are dropped before the next ones are read.
        for keys in changes.parts {
            let part = try await rows(of: keys, index: new.index)
            new.window.apply(Set(keys), part.rows)
            new.add(part.undecodable)
            if part.isCopy { new.isCopy = true }
        }
        return try await filled(new, after: old)
    }

    /// Shows more rows of a window, and reads those that it lacks then.
    @concurrent func extend(_ old: WindowContents<Item>, by count: Int) async throws -> WindowUpdate<Item> {
        var new = old
        new.window.extend(by: count)
        return try await filled(new, after: old)
    }

    /// Reads the rows that are missing, or all if some come from a copy.
    private func filled(
        _ contents: WindowContents<Item>, after old: WindowContents<Item>?
    ) async throws -> WindowUpdate<Item> {
        var new = contents
        if !new.isCopy, new.window.missing > 0 {
            let part = try await rows(limit: new.window.missing, after: new.window.rows.last)
            new.window.append(part.rows, hasMore: part.hasMore)
            new.add(part.undecodable)
            new.isCopy = part.isCopy
        }
        return new.isCopy ? try await all(limit: new.window.limit, after: old) : WindowUpdate(new, after: old)
    }
}
