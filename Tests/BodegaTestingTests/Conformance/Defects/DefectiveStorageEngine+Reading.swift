import Bodega
import BodegaTesting
import Foundation

extension DefectiveStorageEngine {

    /// Reads, or fails if the storage is damaged, unless a defect hides that. Then resumes a writer that waits for a
    /// reader.
    private func reading<Result>(orElse nothing: Result, _ read: () async throws -> Result) async throws -> Result {
        let (isBroken, halfDone) = storage.state.withLock { ($0.isBroken, $0.meetings.halfDone) }
        if isBroken {
            if defect == .reportsAbsenceForFailure { return nothing }
            throw StorageError(.damaged, "The test has damaged the storage.")
        }
        defer { halfDone?.release() }
        return try await read()
    }

    func fetch(key: CacheKey) async throws -> Data? {
        try await reading(orElse: nil) {
            let data = await items.read(key: name(key))
            if data == nil, defect == .throwsForAbsentItems {
                throw StorageError(.inputOutput, "The item does not exist.")
            }
            return data?.isEmpty == true && defect == .forgetsEmptyValues ? nil : data
        }
    }

    func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await reading(orElse: []) {
            switch defect {
            case .limitsTheKeysOfACall where keys.count > 32_766:
                throw StorageError(.inputOutput, "There are too many keys.")
            case .readsInStoredOrder:
                return try await fetchAll().filter { keys.contains($0.key) }
            case .answersDuplicatesOnce:
                var seen: Set<CacheKey> = []
                return await items.readDataAndKeys(keys: keys.filter { seen.insert($0).inserted })
            default:
                return await items.readDataAndKeys(keys: keys.map(name))
            }
        }
    }

    func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        let all = try await reading(orElse: []) { await items.readAllDataAndKeys() }
        let places = storage.state.withLock { $0.places }
        switch defect {
        case .sortsByKey: return all.sorted { $0.key.value < $1.key.value }
        case .sortsAtReopening where session > 1: return all.sorted { $0.key.value < $1.key.value }
        case .remembersThePlace:
            return all.sorted { places.firstIndex(of: $0.key) ?? 0 < places.firstIndex(of: $1.key) ?? 0 }
        case .losesKinds: return all.map { (CacheKey($0.key.rawValue), $0.data) }
        case .losesKindsAtReopening where session > 1: return all.map { (CacheKey(verbatim: $0.key.value), $0.data) }
        default: return all
        }
    }

    func fetchKeys() async throws -> [CacheKey] {
        try await fetchAll().map(\.key)
    }

    func fetchDates(key: CacheKey) async throws -> StorageDates? {
        guard var dates = try await reading(orElse: nil, { try await items.fetchDates(key: name(key)) }) else {
            return nil
        }
        if let created = storage.state.withLock({ $0.created[key] }) { dates.createdAt = created }
        if defect == .hasDatesOfItsOwn { return StorageDates(createdAt: .distantPast, updatedAt: .distantPast) }
        if defect == .roundsDatesAtReopening, session > 1 {
            dates.createdAt = Date(timeIntervalSince1970: dates.createdAt.timeIntervalSince1970.rounded(.down))
        }
        return dates
    }
}
