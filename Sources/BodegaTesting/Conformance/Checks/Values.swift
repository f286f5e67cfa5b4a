import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let values = [valuesOfAllSizesComeBack, allBytesComeBack]

    /// Values of all sizes come back unchanged, from empty ones up to the largest configured size, 64 MiB by default.
    public static let valuesOfAllSizesComeBack = Self("values of all sizes come back") { examination, engine in
        let largest = examination.configuration.largestValue
        let sizes = [0, 1, 2, 4_095, 4_096, 4_097, 65_535, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 8 << 20, largest]
        for size in sizes where size <= largest {
            let (key, data) = (examination.key("sized"), patterned(size, seed: UInt64(size)))
            try await engine.write(data, key: key)
            examination.expectEqual(try await engine.fetch(key: key), data, "fetch(key:) of \(size) bytes")
            examination.expectItems(try await engine.fetchAll(), [(key, data)], "fetchAll() with \(size) bytes")
        }
        try await engine.write(bytes("small again"), key: examination.key("sized"))
        try await examination.expectState(
            of: engine, [(examination.key("sized"), bytes("small again"))], "after shrinking")
    }

    /// All byte values come back, including from a slice of other data, whose indices don't start at zero.
    public static let allBytesComeBack = Self("all bytes come back") { examination, engine in
        let all = Data((0...255).map { UInt8($0) })
        let slice = Data([1, 2, 3]) + all
        let expected: [Item] = [
            (examination.key("all"), all), (examination.key("zeros"), Data(count: 300)),
            (examination.key("ones"), Data(repeating: 255, count: 9)),
            (examination.key("slice"), all),
        ]
        try await engine.write(Array(expected.prefix(3)))
        try await engine.write(slice.dropFirst(3), key: examination.key("slice"))
        try await examination.expectState(of: engine, expected, "with all bytes")
    }
}

/// Bytes without a period, which could hide errors of a page or block size.
func patterned(_ count: Int, seed: UInt64) -> Data {
    var generator = SeededGenerator(seed: seed)
    var words = [UInt64](repeating: 0, count: (count + 7) / 8)
    for index in words.indices { words[index] = generator.next() }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
}
