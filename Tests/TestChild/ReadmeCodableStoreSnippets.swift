import Boutique
import CodableStoreKit

// The snippets of the tour of CodableStoreKit, and of its guide about stores. They run in this process because its
// environment says where the user's folders are. A test compares them with the pages, line by line.

struct User: CodableStoreable, Identifiable, Sendable {
    let id: String
    var name: String

    static var codableStoreIdentifier: KeyPath<User, String> { \.id }
}

@MainActor
final class UserList: CodableStoreControllerable {
    let codableStore = CodableStore<User>()
    let subscriptionBag = ObservableCodableStoreSubscriptionBag()

    init() { observeCodableStoreables() }

    func codableStoreablesDidUpdate(event: CodableStore<User>.ObserveEvent, codableStoreables: [User]) {
        print(codableStoreables.map(\.name))
    }
}

/// Runs the snippets, and stops at the first that doesn't do what the tour says.
@MainActor
func runReadmeCodableStoreSnippets() async throws {
    let list = UserList()
    try useUsers()
    precondition(list.codableStoreables.map(\.id) == ["42", "43"])
    try useStores()
    try useTransaction()
    try await useBridge()
}

private func useUsers() throws {
    let user = User(id: "42", name: "Mr. Robot")
    try user.save()  // one file, durable when the call returns

    let same = try User.get(identifier: "42")  // throws if there is none
    let robots = try User.get(where: { $0.name.hasSuffix("Robot") })  // in the order of their first saving

    let subscription = User.observeCollection { event in
        switch event {
        case .saved(let user, _, _): print("saved", user.name)
        case .deleted(let user, _, _): print("deleted", user.name)
        }
    }

    // One result per object; a failure affects no other object.
    for result in [user, User(id: "43", name: "Elliot")].save() {
        if case .failure(let id, let error) = result { print(id, error) }
    }

    subscription.unsubscribe()
    precondition(same.name == "Mr. Robot" && robots.count == 1)
}

private func useStores() throws {
    let files = CodableStore<User>()  // one file per object, in the user's documents; on Linux in $XDG_DATA_HOME
    let archive = CodableStore<User>(container: "2024", engine: .sqlite)  // one SQLite file, for many objects
    let draft = CodableStore<User>(engine: .inMemory)

    try files.copy(toStore: archive, where: { $0.id != "42" })
    let reader = archive.readable  // has no `save`, `delete`, `observe` or `copy`
    print(try reader.getCollection().map(\.name))

    let everything = try files.fetchCollection()
    for error in everything.undecodable { print(error.key as Any, error.file as Any, error.cause as Any) }
    precondition(everything.objects.count == 2 && !draft.exists(identifier: "42"))
}

private struct Draft: CodableStoreable {
    let id: String
    var text: String

    static var codableStoreIdentifier: KeyPath<Draft, String> { \.id }
    static var codableStoreCollectionName: String { "Drafts" }
}

private struct Article: CodableStoreable {
    let id: String
    var text: String

    static var codableStoreIdentifier: KeyPath<Article, String> { \.id }
    static var codableStoreCollectionName: String { "Articles" }
}

private func useTransaction() throws {
    let id = "1"
    try Draft(id: id, text: "Hello, friend.").save(engine: .sqlite)

    let drafts = CodableStore<Draft>(engine: .sqlite)
    let articles = CodableStore<Article>(engine: .sqlite)

    try drafts.transaction {
        let draft = try drafts.get(identifier: id)
        try articles.save(Article(id: draft.id, text: draft.text))
        try drafts.delete(draft)
    }
    let article = try articles.get(identifier: id)
    precondition(article.text == "Hello, friend." && !drafts.exists(identifier: id))
}

@MainActor
private func useBridge() async throws {
    let engine = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Users"))
    let users = CodableStore<User>(engine: .sqlite(engine))
    let store = try await Store<User>(storage: engine)

    try await store.insert(User(id: "44", name: "Darlene"))
    let darlene = try users.get(identifier: "44")

    Task {
        for await event in users.events(where: { $0.name != "Darlene" }) { print("changed", event.object.name) }
    }
    precondition(darlene.name == "Darlene")
}
