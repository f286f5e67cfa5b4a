import Bodega
import BodegaTesting
import Foundation

/// A defect of scans or indexes.
enum QueryDefect: String, CaseIterable, Sendable {
    case scansInOrderOfKeys, movesOverwrittenItems, includesThePlace, includesAllAfterAnyPlace
    case ignoresReceivers, endsTheRead, wrapsErrorsOfReceivers
    case scansAtDifferentMoments, countsAtAnotherMoment
    case numbersRequestedKeys, inventsAbsentItems
    case countsItemsBeforeThePlace, countsOneMore, stopsCountingEarly, countsOneScanOnly, readsCountedItems
    case forgetsIndexes, refusesExistingIndexes, refusesToRemoveAbsentIndexes, refusesIndexes
    case reversesTies, comparesTextsAsCharacters, ignoresBounds, hasNoPlaces, knowsNothing
    case skipsTies, repeatsTies
    case ignoresEqualKeys, ordersByTheFirstMember, ordersNothingButTheLastMember, hasNoKeysOfAllMembers
    case losesConditions, omitsItemsWithoutTheMember, omitsIrregularItemsOfConditions, omitsLaterMatches
    case keepsFormerMatches
    case omitsIrregularItems, repeatsIrregularItems, refusesIrregularItems
    case indexesOnlyExistingItems, keepsRemovedItems

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .scansInOrderOfKeys, .movesOverwrittenItems, .includesThePlace, .includesAllAfterAnyPlace:
            .scansComeInInsertionOrder
        case .ignoresReceivers, .endsTheRead, .wrapsErrorsOfReceivers: .receiversEndScans
        case .scansAtDifferentMoments, .countsAtAnotherMoment: .scansSeeOneMoment
        case .numbersRequestedKeys, .inventsAbsentItems: .entriesHaveTheirPlaces
        case .countsItemsBeforeThePlace, .countsOneMore, .stopsCountingEarly, .countsOneScanOnly, .readsCountedItems:
            .countsAreThoseOfScans
        case .forgetsIndexes, .refusesExistingIndexes, .refusesToRemoveAbsentIndexes, .refusesIndexes:
            .indexesAreCreatedAndRemoved
        case .reversesTies, .comparesTextsAsCharacters, .ignoresBounds, .hasNoPlaces, .knowsNothing:
            .rangesComeInOrderOfTheirKeys
        case .skipsTies, .repeatsTies: .rangesContinueAfterPlaces
        case .ignoresEqualKeys, .ordersByTheFirstMember, .ordersNothingButTheLastMember, .hasNoKeysOfAllMembers:
            .compoundIndexesComeInOrder
        case .losesConditions, .omitsItemsWithoutTheMember, .omitsIrregularItemsOfConditions, .omitsLaterMatches,
            .keepsFormerMatches:
            .partialIndexesHaveWhatTheirConditionNeeds
        case .omitsIrregularItems, .repeatsIrregularItems, .refusesIrregularItems: .indexesHaveEachItemOnce
        case .indexesOnlyExistingItems, .keepsRemovedItems: .indexesFollowWrites
        }
    }
}

/// An engine with indexes whose scans have one defect. Without a defect, it fulfills every contract.
struct DefectiveQueries: DefectiveEngine, StorageIndexes {
    let storage: MemoryStorageEngine
    let defect: QueryDefect?
    /// The indexes, each with the entries at the moment of its creation.
    private let created = Locked<[StorageIndex: [StorageItem]]>([:])

    init(_ storage: MemoryStorageEngine, defect: QueryDefect?) {
        self.storage = storage
        self.defect = defect
    }

