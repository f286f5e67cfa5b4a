import Bodega
import Foundation

enum ModelStep: Sendable {
    case write(CacheKey, Data)
    case writeItems([Item])
    case remove(CacheKey)
    case removeKeys([CacheKey])
    case removeAll
    case apply([StorageOperation])
    case readOne(CacheKey)
    case readKeys([CacheKey])
    case readAll
    case readDates(CacheKey)
    case reopen

    /// The changes that the step makes.
    var operations: [StorageOperation] {
        switch self {
        case .write(let key, let data): [.write(key: key, data: data)]
        case .writeItems(let items): items.map { .write(key: $0.key, data: $0.data) }
        case .remove(let key): [.remove(key: key)]
        case .removeKeys(let keys): keys.map { .remove(key: $0) }
        case .removeAll: [.removeAll]
        case .apply(let operations): operations
        case .readOne, .readKeys, .readAll, .readDates, .reopen: []
        }
    }
}

extension ModelStep: CustomStringConvertible {
    var description: String {
        switch self {
        case .write(let key, let data): "write(\(described(data)), key: \(described(key)))"
        case .writeItems(let items): "write([\(list(items.map { described($0) }))])"
        case .remove(let key): "remove(key: \(described(key)))"
        case .removeKeys(let keys): "remove(keys: [\(list(keys.map { described($0) }))])"
        case .removeAll: "removeAllData()"
        case .apply(let operations): "apply([\(list(operations.map(Self.description)))])"
        case .readOne(let key): "fetch(key: \(described(key)))"
        case .readKeys(let keys): "fetch(keys: [\(list(keys.map { described($0) }))])"
        case .readAll: "all forms of reading"
        case .readDates(let key): "fetchDates(key: \(described(key)))"
        case .reopen: "reopening"
        }
    }

    private func list(_ texts: [String]) -> String { texts.joined(separator: ", ") }

    private static func description(of operation: StorageOperation) -> String {
        switch operation {
        case .write(let key, let data): ".write(\(described(key)), \(described(data)))"
        case .remove(let key): ".remove(\(described(key)))"
        case .removeAll: ".removeAll"
        }
    }
}

/// Generates steps. They depend only on the seed, not on the engine's results.
struct ModelStepGenerator {

    private var generator: SeededGenerator
    private let keys: [CacheKey]
    private let canReopen: Bool

    init(seed: UInt64, _ configuration: StorageEngineConformance.Configuration) {
        generator = SeededGenerator(seed: seed)
        canReopen = configuration.capabilities.contains(.persistent)
        // Few keys, so that several steps use the same one, and adjacent texts, because they are similar.
        let texts = configuration.keyTexts
        var hashed: [CacheKey] = []
        for number in 0..<8 {
            let place = texts.isEmpty ? 0 : Int.random(in: texts.indices, using: &generator)
            hashed += (texts[place...].prefix(2) + ["key \(number)"]).map { CacheKey($0) }
        }
        keys =
            configuration.capabilities.contains(.exactKeys)
            ? hashed + KeyExamples.alike + KeyExamples.similar.prefix(12) + [CacheKey(""), CacheKey(verbatim: "..")]
            : hashed
    }

    /// The seconds that pass before the next step, in whole milliseconds.
    mutating func nextPause() -> TimeInterval {
        Double(Int.random(in: 0...5_000, using: &generator)) / 1_000
    }

    mutating func nextStep() -> ModelStep {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<20: .write(key(), data())
        case 20..<32: .writeItems(many { ($0.key(), $0.data()) })
        case 32..<42: .remove(key())
        case 42..<48: .removeKeys(many { $0.key() })
        case 48: .removeAll
        case 49..<67: .apply(many { $0.operation() })
        case 67..<77: .readOne(key())
        case 77..<85: .readKeys(many { $0.key() })
        case 85..<91: .readAll
        case 91..<98: .readDates(key())
        default: canReopen ? .reopen : .readAll
        }
    }

    private mutating func key() -> CacheKey { keys[Int.random(in: 0..<keys.count, using: &generator)] }

    private mutating func data() -> Data {
        let size = Int.random(in: 0..<40, using: &generator) == 0 ? 20_000 : 48
        return patterned(Int.random(in: 0...size, using: &generator), seed: generator.next())
    }

    private mutating func operation() -> StorageOperation {
        switch Int.random(in: 0..<30, using: &generator) {
        case 0: .removeAll
        case 1..<11: .remove(key: key())
        default: .write(key: key(), data: data())
        }
    }

    private mutating func many<Element>(_ make: (inout Self) -> Element) -> [Element] {
        let count = Int.random(in: 0...10, using: &generator)
        return (0..<count).map { _ in make(&self) }
    }
}

struct StorageEngineModel {

    struct Entry {
        let key: CacheKey
        var data: Data
        var dates: StorageDates
    }

    private(set) var entries: [Entry] = []

    var items: [Item] { entries.map { ($0.key, $0.data) } }

    func entry(_ key: CacheKey) -> Entry? { entries.first { $0.key == key } }

    func items(_ keys: [CacheKey]) -> [Item] {
        keys.compactMap { key in entry(key).map { (key, $0.data) } }
    }

    mutating func apply(_ operations: [StorageOperation], at date: Date) {
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                if let index = entries.firstIndex(where: { $0.key == key }) {
                    entries[index].data = data
                    entries[index].dates.updatedAt = date
                } else {
                    let dates = StorageDates(createdAt: date, updatedAt: date)
                    entries.append(Entry(key: key, data: data, dates: dates))
                }
            case .remove(let key): entries.removeAll { $0.key == key }
            case .removeAll: entries = []
            }
        }
    }
}
