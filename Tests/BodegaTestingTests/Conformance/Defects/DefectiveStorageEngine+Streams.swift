import Bodega
import Foundation

extension DefectiveStorageEngine {

    func write(stream: StorageByteStream, key: CacheKey) async throws {
        var parts: [Data] = []
        do {
            for try await part in stream { parts.append(part) }
        } catch {
            if defect == .keepsFailedStreams { try await write(parts.reduce(Data(), +), key: key) }
            throw error
        }
        if defect == .losesTheLastPart, parts.count > 1 { parts.removeLast() }
        if defect == .streamingMovesToTheEnd { try await remove(key: key) }
        try await write(parts.reduce(Data(), +), key: key)
    }

    func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        guard let data = try await fetch(key: key) else { return nil }
        guard defect == .streamsWhatIsThereLater else { return StorageByteStream(data) }
        let isRead = Locked(false)
        return StorageByteStream(
            AsyncThrowingStream { [items, name = name(key)] in
                if isRead.withLock({ isRead in
                    defer { isRead = true }
                    return isRead
                }) {
                    return nil
                }
                return try await items.fetch(key: name)
            })
    }
}
