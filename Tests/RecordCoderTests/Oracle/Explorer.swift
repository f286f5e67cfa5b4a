import BodegaTesting
import Foundation
import RecordCoderFuzz

/// Uses its decoder at random in every possible way, and records its observations.
///
/// Its actions depend only on a seed and on the position in the document, so that two decoders see the same actions. It
/// catches and records errors, and continues.
struct Explorer: Decodable {

    /// The seed in the user info.
    static let seed = CodingUserInfoKey(rawValue: "seed").unsafelyUnwrapped

    private(set) var notes: [String] = []
    private(set) var below: [Explorer] = []

    init(from decoder: any Decoder) throws {
        let seed = decoder.userInfo[Self.seed] as? UInt64 ?? 0
        let place = exactDescription(ofPath: decoder.codingPath)
        notes.append(place)
        var random = SeededGenerator(seed: place.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
        explore(decoder, &random)
        // A type that finally throws.
        if random.next() % 16 == 0 { _ = try decoder.container(keyedBy: Name.self) }
    }

    private typealias Name = KeyDecodingTests.Name

    private mutating func explore(_ decoder: any Decoder, _ random: inout SeededGenerator) {
        for _ in 0..<random.next() % 3 + 1 {
            switch random.next() % 4 {
            case 0, 1:
                do {
                    explore(try decoder.container(keyedBy: Name.self), &random)
                } catch {
                    notes.note { throw error }
                }
            case 2:
                do {
                    var container = try decoder.unkeyedContainer()
                    explore(&container, &random)
                } catch {
                    notes.note { throw error }
                }
            default:
                notes.note { exactDescription(ofPath: try decoder.singleValueContainer().codingPath) }
                notes.note { try decoder.singleValueContainer().decodeNil() }
                for _ in 0..<random.next() % 4 {
                    // At the same position it would repeat its actions forever, so it does not decode another explorer.
                    note(
                        &random, depth: Self.mostDepth,
                        Decoding { type in try decoder.singleValueContainer().decode(type) })
                }
            }
        }
    }

    private mutating func explore(_ container: KeyedDecodingContainer<Name>, _ random: inout SeededGenerator) {
        notes.append(exactDescription(ofPath: container.codingPath))
        for _ in 0..<random.next() % 8 {
            let key = Name(Self.names[Int(random.next() % UInt64(Self.names.count))])
            let depth = container.codingPath.count + 1
            switch random.next() % 9 {
            case 0: notes.note { container.contains(key) }
            case 1: notes.note { try container.decodeNil(forKey: key) }
            case 2: notes.note { container.allKeys.map(\.stringValue).sorted() }
            case 3...4: note(&random, depth: depth, Decoding { type in try container.decode(type, forKey: key) })
            case 5:
                note(
                    &random, depth: depth, Decoding { type in try container.decodeIfPresent(type, forKey: key) as Any })
            case 6:
                do {
                    let nested = try container.nestedContainer(keyedBy: Name.self, forKey: key)
                    if depth < Self.mostDepth { explore(nested, &random) }
                } catch {
                    notes.note { throw error }
                }
            case 7:
                do {
                    var nested = try container.nestedUnkeyedContainer(forKey: key)
                    if depth < Self.mostDepth { explore(&nested, &random) }
                } catch {
                    notes.note { throw error }
                }
            default:
                do {
                    let base =
                        random.next() % 2 == 0 ? try container.superDecoder(forKey: key) : try container.superDecoder()
                    notes.append(exactDescription(ofPath: base.codingPath))
                    if depth < Self.mostDepth { explore(base, &random) }
                } catch {
                    notes.note { throw error }
                }
            }
        }
    }

    private mutating func explore(_ container: inout any UnkeyedDecodingContainer, _ random: inout SeededGenerator) {
        notes.append(exactDescription(ofPath: container.codingPath))
        notes.note { container.count }
        for _ in 0..<random.next() % 12 {
            let depth = container.codingPath.count + 1
            notes.append("\(container.currentIndex) \(container.isAtEnd)")
            switch random.next() % 8 {
            case 0: notes.note { try container.decodeNil() }
            case 1...3:
                var copy = container
                note(&random, depth: depth, Decoding { type in try copy.decode(type) })
                container = copy
            case 4:
                var copy = container
                note(&random, depth: depth, Decoding { type in try copy.decodeIfPresent(type) as Any })
                container = copy
            case 5:
                do {
                    let nested = try container.nestedContainer(keyedBy: Name.self)
                    if depth < Self.mostDepth { explore(nested, &random) }
                } catch {
                    notes.note { throw error }
                }
            case 6:
                do {
                    var nested = try container.nestedUnkeyedContainer()
                    if depth < Self.mostDepth { explore(&nested, &random) }
                } catch {
                    notes.note { throw error }
                }
            default:
                do {
                    let base = try container.superDecoder()
                    if depth < Self.mostDepth { explore(base, &random) }
                } catch {
                    notes.note { throw error }
                }
            }
        }
    }

    /// Decodes one of several types from a container.
    private struct Decoding {
        let decode: (any Decodable.Type) throws -> Any
        init(_ decode: @escaping (any Decodable.Type) throws -> Any) { self.decode = decode }
    }

    private mutating func note(_ random: inout SeededGenerator, depth: Int, _ decoding: Decoding) {
        // No dictionaries: which of several errors in one Foundation reports depends on an internal order.
        let types: [any Decodable.Type] = [
            Int.self, String.self, Double.self, Bool.self, Int8.self, UInt64.self, Float.self, URL.self, Date.self,
            UUID.self, Data.self,
            Decimal.self, [Int].self, [String].self, Int?.self, StructDecodingTests.Inner.self, JSONValue.self,
        ]
        if depth < Self.mostDepth, random.next() % 3 == 0 {
            do {
                if let explorer = try decoding.decode(Explorer.self) as? Explorer { below.append(explorer) }
            } catch {
                notes.note { throw error }
            }
        } else {
            let type = types[Int(random.next() % UInt64(types.count))]
            notes.note { try decoding.decode(type) }
        }
    }

    private static let mostDepth = 5
    private static let names = ["a", "b", "c", "id", "name", "items", "é", "", "K", "super", "missing"]
}
