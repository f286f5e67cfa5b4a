import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Random transactions over three types, checked against dictionaries.
@Suite struct TransactionModelTests {

    private let folder = TemporaryFolder()

    private struct Refusal: Error {}

    /// The model: the units by the identifiers, for each type.
    private typealias Model = [String: [String: Int]]

    private static let types = ["Purse", "Chest", "Receipt"]

    private static func stored(_ stores: UnitStores) throws -> Model {
        func units<Object: Units>(_ store: CodableStore<Object>) throws -> [String: Int] {
            Dictionary(uniqueKeysWithValues: try store.getCollection().map { ($0.id, $0.units) })
        }
        return [
            "Purse": try units(stores.purses), "Chest": try units(stores.chests), "Receipt": try units(stores.receipts),
        ]
    }

    /// Carries out a random operation on a store and on the model.
    private static func step<Object: Units>(
        on store: CodableStore<Object>, _ model: inout [String: Int], _ random: inout SeededGenerator
    ) throws where Object.ID == String {
        let id = "\(Int.random(in: 0..<5, using: &random))"
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
            let units = Int.random(in: 0..<1_000, using: &random)
            try store.save(Object(id: id, units: units))
            model[id] = units
        case 2:
            let objects = (0..<3).map { Object(id: "\($0)", units: Int.random(in: 0..<1_000, using: &random)) }
            for result in store.save(objects) { #expect(result.error == nil) }
            for object in objects { model[object.id] = object.units }
        case 3, 4:
            if let units = model[id] {
                #expect(try store.delete(identifier: id).units == units)
                model[id] = nil
            } else {
                let error = #expect(throws: StorageError.self) { try store.delete(identifier: id) }
                #expect(error?.code == .notFound)
            }
        case 5:
            if Int.random(in: 0..<2, using: &random) == 0 {
                #expect(try store.deleteCollection().count == model.count)
            } else {
                try store.removeCollection()
            }
            model = [:]
        default:
            #expect(try store.fetchExistence(identifier: id) == (model[id] != nil))
        }
        #expect(try store.first { $0.id == id }?.units == model[id])
        if let units = model[id] { #expect(try store.get(identifier: id).units == units) }
    }

    /// Carries out random operations, some of them in a nested transaction.
    private static func steps(
        on stores: UnitStores, _ model: inout Model, _ random: inout SeededGenerator, depth: Int = 0
    ) throws {
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            if depth < 2, Int.random(in: 0..<5, using: &random) == 0 {
                let before = model
                let fails = Bool.random(using: &random)
                do {
                    try stores.chests.transaction {
                        try steps(on: stores, &model, &random, depth: depth + 1)
                        if fails { throw Refusal() }
                    }
                } catch is Refusal {
                    model = before
                }
                #expect(try stored(stores) == model)
                continue
            }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try step(on: stores.purses, &model["Purse", default: [:]], &random)
            case 1: try step(on: stores.chests, &model["Chest", default: [:]], &random)
            default: try step(on: stores.receipts, &model["Receipt", default: [:]], &random)
            }
        }
    }

    @Test("Random transactions have the effect of the same changes to dictionaries", arguments: LocationKind.allCases)
    func model(_ kind: LocationKind) throws {
        print("random transactions in \(kind): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let location = try kind.location(in: folder)
        let observed = Locked<Model>(["Purse": [:], "Chest": [:], "Receipt": [:]])
        func observe<Object: Units>(_ type: String, _ store: CodableStore<Object>) {
            store.observeCollection(on: .immediate) { event in
                observed.withLock { observed in
                    switch event {
                    case .saved(let object, _, _): observed[type]?[object.id] = object.units
                    case .deleted(let object, _, _): observed[type]?[object.id] = nil
                    }
                }
            }
        }
        var stores = UnitStores(location)
        var model: Model = ["Purse": [:], "Chest": [:], "Receipt": [:]]
        for number in 0..<200 {
            // Collections without a log, at first.
            if number == 60 {
                observed.withLock { $0 = model }
                observe("Purse", stores.purses)
                observe("Chest", stores.chests)
                observe("Receipt", stores.receipts)
            }
            if number.isMultiple(of: 7) { stores = UnitStores(location) }
            let before = model
            let fails = Int.random(in: 0..<3, using: &random) == 0
            do {
                try stores.purses.transaction {
                    try Self.steps(on: stores, &model, &random)
                    #expect(try Self.stored(stores) == model)
                    if fails { throw Refusal() }
                }
                #expect(!fails)
            } catch is Refusal {
                #expect(fails)
                model = before
            }
            #expect(try Self.stored(stores) == model, "transaction \(number)")
            if number >= 60 { #expect(observed.withLock { $0 } == model, "observers after transaction \(number)") }
        }
    }
}

/// A location whose collections can change together.
enum LocationKind: String, CaseIterable, Sendable {
    case memory, sqlite, sharedSQLite

    func location(in folder: TemporaryFolder) throws -> CodableStoreLocation {
        switch self {
        case .memory: .memory()
        case .sqlite: .sqlite(in: folder.directory)
        case .sharedSQLite: .sqlite(try SQLiteStorageEngine(opening: folder.directory))
        }
    }
}
