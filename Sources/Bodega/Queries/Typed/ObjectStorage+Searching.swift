extension ObjectStorage {
    /// Returns a query that knows what the relevance of objects depends on, if it needs that.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - isFromOriginal: Whether a copy of the items, such as a cache, must not be read.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the query is a search, but the type has no searchable
    ///   property.
    package func ranked(_ query: Query<Object>, fromOriginal isFromOriginal: Bool) async throws -> Query<Object> {
        guard let search = query.search else { return query }
        if search.fields.isEmpty {
            throw StorageError(
                .invalidArgument,
                "\(Object.self) declares no searchable properties. Declare them with: static let searchable = […]")
        }
        guard query.isByRelevance, search.ranking == nil else { return query }
        var query = query
        let options = ReadOptions(omitsUnreadable: true, needsOriginal: isFromOriginal)
        let reader = StorageReader(storage, options: options)
        try await learnFromStoredObjects(for: query)
        let stored = (coder as? JSONObjectCoder).flatMap(query.storageSearch)
        if let stored, stored.isServedByIndex, try await reader.hasSearchIndex(stored.index) {
            query.search?.ranking = try await reader.fetchRanking(of: stored)
        }
        if query.search?.ranking != nil { return query }
        let reading = RankingReading(search, coder, stored.map { StoredTexts(of: $0.index) })
        try await reader.scan([.all(after: nil)], reading.begin)
        query.search?.ranking = reading.ranking
        return query
    }
}

/// A read of all objects for what their relevance depends on.
///
/// If the texts of the type are those in its members, the stored texts are read, as an index has them. So the numbers
/// are the same with an index and without one, also if there are items that can't be decoded.
///
/// @unchecked because an engine passes on items one at a time, and the ranking is taken after the last one.
private final class RankingReading<Object: Codable>: @unchecked Sendable {
    private(set) var ranking: SearchRanking
    private let search: SearchCondition<Object>
    private let coder: any ObjectCoder
    private let texts: StoredTexts?

    init(_ search: SearchCondition<Object>, _ coder: any ObjectCoder, _ texts: StoredTexts?) {
        (self.search, self.coder, self.texts) = (search, coder, texts)
        ranking = SearchRanking(phrases: search.pattern.phrases.count)
    }

    @Sendable func begin() -> StorageReceiver {
        ranking = SearchRanking(phrases: search.pattern.phrases.count)
        return receive
    }

    @Sendable private func receive(_ scan: Int, _ item: StorageItem) throws -> Bool {
        if let texts {
            if let counts = texts.counts(of: search.pattern, in: item.data) { ranking.add(counts) }
            return true
        }
        do throws(StorageError) {
            let object = try coder.decode(Object.self, from: item.data, for: item.key)
            if let counts = search.counts(of: object) { ranking.add(counts) }
        } catch {
            // The query reports it if it reads this record.
            if error.code != .decodingFailed { throw error }
        }
        return true
    }
}
