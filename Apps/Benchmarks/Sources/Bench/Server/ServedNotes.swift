import Bodega
import Foundation

/// The items of the server's benchmarks: JSON on one line, 256 bytes each.
enum ServedNotes {
    static let bytes = 256

    static func key(_ number: Int) -> CacheKey { CacheKey(name(number)) }

    static func name(_ number: Int) -> String { "note-\(number)" }

    /// The owner with a number, as in the filters of tokens.
    static func owner(_ number: Int) -> String { "user-\(number)" }

    /// The item with a number, whose other members differ between versions.
    static func data(_ number: Int, owner: String? = nil, version: Int = 0) -> Data {
        let start =
            #"{"id":\#(number),"owner":"\#(owner ?? self.owner(number % 1_000))","version":\#(version),"text":""#
        var state = UInt64(truncatingIfNeeded: number &* 31 &+ version) &+ 0x9E37_79B9_7F4A_7C15
        var text = [UInt8](start.utf8)
        while text.count < bytes - 2 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text.append(UInt8(ascii: "a") + UInt8((state >> 33) % 26))
        }
        return Data(text + [UInt8(ascii: "\""), UInt8(ascii: "}")])
    }

    /// Writes items in batches.
    static func fill(_ engine: some StorageEngine, _ count: Int) async throws {
        for start in stride(from: 0, to: count, by: 50_000) {
            try await engine.write((start..<min(start + 50_000, count)).map { (key: key($0), data: data($0)) })
        }
    }
}
