import Bodega
import Foundation
import TestSupport

#if Postgres
import BodegaPostgres
#endif

/// Writes an item as a stream and reads it as a stream, and prints the growth of the process's peak memory in bytes.
///
/// Arguments: engine, path or connection string, number of bytes.
func streamLarge(_ arguments: [String]) async throws {
    let engine: any StorageEngine
    #if Postgres
    if arguments[0] == "postgres" {
        engine = try await PostgresStorageEngine(connecting: arguments[1], collection: "large")
    } else {
        engine = try open(arguments[0], arguments[1])
    }
    #else
    engine = try open(arguments[0], arguments[1])
    #endif
    let parts = NumberedParts(count: Int(arguments[2]) ?? 0)
    let key = CacheKey("large")
    // What is allocated once does not depend on the size of an item.
    for count in [10, 2_000_000] {
        try await engine.write(stream: StorageByteStream(NumberedParts(count: count)), key: key)
    }
    let start = try kilobytes("VmRSS")
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    try await engine.write(stream: StorageByteStream(parts), key: key)
    var offset = 0
    guard let stream = try await engine.fetchStream(key: key) else { fatalError("The item is missing.") }
    for try await part in stream {
        guard part == parts.bytes(from: offset, count: part.count) else { fatalError("Wrong bytes at \(offset).") }
        offset += part.count
    }
    precondition(offset == parts.count)
    say("\((try kilobytes("VmHWM") - start) * 1_024)")
}

/// Fills a cache, and prints the growth of the process's own memory in bytes.
///
/// Arguments: the operations, or `small` and the limit in bytes.
func fillCache(_ arguments: [String]) async throws {
    // Without the pages of the program, of which the system maps more if they are in its cache.
    let start = try kilobytes("RssAnon")
    let engine: CachedStorageEngine
    if let load = CacheLoad(rawValue: arguments[0]) {
        engine = load.makeEngine()
        try await load.run(on: engine)
    } else {
        engine = EndlessEngine().cached(bytes: Int(arguments[1]))
        try await CacheLoad.readSmallItems(of: engine)
    }
    say("\((try kilobytes("RssAnon") - start) * 1_024)")
    withExtendedLifetime(engine) {}
}

/// A value of the memory of this process, in kilobytes.
func kilobytes(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    for line in status.split(separator: "\n") where line.hasPrefix(name) {
        if let number = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) {
            return number
        }
    }
    fatalError("/proc/self/status has no \(name).")
}

/// Parts of one mebibyte that differ in their first bytes.
private struct NumberedParts: AsyncSequence, Sendable {
    static let size = 1 << 20
    let count: Int
    private let pattern = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) })

    init(count: Int) { self.count = count }

    /// The bytes of a part, or of several.
    func bytes(from offset: Int, count: Int) -> Data {
        var bytes = Data(capacity: count)
        var offset = offset
        while bytes.count < count {
            var part = pattern
            withUnsafeBytes(of: offset / Self.size) { part.replaceSubrange(0..<8, with: $0) }
            bytes.append(part[(offset % Self.size)...].prefix(count - bytes.count))
            offset += Self.size - offset % Self.size
        }
        return bytes
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let parts: NumberedParts
        var offset = 0

        mutating func next() async throws -> Data? {
            defer { offset += NumberedParts.size }
            if offset >= parts.count { return nil }
            return parts.bytes(from: offset, count: Swift.min(NumberedParts.size, parts.count - offset))
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: self) }
}

/// Overwrites an item with streams of a growing number, and prints each number when its call has returned, until it is
/// killed.
///
/// Arguments: engine, path, the first number.
func streamVersions(_ arguments: [String]) async throws {
    let engine = try open(arguments[0], arguments[1])
    for version in (Int(arguments[2]) ?? 0)... {
        try await engine.write(stream: StorageByteStream(versionOfItem(version)), key: CacheKey("item"))
        say("\(version)")
    }
}

/// Two megabytes and more that all depend on a number.
private func versionOfItem(_ version: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: version), count: 2_000_000 + version)
}

/// Writes a stream and prints the error.
///
/// Arguments: engine, path, the limit of the size of files in bytes, the number of bytes.
func streamLimited(_ arguments: [String]) async throws {
    let engine = try open(arguments[0], arguments[1])
    let lift = limitFileSize(to: Int(arguments[2]) ?? 0)
    let stream = StorageByteStream(NumberedParts(count: Int(arguments[3]) ?? 0))
    do {
        try await engine.write(stream: stream, key: CacheKey("item"))
        say("written")
    } catch let error as StorageError {
        say("\(error.code)")
    }
    lift()
    say("\(try await engine.fetchStream(key: CacheKey("item"))?.data().count ?? -1)")
}