    var indexes: (any StorageIndexes)? { self }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        for case .write(_, let data) in batch.operations where defect == .refusesIrregularItems {
            if !hasIndexes { break }
            if sortKey(of: data) == nil { throw StorageError(.encodingFailed, "The item is not JSON.") }
        }
        guard defect == .movesOverwrittenItems else { return try await storage.apply(batch) }
        var batch = batch
        batch.operations = batch.operations.flatMap { operation in
            guard case .write(let key, _) = operation else { return [operation] }
            return [.remove(key: key), operation]
        }
        return try await storage.apply(batch)
    }

    private var hasIndexes: Bool { created.withLock { !$0.isEmpty } }

    // MARK: Scans

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        if request.needsCursor { return try await storage.scan(request, begin) }
        let all = try await stored(request.fields)
        var outcome = ScanOutcome()
        if !request.counted.isEmpty {
            outcome.count =
                request.scans.isEmpty && request.counted.count == 1
                ? try count(request.counted[0], upTo: request.countLimit, among: all)
                : min(try await count(request.counted, among: all), request.countLimit)
        }
        let scans = defect == .readsCountedItems && !request.scans.isEmpty ? request.counted : request.scans
        if !scans.isEmpty { try await pass(scans, among: all, to: try begin(), &outcome.byteCount) }
        return StorageAnswer(outcome)
    }

    private func pass(
        _ scans: [StorageScan], among all: [StorageItem], to receive: StorageReceiver, _ byteCount: inout Int
    ) async throws {
        var all = all
        for (number, scan) in scans.enumerated() {
            if number > 0, defect == .scansAtDifferentMoments { all = try await later(than: all) }
            for entry in try entries(of: scan, among: all) {
                byteCount += entry.data.count
                do {
                    if try receive(number, entry) || defect == .ignoresReceivers { continue }
                } catch  where defect == .wrapsErrorsOfReceivers {
                    throw StorageError(.inputOutput, "The receiver has failed.", cause: error)
                }
                if defect == .endsTheRead { return }
                break
            }
        }
    }

    func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        guard request.fields.contains(.place) else { return try await storage.fetch(request) }
        let all = try await stored()
        let items = request.keys.enumerated().compactMap { number, key -> StorageItem? in
            guard var entry = all.first(where: { $0.key == key }) else {
                guard defect == .inventsAbsentItems else { return nil }
                return StorageItem(key: key, data: Data(), position: 0)
            }
            if let index = request.index {
                let keys = sortKeys(of: entry.data, index)
                (entry.sortKey, entry.sortKeys) = (keys?.last, index.others.isEmpty ? [] : keys ?? [])
            }
            if defect == .numbersRequestedKeys { entry.position = number }
            return entry
        }
        return StorageAnswer(items)
    }

    private func count(_ scan: StorageScan, upTo limit: Int, among all: [StorageItem]) throws -> Int {
        var scan = scan
        if defect == .countsItemsBeforeThePlace,
            case .range(let index, let equal, let lower, let upper, let order, _) = scan
        {
            scan = .range(index, equal: equal, from: lower, to: upper, isDescending: order, after: nil)
        }
        let count = try entries(of: scan, among: all).count
        switch defect {
        case .countsOneMore: return count + 1
        case .stopsCountingEarly where limit < .max: return min(count, limit - 1)
        default: return min(count, limit)
        }
    }

    private func count(_ scans: [StorageScan], among all: [StorageItem]) async throws -> Int {
        if defect == .countsAtAnotherMoment { return try await later(than: all).count }
        let counted = defect == .countsOneScanOnly ? Array(scans.prefix(1)) : scans
        return try counted.reduce(0) { try $0 + entries(of: $1, among: all).count }
    }

    // MARK: Indexes

    func fetchIndexes() async throws -> Set<StorageIndex> {
        let indexes = created.withLock { Set($0.keys) }
        switch defect {
        case .forgetsIndexes: return []
        case .losesConditions: return Set(indexes.map { StorageIndex($0.first, $0.others) })
        default: return indexes
        }
    }

    func createIndex(_ index: StorageIndex) async throws {
        if index.searchForm != nil { throw StorageError(.invalidArgument, "There are no indexes for searches.") }
        let isKnown = created.withLock { $0[index] != nil }
        if defect == .refusesIndexes || defect == .refusesExistingIndexes && isKnown {
            throw StorageError(.invalidArgument, "The index can't be created.")
        }
        let all = try await stored()
        created.withLock { $0[index] = all }
    }

    func removeIndex(_ index: StorageIndex) async throws {
        let removed = created.withLock { $0.removeValue(forKey: index) }
        if removed == nil, defect == .refusesToRemoveAbsentIndexes {
            throw StorageError(.invalidArgument, "The index does not exist.")
        }
    }

    // MARK: Entries

    private func stored(_ fields: StorageFields = .data) async throws -> [StorageItem] {
        let found = Locked<[StorageItem]>([])
        _ = try await storage.scan(ScanRequest(fields: fields)) {
            { _, entry in
                found.withLock { $0.append(entry) }
                return true
            }
        }
        return found.withLock { $0 }
    }

    /// The items of a later moment, unless the check ends.
    private func later(than all: [StorageItem]) async throws -> [StorageItem] {
        while true {
            let now = try await stored()
            let hasChanged = now.map(\.data) != all.map(\.data)
            if hasChanged || now.map(\.data) == [Data("end".utf8)] { return now }
            await Task.yield()
        }
    }

    private func entries(of scan: StorageScan, among all: [StorageItem]) throws -> [StorageItem] {
        switch scan {
        case .all(let position): return entries(after: position, among: all)
        case .approximate, .search: return []
        case .irregular(let index):
            let irregular = try indexed(index, all).filter { $0.sortKey == nil }
            switch defect {
            case .omitsIrregularItems: return []
            case .omitsIrregularItemsOfConditions where !index.constants.isEmpty: return []
            case .repeatsIrregularItems: return irregular + irregular.prefix(1)
            default: return irregular
            }
        case .range(let index, let equal, let lower, let upper, let isDescending, let place):
            let upper = defect == .ignoresBounds && upper < .end ? .before(.none) : upper
            let found = try indexed(index, all, after: equal).filter { entry in
                guard let key = entry.sortKey else { return false }
                return lower <= .before(key) && .before(key) < upper
            }
            if defect == .omitsItemsWithoutTheMember, !index.constants.isEmpty, equal == [.none] { return [] }
            let isOrdered = equal.count == index.others.count || defect != .ordersNothingButTheLastMember
            let sorted = isOrdered ? sorted(found, isDescending: isDescending) : found
            let rest = place.map { place in sorted.filter { isAfter(place, $0.place, isDescending) } } ?? sorted
            guard defect == .hasNoPlaces else { return rest }
            return rest.map { StorageItem(key: $0.key, data: $0.data, position: 0) }
        }
    }

    private func entries(after position: Int?, among all: [StorageItem]) -> [StorageItem] {
        switch defect {
        case .scansInOrderOfKeys:
            return all.sorted { $0.key.rawValue.utf8.lexicographicallyPrecedes($1.key.rawValue.utf8) }
        case .includesThePlace: return all.filter { $0.position >= position ?? .min }
        case .includesAllAfterAnyPlace: return all
        default: return all.filter { $0.position > position ?? .min }
        }
    }

    /// The entries with their sort keys of the member after some others, of which they have certain ones.
    private func indexed(
        _ index: StorageIndex, _ all: [StorageItem], after equal: [StorageSortKey] = []
    ) throws -> [StorageItem] {
        guard let old = created.withLock({ $0[index] }) else {
            throw StorageError(.invalidArgument, "There is no such index.")
        }
        var entries = defect == .indexesOnlyExistingItems ? old : all
        if !index.constants.isEmpty {
            let former = Dictionary(uniqueKeysWithValues: old.map { ($0.key, sortKey(of: $0.data)) })
            func wasMatch(_ item: StorageItem) -> Bool { former[item.key] == .some(index.constants[0]) }
            if defect == .omitsLaterMatches {
                entries.removeAll { item in
                    former[item.key] != nil && !wasMatch(item) && sortKey(of: item.data) == index.constants[0]
                }
            } else if defect == .keepsFormerMatches {
                entries.removeAll(where: wasMatch)
                entries += old.filter(wasMatch)
            }
        }
        if defect == .keepsRemovedItems {
            let keys = Set(all.map(\.key))
            entries += old.filter { !keys.contains($0.key) }
        }
        for number in entries.indices {
            guard let keys = sortKeys(of: entries[number].data, index) else { continue }
            entries[number].sortKey = keys[defect == .ordersByTheFirstMember ? 0 : equal.count]
            let isCompound = !index.others.isEmpty && defect != .hasNoKeysOfAllMembers
            entries[number].sortKeys = isCompound ? keys : []
        }
        if equal.isEmpty || defect == .ignoresEqualKeys { return entries }
        return entries.filter { sortKeys(of: $0.data, index)?.starts(with: equal) ?? false }
    }

    private func sorted(_ entries: [StorageItem], isDescending: Bool) -> [StorageItem] {
        entries.sorted { left, right in
            let (one, other) = (left.sortKey ?? .none, right.sortKey ?? .none)
            if one == other {
                let isEarlier = left.position < right.position
                return defect == .reversesTies && isDescending ? !isEarlier : isEarlier
            }
            return isDescending ? isLess(other, one) : isLess(one, other)
        }
    }

    private func isLess(_ left: StorageSortKey, _ right: StorageSortKey) -> Bool {
        guard defect == .comparesTextsAsCharacters, case .text(let one) = left, case .text(let other) = right else {
            return left < right
        }
        return one.utf16.lexicographicallyPrecedes(other.utf16)
    }

    /// Whether a place comes after another one in the order of an index.
    private func isAfter(_ first: StoragePlace, _ second: StoragePlace, _ isDescending: Bool) -> Bool {
        guard let one = first.sortKey, let other = second.sortKey else { return false }
        if one == other {
            switch defect {
            case .skipsTies: return false
            case .repeatsTies: return first.position != second.position
            default: return first.position < second.position
            }
        }
        return isDescending ? other < one : one < other
    }

    /// The sort key of the member `owner.rank`, `nil` if the index knows nothing.
    private func sortKey(of data: Data) -> StorageSortKey? {
        guard defect != .knowsNothing, !data.contains(UInt8(ascii: "\\")) else { return nil }
        return (try? JSONDecoder().decode(Record.self, from: data))?.key
    }

    /// The sort keys of the index's members, `nil` if it knows nothing.
    private func sortKeys(of data: Data, _ index: StorageIndex) -> [StorageSortKey]? {
        guard let key = sortKey(of: data) else { return nil }
        return index.others.isEmpty ? [key] : (try? JSONDecoder().decode(Size.self, from: data)).map { [key, $0.key] }
    }
}

