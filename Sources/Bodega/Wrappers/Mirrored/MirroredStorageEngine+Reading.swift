public import Foundation
import Logging

extension MirroredStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try await fetch(FetchRequest([key])).value.first?.data
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        var items: [(key: CacheKey, data: Data)] = []
        _ = try await reading(ReadOptions()) {
            items = try await base.fetchAll()
            return StorageAnswer(ScanOutcome())
        } orMirror: {
            items = try await contents.fetchAll()
            return StorageAnswer(ScanOutcome())
        }
        return items
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await reading(ReadOptions()) {
            StorageAnswer(try await base.fetchStream(key: key))
        } orMirror: {
            StorageAnswer(try await contents.fetchStream(key: key))
        } isWhole: {
            $0 != nil
        }.value
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        // The mirror has other dates, so it answers at most for the dates alone, if the base fails.
        var options = request.options
        if request.fields.isSuperset(of: [.data, .dates]) { options.needsOriginal = true }
        return try await reading(options, prefersBase: request.fields.contains(.dates)) {
            try placed(try await base.fetch(request), for: request, isOfMirror: false)
        } orMirror: {
            try placed(try await contents.fetch(request), for: request, isOfMirror: true)
        } isWhole: {
            // Scans of a mirror that has lost items go to the base, so places must be those of the base.
            $0.count >= request.keys.count && !request.fields.contains(.place)
        }
    }

    private func placed(
        _ answer: StorageAnswer<[StorageItem]>, for request: FetchRequest, isOfMirror: Bool
    ) throws -> StorageAnswer<[StorageItem]> {
        guard request.fields.contains(.place) else { return answer }
        var answer = answer
        for number in answer.value.indices {
            answer.value[number].position = try MirrorPosition.outer(
                answer.value[number].position, isOfMirror: isOfMirror)
        }
        return answer
    }

    /// Passes on items of the base, or all items of the mirror.
    ///
    /// What the base has begun only the base continues, because the mirror has its items at other positions. Those of
    /// the mirror are in a range of their own, so a scan that the mirror has begun is continued by it.
    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        var options = request.options
        let positions = (request.scans + request.counted).compactMap(\.position)
        if positions.contains(where: MirrorPosition.isOfMirror) {
            return try await callMirror(pausing: false) { try await scan(contents, request, isMirror: true, begin) }
        }
        if request.needsCursor || !positions.isEmpty || request.fields.contains(.dates) { options.needsOriginal = true }
        return try await reading(options) {
            try await scan(base, request, isMirror: false, begin)
        } orMirror: {
            try await scan(contents, request, isMirror: true, begin)
        }
    }

    private func scan(
        _ engine: some StorageBackend, _ request: ScanRequest, isMirror: Bool,
        _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        var inner = request
        inner.scans = request.scans.map(\.ofMirroredEngine)
        inner.counted = request.counted.map(\.ofMirroredEngine)
        return try await engine.scan(inner) {
            let receive = try begin()
            return { number, item in
                var item = item
                item.position = try MirrorPosition.outer(item.position, isOfMirror: isMirror)
                return try receive(number, item)
            }
        }
    }

    /// Reads from the base or from the mirror.
    ///
    /// - Parameter isWhole: Whether a result of the mirror lacks nothing, even if the mirror has lost items on its own;
    ///   `nil` if it always may.
    private func reading<Value>(
        _ options: ReadOptions, prefersBase: Bool = false, _ read: () async throws -> StorageAnswer<Value>,
        orMirror readMirror: () async throws -> StorageAnswer<Value>, isWhole: ((Value) -> Bool)? = nil
    ) async throws -> StorageAnswer<Value> {
        if !options.needsOriginal, !prefersBase, readingMirror == .first, await isReadable() {
            if let answer = try await copied(readMirror, isWhole) { return answer }
        } else if !options.needsOriginal, basePause.isActive, state.withLock({ $0.isReadable }) {
            if let answer = try await copied(readMirror, isWhole) { return answer }
        }
        do {
            var answer = try await noticingEvictions(read)
            basePause.end()
            answer.report.sources.insert(.original)
            return answer
        } catch {
            let isFinal = error is CancellationError || (error as? StorageError)?.code == .closed
            guard !isFinal, !options.needsOriginal, await isReadable() else { throw error }
            if StorageRetryPolicy.isTemporary(error) { basePause.begin() }
            bodegaLogger.warning("An engine could not be read. Reading its mirror…", metadata: ["error": "\(error)"])
            guard let answer = try await copied(readMirror, isWhole) else { throw error }
            return answer
        }
    }

    /// Reads from the mirror. Returns `nil` if the result may lack items, and `nil` and logs the error if the read
    /// fails, so that the base is read, or its error thrown.
    private func copied<Value>(
        _ readMirror: () async throws -> StorageAnswer<Value>, _ isWhole: ((Value) -> Bool)?
    ) async throws -> StorageAnswer<Value>? {
        if isWhole == nil, state.withLock({ $0.isPartial }) { return nil }
        do {
            var answer = try await callMirror(pausing: false, readMirror)
            // After the read, because the mirror may have lost an item just before it.
            if state.withLock({ $0.isPartial }), isWhole?(answer.value) != true { return nil }
            answer.report.sources.insert(.copy)
            // What the mirror has removed does not concern the caller.
            answer.report.evicted = []
            return answer
        } catch let error as CancellationError {
            throw error
        } catch {
            bodegaLogger.warning("A mirror could not be read.", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func isReadable() async -> Bool {
        if state.withLock({ $0.mark == nil }) {
            do {
                try await lock.withLock(prepare)
            } catch {
                bodegaLogger.warning("A mirror could not be read.", metadata: ["error": "\(error)"])
            }
        }
        return state.withLock { $0.isReadable }
    }
}

extension StorageScan {
    /// The position after which the scan begins, `nil` if it begins with the first item.
    fileprivate var position: Int? {
        switch self {
        case .all(let position): position == .min ? nil : position
        case .range(_, _, _, _, _, let place): place?.position
        case .irregular, .approximate, .search: nil
        }
    }
}
