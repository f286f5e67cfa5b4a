package import Bodega
import BodegaTesting
import Foundation

/// Random references between items of three collections, and what a naive program makes of removals.
///
/// It shares nothing with the package: documents are read by Foundation, and every removal looks at every item.
package struct ReferenceModel {

    /// An identifier, compared as JSON values are: by its number, or by its scalars.
    enum ID: Hashable {
        case number(Double)
        case text([UInt32])
    }

    /// An item as JSON with members `id`, `one`, `two` and `many`; `nil` if it is not JSON.
    struct Item: Equatable {
        var id: ID?
        var one: ID?
        var two: ID?
        var many: [ID]?
        var note = ""

        init?(_ data: Data) {
            guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return nil }
            func id(_ value: Any?) -> ID? {
                if let text = value as? String { return .text(text.unicodeScalars.map(\.value)) }
                return (value as? NSNumber).map { .number($0.doubleValue) }
            }
            (self.id, one, two) = (id(object["id"]), id(object["one"]), id(object["two"]))
            many = (object["many"] as? [Any])?.compactMap(id)
            note = object["note"] as? String ?? ""
        }

        func names(_ wanted: Set<ID>, in member: String) -> Bool {
            switch member {
            case "one": one.map(wanted.contains) ?? false
            case "two": two.map(wanted.contains) ?? false
            default: many?.contains(where: wanted.contains) ?? false
            }
        }

        mutating func clear(_ gone: Set<ID>, in member: String) {
            switch member {
            case "one": one = nil
            case "two": two = nil
            default: many?.removeAll(where: gone.contains)
            }
        }
    }

    static let names = ["a", "b", "c"]

    /// The items by their collections and keys. An item that is not JSON has only its bytes.
    var items: [String: [CacheKey: (data: Data, item: Item?)]] = [:]
    var links: [(source: String, reference: StorageReference)] = []

    // MARK: The naive answer

    /// Operations on a collection.
    typealias Part = (collection: String, operations: [StorageOperation])

    /// Applies operations on several collections together. Returns whether they are refused, and changes nothing then.
    mutating func apply(_ parts: [Part]) -> Bool {
        let before = items
        for (collection, operations) in parts {
            for operation in operations {
                switch operation {
                case .write(let key, let data): items[collection, default: [:]][key] = (data, Item(data))
                case .remove(let key): items[collection, default: [:]][key] = nil
                case .removeAll: items[collection] = [:]
                }
            }
        }
        var gone: [String: Set<ID>] = [:]
        for (collection, operations) in parts {
            let touched = operations.compactMap { if case .remove(let key) = $0 { key } else { nil } }
            let isAll = operations.contains(.removeAll)
            for (key, old) in before[collection] ?? [:] where items[collection]?[key] == nil {
                if isAll || touched.contains(key), let id = old.item?.id { gone[collection, default: []].insert(id) }
            }
            // An item that has got another key still exists.
            for case .write(let key, _) in operations {
                if let id = items[collection]?[key]?.item?.id { gone[collection]?.remove(id) }
            }
        }
        var isChanged = true
        while isChanged {
            isChanged = false
            for (source, reference) in links where [.remove, .clear].contains(reference.onRemoval) {
                let wanted = gone[reference.target] ?? []
                for (key, stored) in items[source] ?? [:] {
                    guard var item = stored.item, item.names(wanted, in: reference.path) else { continue }
                    isChanged = true
                    if reference.onRemoval == .remove {
                        items[source]?[key] = nil
                        if let id = item.id { gone[source, default: []].insert(id) }
                    } else {
                        item.clear(wanted, in: reference.path)
                        items[source]?[key] = (stored.data, item)
                    }
                }
            }
        }
        let isRefused = links.contains { source, reference in
            reference.onRemoval == .refuse
                && (items[source] ?? [:]).values.contains {
                    $0.item?.names(gone[reference.target] ?? [], in: reference.path) ?? false
                }
        }
        if isRefused { items = before }
        return isRefused
    }

    // MARK: Random cases

    private static func id(_ random: inout SeededGenerator) -> String {
        let spellings = [
            "1", "2", "3", "4.0", "5e0", "0.1", "9007199254740993", "\"x\"", "\"\u{E9}\"", "\"\\u00e9\"",
            "\"e\u{301}\"", "\"\"", "\"3\"", "\"a/b\"", "-7", "6", "7", "8", "9", "10",
        ]
        return spellings.randomElement(using: &random) ?? "1"
    }

    private static func document(_ random: inout SeededGenerator) -> Data {
        let kind = Int.random(in: 0..<40, using: &random)
        if kind == 0 { return Data("no JSON".utf8) }
        if kind == 1 { return Data(#"{"id":1,"one":""#.utf8) + Data([0xC1, 0x31]) + Data(#""}"#.utf8) }
        var members: [String] = []
        if kind != 2 { members.append("\"id\":\(id(&random))") }
        for name in ["one", "two"] where Bool.random(using: &random) {
            let value = Int.random(in: 0..<6, using: &random) == 0 ? "null" : id(&random)
            members.append("\"\(name)\" : \(value)")
        }
        if Bool.random(using: &random) {
            let list = (0..<Int.random(in: 0..<4, using: &random)).map { _ in id(&random) }
            members.append("\"many\":[\(list.joined(separator: " , "))]")
        }
        members.append("\"note\":\"\(kind) \\u0041 \u{1F600}\"")
        return Data("{\(members.shuffled(using: &random).joined(separator: ","))}".utf8)
    }

    private mutating func declareRandomly(_ random: inout SeededGenerator) {
        links = []
        for source in Self.names {
            for member in ["one", "two", "many"] where Int.random(in: 0..<3, using: &random) > 0 {
                guard let target = Self.names.randomElement(using: &random),
                    let removal = [.remove, .remove, .clear, .clear, .keep, .refuse].randomElement(using: &random)
                        as StorageReference.Removal?
                else { continue }
                links.append(
                    (source, StorageReference(member, isList: member == "many", to: target, onRemoval: removal)))
            }
        }
    }

    private func operations(_ random: inout SeededGenerator, on collection: String) -> [StorageOperation] {
        let keys = (items[collection] ?? [:]).keys.sorted { $0.identity < $1.identity }
        let count = Int.random(in: 1...4, using: &random)
        if Int.random(in: 0..<15, using: &random) == 0 { return [.removeAll] }
        return (0..<count).map { _ in
            let key = keys.randomElement(using: &random) ?? CacheKey(verbatim: "none")
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let new = CacheKey(verbatim: "\(Int.random(in: 0..<1_000, using: &random))")
                return .write(key: new, data: Self.document(&random))
            case 1: return .write(key: key, data: Self.document(&random))
            case 2:
                // Another key for an item that may be removed.
                let new = CacheKey(verbatim: "moved \(Int.random(in: 0..<1_000, using: &random))")
                return .write(key: new, data: items[collection]?[key]?.data ?? Self.document(&random))
            default: return .remove(key: key)
            }
        }
    }

    /// Removes random items of engines, and compares what is left.
    ///
    /// - Parameters:
    ///   - cases: The number of databases with random declarations.
    ///   - seed: The seed.
    ///   - open: Returns new engines on three empty collections of one database, by their names.
    /// - Returns: Descriptions of the first differences.
    package static func findDefects(
        cases: Int, seed: UInt64, _ open: (Int) async throws -> [String: any StorageBackend]
    ) async throws -> [String] {
        var random = SeededGenerator(seed: seed)
        for number in 0..<cases {
            var model = ReferenceModel()
            model.declareRandomly(&random)
            let engines = try await open(number)
            for (name, engine) in engines {
                try await engine.references?.declareReferences(
                    model.links.filter { $0.source == name }.map(\.reference))
            }
            let count = [3, 10, 30].randomElement(using: &random) ?? 3
            for name in names {
                let writes = (0..<count).map {
                    StorageOperation.write(key: CacheKey(verbatim: "\($0)"), data: document(&random))
                }
                _ = model.apply([(name, writes)])
                _ = try await engines[name]?.apply(StorageBatch(writes))
            }
            for _ in 0..<10 {
                let count = Int.random(in: 0..<3, using: &random) == 0 ? 3 : 1
                let parts = names.shuffled(using: &random).prefix(count).map { name in
                    Part(name, model.operations(&random, on: name))
                }
                let isRefused = model.apply(parts)
                var wasRefused = false
                do {
                    _ = try await StorageBatchGroup.apply(
                        parts.compactMap { part in engines[part.collection].map { ($0, StorageBatch(part.operations)) }
                        }
                    )
                } catch let error as StorageError where error.code == .referenced {
                    wasRefused = true
                }
                let description = "seed \(seed), case \(number), \(model.links), \(parts)"
                if wasRefused != isRefused { return ["\(description): refused \(wasRefused), expected \(isRefused)"] }
                for (name, engine) in engines {
                    if let defect = try await model.defect(of: engine, name) { return ["\(description): \(defect)"] }
                }
            }
        }
        return []
    }

    private func defect(of engine: any StorageBackend, _ name: String) async throws -> String? {
        let found = Dictionary(uniqueKeysWithValues: try await engine.fetchAll().map { ($0.key, $0.data) })
        let expected = items[name] ?? [:]
        if Set(found.keys) != Set(expected.keys) {
            return
                "\(name) has \(found.keys.map(\.identity).sorted()), expected \(expected.keys.map(\.identity).sorted())"
        }
        for (key, stored) in expected {
            guard let data = found[key] else { continue }
            let isEqual = stored.item.map { $0 == Item(data) } ?? (stored.data == data)
            if !isEqual { return "\(name) \(key) is \(String(decoding: data, as: UTF8.self)), expected \(stored)" }
        }
        return nil
    }
}
