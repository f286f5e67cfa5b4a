import Foundation
import Logging

// Writing to the mirror. The lock is held.
extension MirroredStorageEngine {

    /// Writes an item that is read into memory first, because the mirror gets it, too.
    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try await apply(StorageBatch([.write(key: key, data: stream.data())]))
    }

    func markIncomplete() async {
        guard !mirrorPause.isActive else { return }
        do {
            try await prepare()
            if state.withLock({ $0.mark != .incomplete }) { try await write(.incomplete) }
        } catch {
            mirrorFailed(error)
        }
    }

    func write(_ mark: MirrorMark) async throws {
        _ = try await callMirror {
            try await mirror.apply(StorageBatch([.write(key: MirrorMark.key, data: mark.data)]))
        }
        state.withLock { $0.mark = mark }
    }

    /// Makes the mirror readable for the next program after the base has failed, since no write has returned that it
    /// lacks.
    func markOutdated() async {
        guard !mirrorPause.isActive, state.withLock({ $0.mark == .incomplete && $0.isReadable && !$0.isPartial })
        else { return }
        do {
            try await write(.outdated)
        } catch {
            mirrorFailed(error)
        }
    }

    /// Finds out what the mirror says about itself. A mirror that says nothing is complete if there are no items.
    func prepare() async throws {
        guard state.withLock({ $0.mark == nil }) else { return }
        let request = FetchRequest([MirrorMark.key], options: original)
        let data = try await callMirror { try await mirror.fetch(request) }.value.first?.data
        let mark: MirrorMark
        if let data {
            mark = MirrorMark(data)
        } else if try await callMirror({ try await mirror.countFirst(options: original) }).value.count > 0 {
            mark = .incomplete
        } else {
            mark = try await base.countFirst(options: original).value.count == 0 ? .complete : .incomplete
        }
        if let actual = state.withLock({ $0.learn(mark) }) { try await write(actual) }
    }

    /// Brings the mirror a change, and what it has missed before.
    func complete(with operations: [StorageOperation]) async {
        guard !mirrorPause.isActive, state.withLock({ $0.mark != nil }) else {
            return state.withLock { $0.lose(operations, wasReturned: true) }
        }
        do {
            try await copyMissing()
            try await copy(operations, isMarked: !lock.hasWaiting)
            mirrorPause.end()
        } catch {
            state.withLock { $0.lose(operations, wasReturned: true) }
            mirrorFailed(error)
        }
    }

    /// Applies operations to the mirror, and writes what it may say then.
    private func copy(_ operations: [StorageOperation], isMarked: Bool) async throws {
        let (mark, canLoseItems) = state.withLock { ($0.markAfterWrite, $0.canLoseItems) }
        guard isMarked, let mark else { return try await apply(toMirror: operations) }
        if canLoseItems {
            // Only afterwards it is known whether the mirror has lost an item.
            try await apply(toMirror: operations)
            if let mark = state.withLock({ $0.markAfterWrite }) { try await write(mark) }
        } else {
            try await apply(toMirror: operations + [.write(key: MirrorMark.key, data: mark.data)])
            state.withLock { $0.mark = mark }
        }
    }

    /// Applies operations to the mirror. Of a batch that exceeds its limits, it has the last items that fit.
    func apply(toMirror operations: [StorageOperation]) async throws {
        if operations.isEmpty { return }
        do {
            _ = try await callMirror { try await mirror.apply(StorageBatch(operations)) }
        } catch let error as StorageError where error.code == .tooLarge && state.withLock({ $0.canLoseItems }) {
            guard operations.count > 1 else {
                guard case .write(let key, _) = operations[0] else { throw error }
                // The base answers for an item that is too large for the mirror.
                state.withLock { $0.loseCopy() }
                _ = try await callMirror { try await mirror.apply(StorageBatch([.remove(key: key)])) }
                return
            }
            let middle = operations.count / 2
            try await apply(toMirror: Array(operations[..<middle]))
            try await apply(toMirror: Array(operations[middle...]))
        }
    }

    /// Copies the items that the mirror has missed. Returns the number of differences.
    @discardableResult
    func copyMissing() async throws -> Int {
        if state.withLock({ $0.mayHaveEvictedItems }) {
            let evicted = Set(try await contents.fetchKeys(options: original))
                .subtracting(try await base.fetchKeys(options: original))
            state.withLock { state in
                state.lose(evicted.map { .remove(key: $0) })
                state.mayHaveEvictedItems = false
            }
        }
        let missing = state.withLock { $0.missing }
        var (keys, size, count) = (Array(missing)[...], PartSize(), 0)
        while !keys.isEmpty { count += try await copy(size.next(of: &keys), &size) }
        state.withLock { $0.foundMissing(missing) }
        return count
    }

    /// Makes the mirror's items under some keys equal to those of the base. Returns the number of differences.
    func copy(_ keys: [CacheKey], _ size: inout PartSize) async throws -> Int {
        let keys = keys.filter { $0 != MirrorMark.key }
        // Each of the engines may have copies of its own.
        let originals = try await noticingEvictions { try await base.fetch(FetchRequest(keys, options: original)) }
            .value
        size.fit(bytes: originals.byteCount, count: originals.count)
        let items = Dictionary(originals.map { ($0.key, $0.data) }) { $1 }
        let options = ReadOptions(omitsUnreadable: true, needsOriginal: true)
        let read = try await callMirror { try await mirror.fetch(FetchRequest(keys, options: options)) }
        let copies = Dictionary(read.value.map { ($0.key, $0.data) }) { $1 }
        // A copy that can't be read is replaced like one that differs.
        let unreadable = Set(read.report.unreadable.compactMap(\.key))
        let operations = keys.compactMap { key -> StorageOperation? in
            if items[key] == copies[key], !unreadable.contains(key) { return nil }
            return items[key].map { .write(key: key, data: $0) } ?? .remove(key: key)
        }
        try await apply(toMirror: operations)
        return operations.count
    }

    /// Brings the mirror the items that a conditional batch has found to be changed by others.
    func copyChanged(_ keys: [CacheKey]) async {
        do {
            try await lock.withLock {
                guard !mirrorPause.isActive, state.withLock({ $0.mark != nil }) else {
                    return state.withLock { $0.lose(keys.map { .remove(key: $0) }, wasReturned: true) }
                }
                do {
                    var size = PartSize()
                    _ = try await copy(keys, &size)
                } catch {
                    // The base answers until the mirror has them.
                    state.withLock { $0.lose(keys.map { .remove(key: $0) }, wasReturned: true) }
                    mirrorFailed(error)
                }
            }
        } catch {
            bodegaLogger.debug("A mirror was not refreshed.", metadata: ["error": "\(error)"])
        }
    }

    func mirrorFailed(_ error: any Error) {
        bodegaLogger.warning(
            "A mirror could not be written. The next writes try again.", metadata: ["error": "\(error)"])
    }
}
