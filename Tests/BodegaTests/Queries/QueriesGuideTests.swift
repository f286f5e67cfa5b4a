// The snippet of the guide about queries. A test compares it with the guide, line by line.
import Bodega
import Foundation
import Testing

struct Note: Codable {
    var title: String
    var dueDate: Date
    var isDone: Bool
}

extension Note: Queryable {
    static let indexes = [Index("dueDate", \Note.dueDate), Index("isDone", \Note.isDone)]
}

func printOverdue(in notes: ObjectStorage<Note>, at now: Date) async throws {
    let overdue = Query<Note>(
        where: #Predicate { !$0.isDone && $0.dueDate < now }, sortedBy: SortDescriptor(\.dueDate))

    var page = try await notes.fetch(overdue, limit: 50)
    print(page.objects.map(\.title))
    while let next = page.next {
        page = try await notes.fetch(overdue, limit: 50, after: next)
        print(page.objects.map(\.title))
    }
    print(try await notes.count(overdue), try await notes.exists(overdue))
}

@Test func `The guide about queries finds what is overdue`() async throws {
    let notes = ObjectStorage<Note>(storage: MemoryStorageEngine())
    let now = Date(timeIntervalSinceReferenceDate: 1_000)
    for number in 0..<120 {
        let note = Note(title: "\(number)", dueDate: now - Double(number), isDone: number % 2 == 0)
        try await notes.store(note, forKey: CacheKey("\(number)"))
    }
    try await printOverdue(in: notes, at: now)
    let overdue = Query<Note>(where: #Predicate { !$0.isDone && $0.dueDate < now })
    #expect(try await notes.count(overdue) == 60)
}
