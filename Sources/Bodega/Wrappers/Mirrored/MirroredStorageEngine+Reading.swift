public import Foundation
import Logging

extension MirroredStorageEngine {

    /// Reads from the base or from the mirror.
    ///
    /// - Parameter isWhole: Whether a result of the mirror lacks nothing, even if the mirror has lost items on its own;
    ///   `nil` if it always may.
    private func reading<Value>(
        _ read: () async throws -> Value, orMirror readMirror: () async throws -> Value,
        isWhole: ((Value) -> Bool)? = nil
    ) async throws -> Value {
        let mustBeOriginal = InnerCall.current?.needsOriginal == true
        if !mustBeOriginal, readingMirror == .first, await isReadable() {
            if let value = try await copied(readMirror, isWhole) { return value }
        } else if !mustBeOriginal, basePause.isActive, state.withLock({ $0.isReadable }) {
            if let value = try await copied(readMirror, isWhole) { return value }
        }
        do {
            let value = try await noticingEvictions(read)
            basePause.end()
            InnerCall.current?.answerFromOriginal()
            return value
        } catch {
            let isFinal = error is CancellationError || (error as? StorageError)?.code == .closed
            guard !isFinal, !mustBeOriginal, await isReadable() else { throw error }
            if StorageRetryPolicy.isTemporary(error) { basePause.begin() }
            bodegaLogger.warning("An engine could not be read. Reading its mirror…", metadata: ["error": "\(error)"])
            guard let value = try await copied(readMirror, isWhole) else { throw error }
            return value
        }
    }

    /// Reads from the mirror. Returns `nil` if the result may lack items, and `nil` and logs the error if the read
    /// fails, so that the base is read, or its error thrown.
    private func copied<Value>(
        _ readMirror: () async throws -> Value, _ isWhole: ((Value) -> Bool)?
    ) async throws -> Value? {
        if isWhole == nil, state.withLock({ $0.isPartial }) { return nil }
        do {
            let value = try await callMirror(pausing: false, readMirror)
            // After the read, because the mirror may have lost an item just before it.
            if state.withLock({ $0.isPartial }), isWhole?(value) != true { return nil }
            InnerCall.current?.answerFromCopy()
            return value
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

    public func fetch(key: CacheKey) async throws -> Data? {
        try await reading {
            try await base.fetch(key: key)
        } orMirror: {
            try await contents.fetch(key: key)
        } isWhole: {
            $0 != nil
        }
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await reading {
            try await base.fetchStream(key: key)
        } orMirror: {
            try await contents.fetchStream(key: key)
        } isWhole: {
            $0 != nil
        }
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await reading {
            try await base.fetch(keys: keys)
        } orMirror: {
            try await contents.fetch(keys: keys)
        } isWhole: {
            $0.count >= keys.count
        }
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await reading {
            try await base.fetchAll()
        } orMirror: {
            try await contents.fetchAll()
        }
    }

    public func fetchAllData() async throws -> [Data] {
        try await reading {
            try await base.fetchAllData()
        } orMirror: {
            try await contents.fetchAllData()
        }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await reading {
            try await base.fetchKeys()
        } orMirror: {
            try await contents.fetchKeys()
        }
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await reading {
            try await base.fetchKeys(among: candidates)
        } orMirror: {
            try await contents.fetchKeys(among: candidates)
        } isWhole: {
            $0.count >= candidates.count
        }
    }

    public func fetchCount() async throws -> Int {
        try await reading {
            try await base.fetchCount()
        } orMirror: {
            try await contents.fetchCount()
        }
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await reading {
            try await base.fetchDates(key: key)
        } orMirror: {
            try await contents.fetchDates(key: key)
        } isWhole: {
            $0 != nil
        }
    }
}
