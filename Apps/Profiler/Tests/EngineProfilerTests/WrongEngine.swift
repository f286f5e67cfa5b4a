import Bodega
import Foundation

/// An in-memory engine with a fault.
final class WrongEngine: StorageEngine {

    /// The fault.
    enum Fault: String, CaseIterable {
        case forgetsSomeWrites, returnsOtherBytes, returnsFewerBytes, keepsOldValues, inventsItems
        case doesNotRemove, deniesItems, countsWrong, listsOneTwice
    }

    private let fault: Fault
    private let memory = MemoryStorageEngine()

    init(_ fault: Fault) {
        self.fault = fault
    }

    func write(_ data: Data, key: CacheKey) async throws {
        if fault == .forgetsSomeWrites, key.rawValue.hasSuffix("7") { return }
        if fault == .keepsOldValues, await memory.keyExists(key) { return }
        try await memory.write(data, key: key)
    }

    func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        // The initial items are complete.
        try await memory.write(dataAndKeys)
    }

    func read(key: CacheKey) async -> Data? {
        let data = await memory.read(key: key)
        switch fault {
        case .returnsOtherBytes: return data.map { Data($0.reversed()) }
        case .returnsFewerBytes: return data?.dropLast()
        case .inventsItems: return data ?? Data("invented".utf8)
        default: return data
        }
    }

    func remove(key: CacheKey) async throws {
        if fault != .doesNotRemove { try await memory.remove(key: key) }
    }

    func removeAllData() async throws { try await memory.removeAllData() }

    func keyExists(_ key: CacheKey) async -> Bool {
        fault == .deniesItems ? false : await memory.keyExists(key)
    }

    func keyCount() async -> Int {
        let count = await memory.keyCount()
        return fault == .countsWrong ? count + 1 : count
    }

    func allKeys() async -> [CacheKey] {
        let keys = await memory.allKeys()
        return fault == .listsOneTwice ? keys.dropLast() + keys.prefix(1) : keys
    }

    func createdAt(key: CacheKey) async -> Date? { nil }
    func updatedAt(key: CacheKey) async -> Date? { nil }
}
