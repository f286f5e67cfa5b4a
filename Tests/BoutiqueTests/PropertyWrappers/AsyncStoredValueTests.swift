import Bodega
import BodegaTesting
import Foundation
import Testing

@testable import Boutique

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite struct AsyncStoredValueTests {
    let engine = MemoryStorageEngine()

    private func value<Item: StorableItem>(_ defaultValue: Item, key: String = "value") -> AsyncStoredValue<Item> {
        AsyncStoredValue(key: key, default: defaultValue, storage: engine)
    }

    private func text(_ key: String = "value") async throws -> String? {
        try await engine.fetch(key: CacheKey(key)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func put(_ text: String, _ key: String = "value") async throws {
        try await engine.write(Data(text.utf8), key: CacheKey(key))
    }

    @Test func `A value is stored as JSON under its key, and read again later`() async throws {
        @AsyncStoredValue(key: "flag", storage: engine) var flag = false
        #expect(!flag)
        try await $flag.set(true)
        #expect(flag)
        #expect(try await text("flag") == #"{"value":true}"#)

        let copy = try await MemoryStorageEngine(copying: engine)
        @AsyncStoredValue(key: "flag", storage: copy) var reopened = false
        try await $reopened.valueHasLoaded()
        #expect(reopened)
        try await $flag.reset()
        #expect(!flag)
        #expect(try await text("flag") == #"{"value":false}"#)
    }

    /// An engine without conditions, as those written for Bodega 2 are.
    private actor PlainEngine: ThrowingStorageEngine {
        private var items: [CacheKey: Data] = [:]

        func fetch(key: CacheKey) async throws -> Data? {
            // Others have their turns between a read and a write.
            await Task.yield()
            return items[key]
        }

        func fetchAll() -> [(key: CacheKey, data: Data)] { items.map { ($0.key, $0.value) } }

        func fetchKeys() -> [CacheKey] { Array(items.keys) }

        func fetchDates(key: CacheKey) -> StorageDates? { nil }

        func apply(_ operations: [StorageOperation]) async {
            await Task.yield()
            for operation in operations {
                switch operation {
                case .write(let key, let data): items[key] = data
                case .remove(let key): items[key] = nil
                case .removeAll: items = [:]
                }
            }
        }
    }

    @Test("Values on different wrappers around one engine lose no change of each other", arguments: [0, 1, 2])
    func wrappers(number: Int) async throws {
        let plain = PlainEngine()
        let engines: [any StorageEngine] = (0..<2).map { _ in
            switch number {
            case 0: plain
            case 1: plain.prefixed("a")
            default: plain.cached()
            }
        }
        let values = engines.map { AsyncStoredValue(key: "count", default: 0, storage: $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for turn in 0..<100 {
                group.addTask { try await values[turn % 2].modify { $0 += 1 } }
            }
            try await group.waitForAll()
        }
        let last = AsyncStoredValue(key: "count", default: 0, storage: number == 1 ? plain.prefixed("a") : plain)
        try await last.valueHasLoaded()
        #expect(last.wrappedValue == 100)
    }

    @Test func `A value without an explicit key has the default key`() async throws {
        @AsyncStoredValue(storage: engine) var number = 1
        try await $number.set(2)
        #expect(try await text("unique-value") == #"{"value":2}"#)
    }

    @Test("A stored nil is nil, not the default", arguments: [#"{"value":null}"#, "{}"])
    func storedNil(_ bytes: String) async throws {
        try await put(bytes)
        let value = value(Int?.some(5))
        try await value.valueHasLoaded()
        #expect(value.wrappedValue == nil)
        @AsyncStoredValue(key: "absent", storage: engine) var absent: Int?
        #expect(absent == nil)
    }

    @Test func `Helpers change values that are not optional`() async throws {
        let flag = value(false, key: "flag")
        try await flag.toggle()
        #expect(flag.wrappedValue)

        let list = value([1], key: "list")
        try await list.append(2)
        try await list.replace(1, with: 3)
        #expect(list.wrappedValue == [3, 2])
        try await list.togglePresence(2)
        try await list.togglePresence(5)
        #expect(list.wrappedValue == [3, 5])

        let dictionary = value(["a": 1], key: "dictionary")
        try await dictionary.update(key: "b", value: 2)
        try await dictionary.update(key: "a", value: nil)
        #expect(dictionary.wrappedValue == ["b": 2])

        let preferences = value(Preferences(), key: "preferences")
        try await preferences.set(\.name, to: "new")
        #expect(preferences.wrappedValue.name == "new")
    }

    @Test func `Helpers change optional values, starting from empty values`() async throws {
        let flag = value(Bool?.none, key: "flag")
        try await flag.toggle()
        #expect(flag.wrappedValue == true)

        let list = value([Int]?.none, key: "list")
        try await list.replace(1, with: 3)
        #expect(list.wrappedValue == nil)
        try await list.append(1)
        try await list.togglePresence(2)
        #expect(list.wrappedValue == [1, 2])

        let dictionary = value([String: Int]?.none, key: "dictionary")
        try await dictionary.update(key: "a", value: 1)
        #expect(dictionary.wrappedValue == ["a": 1])

        let preferences = value(Preferences?.none, key: "preferences")
        try await preferences.set(\.name, to: "new")
        #expect(preferences.wrappedValue == nil)
        try await preferences.set(Preferences())
        try await preferences.set(\.name, to: "new")
        #expect(preferences.wrappedValue?.name == "new")
    }

    @Test func `Many concurrent changes by two wrappers lose no change`() async throws {
        let (one, other) = (value(0), value(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { try await (number.isMultiple(of: 2) ? one : other).modify { $0 += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(one.wrappedValue == 200)
        #expect(other.wrappedValue == 200)
        #expect(try await text() == #"{"value":200}"#)
    }

    @Test func `Other wrappers of the key and engine have published a change when the call returns`() async throws {
        let (one, other) = (value(0), value(0))
        let seen = Record<Int>()
        let subscription = other.publisher.sink { seen.add($0) }
        try await one.set(1)
        #expect(other.wrappedValue == 1)
        try await other.set(2)
        #expect(one.wrappedValue == 2)
        #expect(seen.elements == [0, 1, 2])
        subscription.cancel()
    }

    @Test func `A change is stored first and then published, on the main actor`() async throws {
        let gate = StorageGate()
        let faulty = FaultInjectingStorageEngine(engine, faults: [.hold(.writes, at: gate)])
        let value = AsyncStoredValue(key: "value", default: 0, storage: faulty)
        try await value.valueHasLoaded()
        let seen = Record<Int>()
        let subscription = value.publisher.dropFirst().sink { number in
            // Traps if it is not called on the main actor.
            MainActor.assumeIsolated { seen.add(number) }
        }
        async let change: Void = value.set(1)
        await gate.waitForArrivals(1)
        #expect(value.wrappedValue == 0)
        #expect(seen.elements == [])
        gate.release()
        try await change
        #expect(value.wrappedValue == 1)
        #expect(seen.elements == [1])
        subscription.cancel()
    }

    @Test func `A stream emits the current value and then each new one`() async throws {
        let value = value(0)
        var stream = value.values.makeAsyncIterator()
        #expect(await stream.next() == 0)
        try await value.set(1)
        try await value.set(2)
        #expect(await stream.next() == 1)
        #expect(await stream.next() == 2)
    }

    @Test func `A foreign change is the start of the next change, and published after a reload`() async throws {
        let value = value(0)
        try await value.valueHasLoaded()
        try await put(#"{"value":10}"#)
        try await value.modify { $0 += 1 }
        #expect(value.wrappedValue == 11)
        try await put(#"{"value":20}"#)
        try await value.reload()
        #expect(value.wrappedValue == 20)
    }

    @Test func `Foreign changes are published immediately if the engine reports them`() async throws {
        let value = AsyncStoredValue(key: "value", default: 0, storage: engine)
        var stream = value.values.makeAsyncIterator()
        #expect(await stream.next() == 0)
        try await value.valueHasLoaded()
        try await engine.write(Data("another".utf8), key: CacheKey("another"))
        try await put(#"{"value":1}"#)
        #expect(await stream.next() == 1)
        try await value.set(2)
        #expect(await stream.next() == 2)
        try await put(#"{"value":3}"#)
        #expect(await stream.next() == 3)
        try await engine.removeAllData()
        #expect(await stream.next() == 0)
    }

    final class Settings: ObservableObject {
        let objectWillChange = ObservableObjectPublisher()
        @AsyncStoredValue var flag: Bool

        init(_ engine: any StorageEngine) {
            _flag = AsyncStoredValue(key: "flag", default: false, storage: engine)
        }
    }

    @Test func `An observable object publishes changes`() async throws {
        let settings = Settings(engine)
        #expect(!settings.flag)
        let changes = Record<String>()
        let subscription = settings.objectWillChange.sink { changes.add("will change") }
        try await settings.$flag.toggle()
        #expect(settings.flag)
        #expect(changes.elements.count == 1)
        subscription.cancel()
    }

    @Test
    func `Wrappers of one engine begin and end on several threads concurrently`() async {
        for _ in 0..<20 {
            let engine = MemoryStorageEngine()
            await withTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        for round in 0..<200 {
                            _ = AsyncStoredValue(key: "\((number + round) % 5)", default: 0, storage: engine)
                        }
                    }
                }
            }
        }
    }
}

extension MemoryStorageEngine {
    /// A new engine with the items of another one, as after a relaunch.
    convenience init(copying engine: MemoryStorageEngine) async throws {
        self.init()
        try await write(engine.fetchAll())
    }
}
