import Bodega
import BodegaHTTP
import Foundation
import TestSupport
import Testing

/// Changes of single items under conditions, by the entity tags of a server in Python.
@Suite struct HTTPConditionTests {
    private let name = UUID().uuidString
    private let key = CacheKey("1")

    private func engine(_ tags: String = "strong", _ query: [String: String] = [:]) async throws -> HTTPStorageEngine {
        var options = HTTPStorageOptions()
        options.usesEntityTags = true
        let query = query.merging(["tags": tags]) { $1 }
        return try HTTPStorageEngine(try await APIServer.shared.value.url("items/\(name)", query), options: options)
    }

    private func item(_ number: Int, id: String = "1") -> Data { Data(#"{"id": "\#(id)", "number": \#(number)}"#.utf8) }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        do { _ = try await body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    @Test func `A change is applied if the item is as stated, and not otherwise`() async throws {
        let engine = try await engine()
        func write(_ number: Int, if old: Data?) async throws -> Bool {
            try await engine.apply([.write(key: key, data: item(number))], if: [StorageCondition(key: key, data: old)])
        }
        func remove(if old: Data?) async throws -> Bool {
            try await engine.apply([.remove(key: key)], if: [StorageCondition(key: key, data: old)])
        }
        #expect(try await !write(1, if: item(0)))
        #expect(try await remove(if: nil))
        #expect(try await write(1, if: nil))
        #expect(try await !write(2, if: nil))
        #expect(try await !write(2, if: item(0)))
        #expect(try await engine.fetch(key: key) == item(1))
        #expect(try await write(2, if: item(1)))
        #expect(try await !remove(if: item(1)))
        #expect(try await !remove(if: nil))
        #expect(try await engine.fetch(key: key) == item(2))
        #expect(try await remove(if: item(2)))
        #expect(try await engine.fetch(key: key) == nil)
        let changes = try await APIServer.shared.value.requests(containing: name).filter { $0.method != "GET" }
        let headers = changes.map { request in
            request.headers.filter { $0.key.lowercased().hasPrefix("if-") }.map { "\($0.key.lowercased()) \($0.value)" }
        }
        // The tag is the CRC-32 of the bytes, as Python's zlib computes it.
        let tags = [1, 2].map { #"if-match "\#(String(format: "%08x", crc32(item($0))))""# }
        #expect(headers == [["if-none-match *"], [tags[0]], [tags[1]]])
    }

    /// The CRC-32 of RFC 1952, section 8.
    private func crc32(_ data: Data) -> UInt32 {
        var crc = UInt32.max
        for byte in data {
            crc ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = crc & 1 == 1
                crc >>= 1
                if isOdd { crc ^= 0xEDB8_8320 }
            }
        }
        return ~crc
    }

    @Test func `Six writers lose no change of each other`() async throws {
        let engine = try await engine()
        try await engine.write(item(0), key: key)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    for _ in 0..<5 {
                        while true {
                            let old = try await engine.fetch(key: key)
                            let number = try JSONSerialization.jsonObject(with: old ?? Data()) as? [String: Any]
                            let next = item((number?["number"] as? Int ?? -1_000) + 1)
                            let condition = StorageCondition(key: key, data: old)
                            if try await engine.apply([.write(key: key, data: next)], if: [condition]) { break }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await engine.fetch(key: key) == item(30))
    }

    /// What a server loses, and what follows.
    struct Loss: CustomTestStringConvertible {
        let losses: String
        var isMeddled = false
        /// Whether the change was applied; `nil` if the call throws.
        let wasApplied: Bool?

        var testDescription: String { "\(losses)\(isMeddled ? ", and another writer" : "")" }
    }

    @Test(
        arguments: [
            Loss(losses: "after", wasApplied: true), Loss(losses: "before", wasApplied: true),
            Loss(losses: "before,after", wasApplied: true), Loss(losses: "before,before", wasApplied: true),
            Loss(losses: "before,before,before", wasApplied: nil),
            Loss(losses: "after", isMeddled: true, wasApplied: nil),
            Loss(losses: "before", isMeddled: true, wasApplied: nil),
        ], [true, false])
    func `What follows from a lost response is found out by reading`(_ loss: Loss, _ isRemoval: Bool) async throws {
        let plain = try await engine()
        try await plain.write(item(1), key: key)
        var query = ["lose": loss.losses, "mark": UUID().uuidString]
        if loss.isMeddled { query["meddle"] = "1" }
        let engine = try await engine("strong", query)
        let operation: StorageOperation = isRemoval ? .remove(key: key) : .write(key: key, data: item(2))
        let condition = StorageCondition(key: key, data: item(1))
        if let wasApplied = loss.wasApplied {
            #expect(try await engine.apply([operation], if: [condition]) == wasApplied)
            #expect(try await plain.fetch(key: key) == (isRemoval ? nil : item(2)))
        } else {
            #expect(await code { try await engine.apply([operation], if: [condition]) } == .unreachable)
            let another = Data(#"{"id": "1", "by": "another"}"#.utf8)
            #expect(try await plain.fetch(key: key) == (loss.isMeddled ? another : item(1)))
        }
    }

    @Test(arguments: ["weak", "none"])
    func `A server without strong tags can add an item under a condition, and change none`(_ tags: String) async throws
    {
        let engine = try await engine(tags)
        let absent = [StorageCondition(key: key, data: nil)]
        #expect(try await engine.apply([.write(key: key, data: item(1))], if: absent))
        #expect(try await !engine.apply([.write(key: key, data: item(2))], if: absent))
        let present = [StorageCondition(key: key, data: item(1))]
        #expect(
            await code { try await engine.apply([.write(key: key, data: item(2))], if: present) } == .invalidArgument)
        #expect(await code { try await engine.apply([.remove(key: key)], if: present) } == .invalidArgument)
        #expect(try await engine.fetch(key: key) == item(1))
    }

    @Test func `A server that ignores conditions is found out, and is left as it was`() async throws {
        let other = CacheKey("2")
        try await engine().checkConditions(writing: item(1, id: "2"), key: other)
        let ignoring = try await engine("ignored")
        #expect(
            await code { try await ignoring.checkConditions(writing: item(1, id: "2"), key: other) } == .invalidArgument
        )
        #expect(try await ignoring.fetch(key: other) == nil)
        let refusing = try await engine("strong", ["refuse": "PUT"])
        #expect(await code { try await refusing.checkConditions(writing: item(1, id: "2"), key: other) } == .refused)
        try await ignoring.write(item(1), key: key)
        #expect(await code { try await ignoring.checkConditions(writing: item(2), key: key) } == .invalidArgument)
        #expect(try await ignoring.fetch(key: key) == item(1))
    }

    @Test func `Other batches with conditions are refused before any request`() async throws {
        let engine = try await engine()
        #expect(engine.traits.isEmpty)
        let (write, condition) = (
            StorageOperation.write(key: key, data: item(1)), StorageCondition(key: key, data: nil)
        )
        let other = StorageCondition(key: CacheKey("2"), data: nil)
        for (operations, conditions) in [
            ([write, .remove(key: CacheKey("2"))], [condition]), ([write], [condition, other]), ([write], [other]),
            ([], [condition]), ([.removeAll], [condition]),
        ] as [([StorageOperation], [StorageCondition])] {
            #expect(await code { try await engine.apply(operations, if: conditions) } == .invalidArgument)
        }
        let plain = try HTTPStorageEngine(try await APIServer.shared.value.url("items/\(name)"))
        #expect(await code { try await plain.apply([write], if: [condition]) } == .invalidArgument)
        #expect(try await APIServer.shared.value.requests(containing: name).isEmpty)
        // No condition is always met.
        #expect(try await engine.apply([write], if: []))
    }
}