/// A record with the member `size`.
private struct Size: Decodable {
    let key: StorageSortKey

    private enum Name: String, CodingKey { case size }

    init(from decoder: any Decoder) throws {
        let record = try decoder.container(keyedBy: Name.self)
        if let integer = try? record.decode(Int64.self, forKey: .size) {
            key = .integer(integer)
        } else {
            key = (try? record.decode(String.self, forKey: .size)).map(StorageSortKey.text) ?? .none
        }
    }
}

/// A record with the member `owner.rank`.
private struct Record: Decodable {
    let key: StorageSortKey?

    private enum Name: String, CodingKey { case owner, rank }

    init(from decoder: any Decoder) throws {
        let record = try decoder.container(keyedBy: Name.self)
        guard let owner = try? record.nestedContainer(keyedBy: Name.self, forKey: .owner), owner.contains(.rank),
            try !owner.decodeNil(forKey: .rank)
        else {
            key = StorageSortKey.none
            return
        }
        if let isTrue = try? owner.decode(Bool.self, forKey: .rank) {
            key = .integer(isTrue ? 1 : 0)
        } else if let integer = try? owner.decode(Int64.self, forKey: .rank) {
            key = .integer(integer)
        } else if let number = try? owner.decode(Double.self, forKey: .rank) {
            key = StorageSortKey(number)
        } else {
            // An array has no sort key that this engine knows.
            key = (try? owner.decode(String.self, forKey: .rank)).map(StorageSortKey.text)
        }
    }
}
