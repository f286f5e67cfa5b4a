#if Postgres
public import Bodega
import Foundation

extension PostgresStorageEngine {

    /// The number of bytes that are sent or received with one message.
    private static let partSize = 2 << 20
    /// The number of parts in which a compressed item is received, unless its parts are smaller.
    private static let maximumParts = 16

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        let stream = try await database.reading(key: key) { session in
            var parameters = self.parameters(for: key)
            parameters.append(Int32(Self.partSize))
            let first = [session.beginSnapshot, Command(ItemStatements.dataIfSmall, parameters)]
            let answers = try await session.run(first)
            var stream: StorageByteStream?
            if answers[1].count == 1 {
                let count = Int(try answers[1].number(0, 0) as Int32)
                if count <= Self.partSize {
                    stream = StorageByteStream(try answers[1].data(0, 1))
                } else {
                    // To read a part, the server decompresses all before it.
                    let isCompressed = try answers[1].flag(0, 2)
                    let partSize = isCompressed ? max(Self.partSize, count / Self.maximumParts) : Self.partSize
                    stream = StorageByteStream(try await self.copy(key, count: count, by: partSize, session))
                }
            }
            _ = try await session.run(session.endSnapshot)
            return stream
        }
        if stream == nil { try await checkExistence() }
        return stream
    }

    /// Copies an item into a temporary file.
    private func copy(_ key: CacheKey, count: Int, by partSize: Int, _ session: Session) async throws -> StreamFile {
        let file = try StreamFile.temporary()
        while file.count < count {
            var parameters = self.parameters(for: key)
            parameters.append(Int32(file.count + 1))
            parameters.append(Int32(partSize))
            let answer = try await session.run(Command(ItemStatements.partOfData, parameters))
            guard answer.count == 1, case let part = try answer.data(0, 0), !part.isEmpty else {
                throw PostgresFailure(.unexpectedAnswer, "An item ended before its \(count) bytes.")
            }
            try await file.append(part)
        }
        return file
    }

    /// Writes an item in parts. See ``/Bodega/StorageEngine/write(stream:key:)``.
    ///
    /// The parts are sent to a temporary table, for which the user needs the privilege `TEMPORARY` on the database. The
    /// server joins them, for which it needs memory for the item. The limit of an item and its key is 500,000,000
    /// bytes, as for other writes; a larger one throws ``/Bodega/StorageError/Code/tooLarge``.
    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        // Before a connection is taken, as the stream may be slow.
        switch try await StreamedBytes(of: stream) {
        case .data(let data):
            return try await apply(StorageBatch([.write(key: key, data: data)]))
        case .file(let file):
            let date = ItemDate.number(of: now())
            let row = WritePlan.Row(key: ItemKey(key, in: shards), data: Data(), created: date, updated: date)
            try await apply(.stream(file, row), key: key)
            return StorageAnswer(BatchOutcome())
        }
    }

    /// Writes an item from a file, in a transaction.
    func write(_ file: StreamFile, _ row: WritePlan.Row, _ request: ChangeRequest, _ session: Session) async throws {
        _ = try await session.run([.begin, Command(ItemStatements.createParts)])
        var number: Int32 = 0
        for try await bytes in StorageByteStream(file) {
            let part = Parameters(capacity: bytes.count + 16, number, bytes)
            _ = try await session.run(Command(ItemStatements.addPart, part))
            number += 1
        }
        let write = Command(ItemStatements.writeParts, parameters(of: row, data: nil, request))
        // The server joins and stores some megabytes in a second.
        _ = try await session.run([write, .commit], patience: session.patience + TimeInterval(file.count) / 1_000_000)
    }
}
#endif
