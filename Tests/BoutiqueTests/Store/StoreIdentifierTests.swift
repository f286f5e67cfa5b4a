import Bodega
import Boutique
import Foundation
import Testing

private struct Seat: Codable, Sendable, Identifiable, Equatable {
    var id: Int
    var guest: String
}

private struct TicketID: StoreIdentifier, Codable, Hashable {
    let row: Int
    let seat: Int
    var identifierText: String { "\(row)/\(seat)" }
}

private struct Ticket: Codable, Sendable, Identifiable, Equatable {
    var id: TicketID
    var guest: String
}

/// Items whose identifiers are not texts, and what a transaction iterates over.
@MainActor
@Suite struct StoreIdentifierTests {

    @Test func `Items are identified by integers, also negative and large ones`() async throws {
        let engine = MemoryStorageEngine()
        let store = try await Store<Seat>(storage: engine)
        let seats = [-1, 0, 7, Int.max, .min].map { Seat(id: $0, guest: "\($0)") }
        try await store.insert(seats)
        #expect(store[7]?.guest == "7" && store[.min]?.guest == "\(Int.min)" && store[8] == nil)
        #expect(store.contains(id: 0) && !store.contains(id: 1))
        #expect(try await store.update(id: -1) { $0.guest = "Ada" } == Seat(id: -1, guest: "Ada"))
        try await store.remove(id: 7)
        try await store.transaction { seats in
            #expect(seats[0]?.guest == "0" && !seats.contains(id: 7))
            try seats.update(id: 0) { $0.guest = "Bob" }
            seats.remove(id: .max)
        }
        let expected = [Seat(id: -1, guest: "Ada"), Seat(id: 0, guest: "Bob"), Seat(id: .min, guest: "\(Int.min)")]
        #expect(store.items == expected)
        #expect(try await engine.fetchKeys() == expected.map { CacheKey("\($0.id)") })
        #expect(try await Store<Seat>(storage: engine).items == expected)
        #expect(Store<Seat>.previewStore(items: expected).items == expected)
    }

    @Test func `Items are identified by a type of the program`() async throws {
        let store = try await Store<Ticket>(storage: MemoryStorageEngine())
        let tickets = [
            Ticket(id: TicketID(row: 1, seat: 2), guest: "Ada"), Ticket(id: TicketID(row: 1, seat: 3), guest: ""),
        ]
        try await store.insert(tickets)
        #expect(store[TicketID(row: 1, seat: 2)] == tickets[0])
        try await store.remove(id: TicketID(row: 1, seat: 3))
        #expect(store.items == [tickets[0]])
    }

    @Test func `A transaction is a sequence of its items, which can change during the iteration`() async throws {
        let store = try await Store<Seat>(storage: MemoryStorageEngine())
        try await store.insert((0..<5).map { Seat(id: $0, guest: "") })
        try await store.transaction { seats in
            for seat in seats where seat.id % 2 == 0 { seats.remove(seat) }
            #expect(seats.map(\.id) == [1, 3])
            #expect(seats.first { $0.id > 1 }?.id == 3)
        }
        #expect(store.items.map(\.id) == [1, 3])
    }
}
