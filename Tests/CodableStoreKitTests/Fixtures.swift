import Bodega
import CodableStoreKit
import Foundation

/// The user of the original library's documentation.
struct User: CodableStoreable, Equatable, Sendable {
    let id: String
    var firstName: String
    var lastName: String

    static var codableStoreIdentifier: KeyPath<User, String> { \User.id }
}

extension User {
    /// Creates a user whose identifier is a number.
    init(_ number: Int, _ firstName: String = "Mr.", _ lastName: String = "Robot") {
        self.init(id: "\(number)", firstName: firstName, lastName: lastName)
    }
}

/// An object whose identifier is a number.
struct Note: CodableStoreable, Equatable, Sendable {
    static var codableStoreIdentifier: KeyPath<Note, Int> { \.id }
    let id: Int
    var text: String
}

/// An object whose encoding can fail.
struct Picky: CodableStoreable, Sendable {
    static var codableStoreIdentifier: KeyPath<Picky, Int> { \.id }
    let id: Int
    var isWritable = true

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        guard isWritable else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: [], debugDescription: "The object is not writable."))
        }
        try container.encode(id, forKey: .id)
        try container.encode(isWritable, forKey: .isWritable)
    }
}

/// An object that is stored as a property list, in a collection with a custom name.
struct Listed: CodableStoreable, Equatable, Sendable {
    static var codableStoreIdentifier: KeyPath<Listed, String> { \.id }
    let id: String
    var number: Int

    static var codableStoreCollectionName: String { "Listed" }
    static var codableStoreCoder: Coder { (PropertyListEncoder(), PropertyListDecoder()) }
}

/// The object that other processes save.
struct Letter: CodableStoreable, Equatable, Sendable {
    static var codableStoreIdentifier: KeyPath<Letter, String> { \.id }
    let id: String
    var text: String

    static var codableStoreCollectionName: String { "Letters" }

    init(id: String, text: String? = nil) {
        self.id = id
        self.text = text ?? String(repeating: id, count: 50)
    }
}

/// A controller without hooks.
final class PlainController: CodableStoreControllerable {
    let codableStore: CodableStore<User>
    let subscriptionBag = ObserverableCodableStoreSubscriptionBag()

    init(_ store: CodableStore<User>) { codableStore = store }
}

/// The events that observers received, in order.
final class Events<Object: BaseCodableStoreable>: Sendable {
    private let received = Locked<[String]>([])

    func add(_ event: CodableStore<Object>.ObserveEvent) {
        let kind = if case .saved = event { "saved" } else { "deleted" }
        let text = "\(kind) \(event.object[keyPath: Object.codableStoreIdentifier])"
        received.withLock { $0.append(text) }
    }

    var all: [String] { received.withLock { $0 } }
}
