import Bodega
import BodegaTesting
import Foundation

/// A defect of searches by an index.
enum SearchDefect: String, CaseIterable, Sendable {
    case forgetsSearchIndexes, searchesOldItemsOnly, readsOneMember, comparesCase, findsBeginningsOnly, includesExcluded
    case ordersByKey, ignoresRelevance, reversesTwins, ignoresWeights, hasNoScores, countsMatchesTwice
    case repeatsThePlace, skipsTwins, countsFromTheStart
    case keepsOldTexts, keepsRemovedTexts, keepsOldNumbers

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .forgetsSearchIndexes, .searchesOldItemsOnly, .readsOneMember, .comparesCase, .findsBeginningsOnly,
            .includesExcluded, .ordersByKey, .ignoresRelevance, .reversesTwins, .ignoresWeights, .hasNoScores,
            .countsMatchesTwice:
            .searchesFindWords
        case .repeatsThePlace, .skipsTwins, .countsFromTheStart: .searchesContinueAfterPlaces
        case .keepsOldTexts, .keepsRemovedTexts, .keepsOldNumbers: .searchesFollowWrites
        }
    }
}

/// An engine that searches by reading all items, with one defect. Without a defect, it fulfills every contract.
struct DefectiveSearches: DefectiveEngine, StorageIndexes {
    let storage: MemoryStorageEngine
    let defect: SearchDefect?
    /// The indexes for searches, each with the items at the moment of its creation.
    private let created = Locked<[StorageIndex: [StorageItem]]>([:])

    init(_ storage: MemoryStorageEngine, defect: SearchDefect?) {
        self.storage = storage
        self.defect = defect
    }

    var indexes: (any StorageIndexes)? { self }

    // MARK: Indexes

    func fetchIndexes() async throws -> Set<StorageIndex> {
        let others = try await storage.fetchIndexes()
        return defect == .forgetsSearchIndexes ? others : others.union(created.withLock { $0.keys })
    }

    func createIndex(_ index: StorageIndex) async throws {
        if index.searchForm == nil { return try await storage.createIndex(index) }
        let all = try await stored(.data)
        created.withLock { $0[index] = $0[index] ?? all }
    }

    func removeIndex(_ index: StorageIndex) async throws {
        if index.searchForm == nil { return try await storage.removeIndex(index) }
        created.withLock { $0[index] = nil }
    }

    // MARK: Scans

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        guard request.isSearch else { return try await storage.scan(request, begin) }
        let all = try await stored(request.fields.union([.data, .place]))
        var outcome = ScanOutcome()
        outcome.ranking = try request.ranking.map { try ranking(of: $0, all) }
        for case .search(var search) in request.counted {
            if defect == .countsFromTheStart { search.place = nil }
            outcome.count += try found(search, all).count * (defect == .countsMatchesTwice ? 2 : 1)
        }
        if request.scans.isEmpty { return StorageAnswer(outcome) }
        let receive = try begin()
        for (number, scan) in request.scans.enumerated() {
            guard case .search(let search) = scan else { continue }
            for item in try found(search, all) where try !receive(number, item) { break }
        }
        return StorageAnswer(outcome)
    }

    private func stored(_ fields: StorageFields) async throws -> [StorageItem] {
        let found = Locked<[StorageItem]>([])
        _ = try await storage.scan(ScanRequest(fields: fields)) {
            found.withLock { $0 = [] }
            return { _, item in
                found.withLock { $0.append(item) }
                return true
            }
        }
        return found.withLock { $0 }
    }

    private func ranking(of search: StorageSearch, _ all: [StorageItem]) throws -> SearchRanking {
        var ranking = SearchRanking(phrases: search.pattern.phraseCount)
        let items = defect == .keepsOldNumbers ? try old(search.index) : all
        for item in items { if let counts = counts(of: search, in: item.data) { ranking.add(counts) } }
        return ranking
    }

    private func old(_ index: StorageIndex) throws -> [StorageItem] {
        guard let old = created.withLock({ $0[index] }) else {
            throw StorageError(.invalidArgument, "There is no such index.")
        }
        return old
    }

    /// The items at the time when the index knew them.
    private func known(_ index: StorageIndex, _ all: [StorageItem]) throws -> [StorageItem] {
        let old = try old(index)
        let texts = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0.data) })
        switch defect {
        case .searchesOldItemsOnly: return all.filter { texts[$0.key] != nil }
        case .keepsOldTexts:
            return all.map { item in
                var item = item
                item.data = texts[item.key] ?? item.data
                return item
            }
        case .keepsRemovedTexts:
            let keys = Set(all.map(\.key))
            return old.filter { !keys.contains($0.key) } + all
        default: return all
        }
    }

    private func found(_ search: StorageSearch, _ all: [StorageItem]) throws -> [StorageItem] {
        let pattern = search.pattern
        var found: [StorageItem] = []
        for var item in try known(search.index, all) {
            guard let counts = counts(of: search, in: item.data) else { continue }
            guard defect == .includesExcluded ? counts.has(0) : pattern.matches(counts.has) else { continue }
            if let relevance = search.relevance {
                let weights = defect == .ignoresWeights ? relevance.weights.map { _ in 1 } : relevance.weights
                let score = relevance.ranking.score(counts, phrases: pattern.reasons(counts.has), weights: weights)
                item.sortKey = StorageSortKey(score)
            }
            found.append(item)
        }
        if search.relevance != nil, defect != .ignoresRelevance {
            found.sort { left, right in
                let (one, other) = (left.sortKey ?? .none, right.sortKey ?? .none)
                if one != other { return other < one }
                return (left.position < right.position) != (defect == .reversesTwins)
            }
        } else if defect == .ordersByKey {
            found.sort { $0.key.rawValue < $1.key.rawValue }
        }
        if let place = search.place { found = rest(of: found, after: place, search) }
        if defect == .hasNoScores { for index in found.indices { found[index].sortKey = nil } }
        return found
    }

    private func rest(of found: [StorageItem], after place: StoragePlace, _ search: StorageSearch) -> [StorageItem] {
        if search.relevance == nil {
            return found.filter {
                defect == .repeatsThePlace ? $0.position >= place.position : $0.position > place.position
            }
        }
        return found.filter { item in
            guard let one = place.sortKey, let other = item.sortKey else { return false }
            if one != other { return other < one }
            if defect == .skipsTwins { return false }
            return item.position > place.position
        }
    }

    /// What an item has of a search; `nil` for one without texts.
    private func counts(of search: StorageSearch, in data: Data) -> SearchCounts? {
        var texts = StoredTexts(of: search.index).texts(of: data)
        if texts.allSatisfy({ $0 == nil }) { return nil }
        switch defect {
        case .readsOneMember: for index in texts.indices.dropFirst() { texts[index] = nil }
        case .comparesCase: texts = texts.map { $0?.filter { !$0.isUppercase } }
        case .findsBeginningsOnly: texts = texts.map { $0.map { String($0.prefix(12)) } }
        default: break
        }
        return SearchCounts(of: search.pattern, in: texts)
    }
}
