import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// A user with a custom collection name and coder.
struct User: Codable, Equatable {
    let id: String
    let firstName: String
    let lastName: String
}

extension User: CodableStoreable {
    static var codableStoreIdentifier: KeyPath<User, String> {
        \User.id
    }
}

extension User {

    /// The CodableStore collection name
    static var codableStoreCollectionName: String {
        // In Default: return String(describing: type(of: self))
        "MyCustomUserCollectionName"
    }

}

extension User {

    /// The CodableStore Coder
    static var codableStoreCoder: Coder {
        (JSONEncoder(), JSONDecoder())
    }

}

/// A type that the README declares in one line, made complete.
enum Sketch {
    // A User struct
    struct User: CodableStoreable {
        var id = 42
        static var codableStoreIdentifier: KeyPath<Sketch.User, Int> {
            \Sketch.User.id
        }
    }
}

/// The section "BaseCodableStoreable".
enum Downgraded {
    struct User: Codable {
        var id = UUID()
        static var codableStoreIdentifier: KeyPath<Downgraded.User, UUID> {
            \Downgraded.User.id
        }
    }
}

// try user.save() ❌ (unavailable)
extension Downgraded.User: BaseCodableStoreable {}

/// A type that is stored as property lists.
struct Setting: CodableStoreable {
    var name: String
    var value: Int

    static var codableStoreIdentifier: KeyPath<Setting, String> {
        \.name
    }

    static var codableStoreCoder: Coder {
        (PropertyListEncoder(), PropertyListDecoder())
    }
}

@Suite struct CollectionTests {
    let folder = TemporaryFolder()

    @Test func `A collection has the name of its type, or a name that the type chooses`() throws {
        #expect(Sketch.User.codableStoreCollectionName == "User.Type")
        #expect(User.codableStoreCollectionName == "MyCustomUserCollectionName")
        let store = CodableStore<User>(engine: .fileSystem(in: folder.directory))
        let user = User(id: "42", firstName: "Mr.", lastName: "Robot")
        try store.save(user)
        #expect(try store.get(identifier: "42") == user)
        let collections = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/Default")
        #expect(collections.contains { $0.hasPrefix("MyCustomUserCollectionName") })
    }

    @Test func `A type's own coder is used`() throws {
        let store = CodableStore<Setting>(engine: .fileSystem(in: folder.directory))
        try store.save(Setting(name: "volume", value: 11))
        #expect(try store.get(identifier: "volume").value == 11)
    }

    @Test func `A type without the conveniences can be used with a store`() throws {
        // But both CodableStoreable and BaseCodableStoreable
        // can be used with a CodableStore 👌
        let codableStore = CodableStore<Downgraded.User>(engine: .inMemory)

        let user = Downgraded.User()
        try codableStore.save(user)
        #expect(try codableStore.delete(user).id == user.id)
        #expect(hasConveniences(User.self))
        #expect(!hasConveniences(Downgraded.User.self))
    }

    private func hasConveniences<T: CodableStoreable>(_ type: T.Type) -> Bool { true }
    private func hasConveniences<T: BaseCodableStoreable>(_ type: T.Type) -> Bool { false }

    @Test func `The result for each object is a success or a failure`() throws {
        let store = CodableStore<User>(engine: .fileSystem(in: folder.directory))
        var reports: [String] = []
        for result in store.save([User(id: "1", firstName: "A", lastName: "B")]) + store.delete(identifiers: ["2"]) {
            switch result {
            case .success(let object): reports.append("success \(object.id)")
            case .failure(let identifier, let error): reports.append("failure \(identifier) \(error is StorageError)")
            }
        }
        #expect(reports == ["success 1", "failure 2 true"])
        let all = try store.deleteCollection()
        #expect(all.count == 1)
    }

    @Test func `Reading by conditions, and copying`() throws {
        let store = CodableStore<User>(engine: .fileSystem(in: folder.directory))
        store.save([
            User(id: "1", firstName: "Mr.", lastName: "Robot"),
            User(id: "2", firstName: "Elliot", lastName: "Alderson"),
        ])
        #expect(try store.get(where: { $0.lastName == "Robot" }).count == 1)
        #expect(try store.first(where: { $0.firstName == "Elliot" })?.id == "2")
        let other = CodableStore<User>(container: "Other", engine: .fileSystem(in: folder.directory))
        try store.copy(toStore: other, where: { $0.id == "1" })
        #expect(try other.getCollection().map { $0.id } == ["1"])
    }
}
