// The snippets of the guide about queries. A test compares it with the guide, line by line.
import Bodega
import Foundation
import TestSupport
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

func search(_ text: String, hidingDone: Bool, in notes: ObjectStorage<Note>) async throws -> [Note] {
    var query = Query<Note>(sortedBy: SortDescriptor(\.dueDate))
    if hidingDone { query = query.filter(#Predicate { !$0.isDone }) }
    if !text.isEmpty { query = query.filter(#Predicate { $0.title.contains(text) }) }
    return try await notes.fetch(query, limit: 50).objects
}

func tidy(_ notes: ObjectStorage<Note>, _ key: CacheKey) async throws {
    try await notes.update(forKey: key) { $0.isDone.toggle() }
    let removed = try await notes.removeObjects(matching: Query(where: #Predicate { $0.isDone }))
    print("\(removed) notes removed")
}

struct Delivery: Codable {
    var title: String
    var isDone: Bool
    var date: Date
}

extension Delivery: Queryable {
    static let indexes = [Index("isDone", \Delivery.isDone).then("date", \Delivery.date)]
}

func nextDeliveries(in deliveries: ObjectStorage<Delivery>) async throws -> [Delivery] {
    let open = Query<Delivery>(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.date))
    return try await deliveries.fetch(open, limit: 50).objects
}

struct Errand: Codable {
    var title: String
    var isDone: Bool
    var priority: Int
}

extension Errand: Queryable {
    static let indexes = [
        Index("isDone", \Errand.isDone).then("priority", \Errand.priority).then("title", \Errand.title)
    ]
}

func nextErrands(in errands: ObjectStorage<Errand>) async throws -> [Errand] {
    let open = Query<Errand>(
        where: #Predicate { !$0.isDone },
        sortedBy: SortDescriptor(\.priority, order: .reverse), SortDescriptor(\.title))
    return try await errands.fetch(open, limit: 50).objects
}

@Test(.unhurriedReads) func `The guide about queries sorts by two properties`() async throws {
    let folder = TemporaryFolder()
    let engine = CountingItems(of: try SQLiteStorageEngine(openingFile: folder.file("errands")))
    let errands = ObjectStorage<Errand>(storage: engine)
    let all = (0..<1_000).map { Errand(title: "\($0 * 7 % 1_000)", isDone: $0 % 3 > 0, priority: $0 % 5) }
    try await errands.store(all.map { (CacheKey($0.title), $0) })
    try await errands.createIndexes()
    let open = all.filter { !$0.isDone }
    let expected = open.sorted { ($1.priority, $0.title) < ($0.priority, $1.title) }.prefix(50).map(\.title)
    _ = engine.take()
    #expect(try await nextErrands(in: errands).map(\.title) == expected)
    #expect(engine.count <= 51 + 9 + 1)
}

@Test(.unhurriedReads) func `The guide about queries reads by an index over two properties`() async throws {
    let folder = TemporaryFolder()
    let engine = CountingItems(of: try SQLiteStorageEngine(openingFile: folder.file("deliveries")))
    let deliveries = ObjectStorage<Delivery>(storage: engine)
    let all = (0..<400).map { number in
        Delivery(title: "\(number)", isDone: number % 3 > 0, date: Date(timeIntervalSince1970: Double(-number)))
    }
    try await deliveries.store(all.map { (CacheKey($0.title), $0) })
    try await deliveries.createIndexes()
    let expected = all.filter { !$0.isDone }.sorted { $0.date < $1.date }.prefix(50).map(\.title)
    _ = engine.take()
    #expect(try await nextDeliveries(in: deliveries).map(\.title) == expected)
    #expect(engine.count == 51)
}

@Test func `The guide about queries composes filters, changes and removes`() async throws {
    let notes = ObjectStorage<Note>(storage: MemoryStorageEngine())
    for (number, title) in ["milk", "oat milk", "bread"].enumerated() {
        let note = Note(title: title, dueDate: Date(timeIntervalSince1970: Double(-number)), isDone: number == 0)
        try await notes.store(note, forKey: CacheKey(title))
    }
    #expect(try await search("milk", hidingDone: false, in: notes).map(\.title) == ["oat milk", "milk"])
    #expect(try await search("milk", hidingDone: true, in: notes).map(\.title) == ["oat milk"])
    #expect(try await search("", hidingDone: true, in: notes).map(\.title) == ["bread", "oat milk"])
    try await tidy(notes, CacheKey("bread"))
    #expect(try await notes.fetchAllObjects().objects.map(\.title) == ["oat milk"])
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

struct Recipe: Codable {
    var title: String
    var body: String
    var tags: [String]
}

extension Recipe: Queryable {
    static let searchable = [
        Searchable("title", \Recipe.title, weight: 2), Searchable("body", \Recipe.body),
        Searchable("tags", \Recipe.tags),
    ]
}

func show(_ typed: String, in recipes: ObjectStorage<Recipe>) async throws {
    let expression = SearchExpression(typed, completingLastWord: true)
    let page = try await recipes.fetch(Query<Recipe>().searching(expression), limit: 20)
    for recipe in page.objects {
        let snippet = expression.snippet(of: recipe.body, words: 12)
        let hits = snippet.highlights.map { recipe.body[$0] }
        print(recipe.title, recipe.body[snippet.range], "with \(hits.joined(separator: ", "))")
    }
}

struct Place: Codable {
    var name: String
}

extension Place: Queryable {
    static let searchable = [Searchable("name", \Place.name)]
    static let searchForm = SearchForm.substrings
}

@Test func `The guide about queries shows what a search finds`() async throws {
    let recipes = ObjectStorage<Recipe>(storage: MemoryStorageEngine())
    let cake = Recipe(title: "Gâteau", body: "Beat the eggs.", tags: ["sweet"])
    try await recipes.store(cake, forKey: CacheKey("cake"))
    try await show("gateau egg", in: recipes)
    let query = Query<Recipe>().searching(SearchExpression("gateau egg", completingLastWord: true))
    #expect(try await recipes.fetch(query).objects.map(\.title) == ["Gâteau"])
}

extension String {
    /// The text in lower case, without accents.
    var folded: String {
        folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}

struct Contact: Codable {
    var name: String { didSet { foldedName = name.folded } }
    private(set) var foldedName: String

    init(name: String) {
        self.name = name
        foldedName = name.folded
    }
}

extension Contact: Queryable {
    static let indexes = [Index("foldedName", \Contact.foldedName)]
}

func search(_ text: String, in contacts: ObjectStorage<Contact>) async throws -> [Contact] {
    let text = text.folded
    let matches = Query<Contact>(
        where: #Predicate { $0.foldedName.starts(with: text) }, sortedBy: SortDescriptor(\.foldedName))
    return try await contacts.fetch(matches, limit: 50).objects
}

@Test func `The guide about queries finds texts regardless of case and accents`() async throws {
    let folder = TemporaryFolder()
    let contacts = ObjectStorage<Contact>(storage: try SQLiteStorageEngine(opening: folder.directory))
    for name in ["Łukasz", "Zoë", "ÉMILE", "emil", "İpek", "Straßer", "Ｋｅｎ"] {
        try await contacts.store(Contact(name: name), forKey: CacheKey(name))
    }
    var renamed = Contact(name: "Zoe")
    renamed.name = "Emily"
    try await contacts.store(renamed, forKey: CacheKey("renamed"))
    try await contacts.createIndexes()
    for (text, names) in [
        ("émil", ["emil", "ÉMILE", "Emily"]), ("ZOE", ["Zoë"]), ("ipek", ["İpek"]), ("strasser", ["Straßer"]),
        ("ken", ["Ｋｅｎ"]), ("mil", []),
    ] {
        #expect(try await search(text, in: contacts).map(\.name) == names)
        let folded = text.folded
        let containing = Query<Contact>(where: #Predicate { $0.foldedName.contains(folded) })
        #expect(try await contacts.count(containing) == (text == "mil" ? 3 : names.count))
    }
    #if !canImport(Darwin)  // There, it needs a later system than this package.
    #expect(try await contacts.count(Query(where: #Predicate { $0.name.contains(/(?i)emil/) })) == 2)
    #endif
}

struct Reminder: Codable {
    var title: String
    var isDone: Bool
    var dueDate: Date
}

extension Reminder: Queryable {
    static let indexes = [Index("dueDate", \Reminder.dueDate).where("isDone", \Reminder.isDone, equals: false)]
}

func nextReminders(in reminders: ObjectStorage<Reminder>) async throws -> [Reminder] {
    let open = Query<Reminder>(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.dueDate))
    return try await reminders.fetch(open, limit: 50).objects
}

@Test func `The guide about queries finds what an index of some objects has`() async throws {
    let folder = TemporaryFolder()
    let reminders = ObjectStorage<Reminder>(storage: try SQLiteStorageEngine(opening: folder.directory))
    let all = (0..<200).map { number in
        Reminder(
            title: "\(number)", isDone: number % 10 != 0, dueDate: Date(timeIntervalSinceReferenceDate: Double(-number))
        )
    }
    for reminder in all { try await reminders.store(reminder, forKey: CacheKey(reminder.title)) }
    let expected = all.filter { !$0.isDone }.sorted { $0.dueDate < $1.dueDate }.map(\.title)
    #expect(try await nextReminders(in: reminders).map(\.title) == expected)
    try await reminders.createIndexes()
    #expect(try await nextReminders(in: reminders).map(\.title) == expected)
}
