import BodegaTesting
import Foundation
import RecordCoder
import RecordCoderFuzz
import Testing

/// One decoder and one encoder that many threads use concurrently.
@Suite struct RecordCoderConcurrencyTests {

    struct Item: Codable, Equatable {
        var id: Int
        var name: String
        var tags: [String]
        var scores: [String: Double]
        var next: [Item]
    }

    private func item(_ number: Int) -> Item {
        Item(
            id: number, name: "item é\n \(number)", tags: (0..<number % 5).map { "tag \($0)" },
            scores: ["a": Double(number) / 3, "b\(number)": 0],
            next: number.isMultiple(of: 3) ? [] : [item(number / 3 * 3)])
    }

    @Test("Many tasks share a decoder and an encoder")
    func shared() async throws {
        let (decoder, encoder) = (RecordDecoder(), RecordEncoder())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in task * 100..<task * 100 + 100 {
                        let item = item(number)
                        let data = try encoder.encode(item)
                        #expect(try decoder.decode(Item.self, from: data) == item)
                        #expect(try JSONDecoder().decode(Item.self, from: data) == item)
                        #expect(throws: DecodingError.self) { try decoder.decode(Item.self, from: data.dropLast()) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Many tasks decode and encode batches, of which some records fail")
    func batches() async throws {
        let (decoder, encoder) = (RecordDecoder(), RecordEncoder())
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let items = (0..<100).map { item($0 + task) }
                    var records = encoder.encode(each: items).compactMap { try? $0.get() }
                    #expect(records.count == items.count)
                    records[50] = Data("{\"id\":}".utf8)
                    let outcomes = decoder.decode(Item.self, fromEach: records)
                    for (number, outcome) in outcomes.enumerated() {
                        #expect((try? outcome.get()) == (number == 50 ? nil : items[number]))
                    }
                }
            }
        }
    }
}
