import Foundation

extension StorageBackend {

    /// Carries out a scan of an engine that can only read keys and items under them: it reads the keys first, then the
    /// items in parts. The engine must implement ``StorageEngine/fetchKeys()`` and ``StorageEngine/fetchCount()``. An
    /// item's position is its place among the keys, which changes when others are removed.
    ///
    /// - Parameters:
    ///   - request: What to read.
    ///   - keys: The keys of all items; `nil` to read them.
    ///   - begin: See ``scan(_:_:)``.
    package func scanByKeys(
        _ request: ScanRequest, keys: [CacheKey]? = nil, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        if request.needsCursor { throw StorageError.missingLog }
        var answer = StorageAnswer(ScanOutcome())
        if !request.counted.isEmpty {
            let count = if let keys { keys.count } else { try await fetchCount() }
            for scan in request.counted { answer.value.count += max(0, count - (try scan.firstPlace())) }
            answer.value.count = min(answer.value.count, request.countLimit)
        }
        if request.scans.isEmpty { return answer }
        let receive = try begin()
        let keys = if let keys { keys } else { try await fetchKeys() }
        for (number, scan) in request.scans.enumerated() {
            var (next, pace, mayContinue, size) = (try scan.firstPlace(), ScanPace(), true, PartSize())
            var remaining = keys.dropFirst(next)
            while !remaining.isEmpty, mayContinue {
                let part = size.next(of: &remaining)
                // Items that were removed in the meantime are missing.
                var places = Dictionary(zip(part, next...)) { first, _ in first }
                let items = try await items(of: part, request, &answer.report)
                size.fit(bytes: items.byteCount, count: items.count)
                for var item in items {
                    try await pace.count(item.data)
                    guard let position = places.removeValue(forKey: item.key) else { continue }
                    item.position = position
                    answer.value.byteCount += item.data.count
                    mayContinue = try receive(number, item)
                    if !mayContinue { break }
                }
                next += part.count
            }
        }
        return answer
    }

    /// Answers a request with the field ``StorageFields/place`` for such an engine.
    package func fetchWithPlaces(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        var unplaced = request
        unplaced.fields.remove(.place)
        var answer = try await fetch(unplaced)
        let places = Dictionary(zip(try await fetchKeys(), 0...)) { first, _ in first }
        answer.value = answer.value.compactMap { item in
            guard let place = places[item.key] else { return nil }
            var item = item
            item.position = place
            return item
        }
        return answer
    }

    private func items(
        of keys: [CacheKey], _ request: ScanRequest, _ report: inout StorageReport
    ) async throws -> [StorageItem] {
        let fields = request.fields.subtracting(.place)
        if fields.isEmpty { return keys.map { StorageItem(key: $0) } }
        let answer = try await fetch(FetchRequest(keys, fields, options: request.options))
        report.add(answer.report)
        return answer.value
    }
}

extension StorageScan {
    /// The place among all keys at which the scan begins.
    fileprivate func firstPlace() throws -> Int {
        guard case .all(let position) = self else { throw StorageError.missingIndexes }
        return position.map { $0 == .min ? 0 : $0 + 1 } ?? 0
    }
}
