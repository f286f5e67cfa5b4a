import BodegaTesting
import Foundation
import RecordCoder
import Testing

@Suite struct RandomEncodingTests {

    @Test(
        "Random values that use containers at random are encoded as in Foundation",
        arguments: 1...300 as ClosedRange<UInt64>)
    func random(seed: UInt64) {
        expectSameEncoding(EncodedValue(seed: seed, depth: 0, isRegular: false), by: nil)
    }

    @Test("Random values that write in order are encoded as in Foundation", arguments: 1...300 as ClosedRange<UInt64>)
    func randomRegular(seed: UInt64) {
        expectSameEncoding(EncodedValue(seed: seed, depth: 0, isRegular: true))
        expectSameEncoding([EncodedValue(seed: seed, depth: 1, isRegular: true)])
    }
}

/// A value that encodes itself at random, the same way each time.
private struct EncodedValue: Encodable {
    var seed: UInt64
    var depth: Int
    /// Whether it avoids irregular behavior, such as writing a key twice or to a container that isn't the last one.
    var isRegular: Bool

    func encode(to encoder: any Encoder) throws {
        var random = SeededGenerator(seed: seed)
        switch depth > 4 ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0...4:
            var writer = ObjectWriter(
                container: encoder.container(keyedBy: AnyKey.self), depth: depth, isRegular: isRegular)
            try writer.write(&random)
            if isRegular, Bool.random(using: &random) {
                writer.container = encoder.container(keyedBy: AnyKey.self)
                try writer.write(&random)
            }
        case 5...7:
            var writer = ArrayWriter(container: encoder.unkeyedContainer(), depth: depth, isRegular: isRegular)
            try writer.write(&random)
        case 8:
            var container = encoder.singleValueContainer()
            try container.encode(EncodedValue(seed: random.next(), depth: depth + 1, isRegular: isRegular))
        default:
            var container = encoder.singleValueContainer()
            try container.encode(scalar(&random))
        }
    }
}

/// A value that needs no container.
private func scalar(_ random: inout SeededGenerator) -> RandomScalar {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .integer(Int(truncatingIfNeeded: random.next()))
    case 1: .double(Double.random(in: -1e6...1e6, using: &random))
    case 2:
        .text(
            String(
                repeating: ["a", "é\n", "\"x", "日本"].randomElement(using: &random) ?? "", count: Int(random.next() % 9))
        )
    case 3: .bool(Bool.random(using: &random))
    case 4: .strings([String](repeating: "s", count: Int(random.next() % 4)))
    case 5: .dictionary(["k": Int(random.next() % 9), "l": 1])
    case 6: .date(Date(timeIntervalSinceReferenceDate: Double(random.next() % 1_000_000) / 64))
    default: .none
    }
}

private enum RandomScalar: Encodable {
    case integer(Int), double(Double), text(String), bool(Bool), strings([String]), dictionary([String: Int]), date(
        Date)
    case none

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .strings(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .none: try container.encodeNil()
        }
    }
}

/// Writes to an object at random.
private struct ObjectWriter {
    var container: KeyedEncodingContainer<AnyKey>
    let depth: Int
    let isRegular: Bool
    private var keys = 0
    /// Open containers for later writes.
    private var open: [ObjectWriter] = []
    private var openArrays: [ArrayWriter] = []

    init(container: KeyedEncodingContainer<AnyKey>, depth: Int, isRegular: Bool) {
        self.container = container
        self.depth = depth
        self.isRegular = isRegular
    }

    mutating func write(_ random: inout SeededGenerator) throws {
        for _ in 0..<random.next() % 6 { try writeOne(&random) }
    }

    private mutating func writeOne(_ random: inout SeededGenerator) throws {
        keys += 1
        let isDuplicate = !isRegular && random.next() % 8 == 0
        let key = AnyKey(stringValue: "k\(isDuplicate ? Int(random.next() % 3) : keys)")
        // Foundation crashes if a key has containers of two kinds, so duplicates are only values.
        switch isDuplicate || depth > 4 ? Int(random.next() % 3) : Int(random.next() % 9) {
        case 0: try container.encode(scalar(&random), forKey: key)
        case 1: try container.encode(Int(random.next() % 100), forKey: key)
        case 2: try container.encodeIfPresent(Bool.random(using: &random) ? "x" : nil, forKey: key)
        case 3, 4:
            try container.encode(EncodedValue(seed: random.next(), depth: depth + 1, isRegular: isRegular), forKey: key)
        case 5:
            let nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "o\(keys)"))
            var writer = ObjectWriter(container: nested, depth: depth + 1, isRegular: isRegular)
            try writer.write(&random)
            open.append(writer)
        case 6:
            let nested = container.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "a\(keys)"))
            var writer = ArrayWriter(container: nested, depth: depth + 1, isRegular: isRegular)
            try writer.write(&random)
            openArrays.append(writer)
        case 7:
            let value = EncodedValue(seed: random.next(), depth: depth + 1, isRegular: isRegular)
            try value.encode(to: container.superEncoder(forKey: AnyKey(stringValue: "s\(keys)")))
        default:
            if isRegular { return }
            if !open.isEmpty { try open[Int(random.next() % UInt64(open.count))].write(&random) }
            if !openArrays.isEmpty { try openArrays[Int(random.next() % UInt64(openArrays.count))].write(&random) }
        }
    }
}

/// Writes to an array at random.
private struct ArrayWriter {
    var container: any UnkeyedEncodingContainer
    let depth: Int
    let isRegular: Bool
    private var open: [ObjectWriter] = []

    init(container: any UnkeyedEncodingContainer, depth: Int, isRegular: Bool) {
        self.container = container
        self.depth = depth
        self.isRegular = isRegular
    }

    mutating func write(_ random: inout SeededGenerator) throws {
        for _ in 0..<random.next() % 6 { try writeOne(&random) }
    }

    private mutating func writeOne(_ random: inout SeededGenerator) throws {
        switch depth > 4 ? Int(random.next() % 3) : Int(random.next() % 7) {
        case 0: try container.encode(scalar(&random))
        case 1: try container.encode(container.count)
        case 2: try container.encodeNil()
        case 3, 4: try container.encode(EncodedValue(seed: random.next(), depth: depth + 1, isRegular: isRegular))
        case 5:
            let nested = container.nestedContainer(keyedBy: AnyKey.self)
            var writer = ObjectWriter(container: nested, depth: depth + 1, isRegular: isRegular)
            try writer.write(&random)
            open.append(writer)
        default:
            if isRegular { return }
            if !open.isEmpty { try open[Int(random.next() % UInt64(open.count))].write(&random) }
        }
    }
}
