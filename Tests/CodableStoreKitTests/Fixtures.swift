import Bodega
import CodableStoreKit
import Foundation

/// A user of the reference's documentation.
struct User: CodableStoreable, Equatable, Sendable {
    let id: String
    var firstName: String
    var lastName: String

    static var codableStoreIdentifier: KeyPath<User, String> { \User.id }
}

extension User {
    /// A user with a number.
    init(_ number: Int, _ firstName: String = "Mr.", _ lastName: String = "Robot") {
        self.init(id: "\(number)", firstName: firstName, lastName: lastName)
    }
}

/// An object with a number for an identifier.
struct Note: CodableStoreable, Equatable, Sendable {
    static var codableStoreIdentifier: KeyPath<Note, Int> { \.id }
    let id: Int
    var text: String
}

/// An object that can refuse to be encoded.
struct Picky: CodableStoreable, Sendable {
    static var codableStoreIdentifier: KeyPath<Picky, Int> { \.id }
    let id: Int
    var isWritable = true

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        guard isWritable else {
            throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "It refuses."))
        }
        try container.encode(id, forKey: .id)
        try container.encode(isWritable, forKey: .isWritable)
    }
}

/// An object that is kept as a property list, in a collection of a name of its own.
struct Listed: CodableStoreable, Equatable, Sendable {
    static var codableStoreIdentifier: KeyPath<Listed, String> { \.id }
    let id: String
    var number: Int

    static var codableStoreCollectionName: String { "Listed" }
    static var codableStoreCoder: Coder { (PropertyListEncoder(), PropertyListDecoder()) }
}

/// What observers were told, in order.
final class Events<Object: BaseCodableStoreable>: Sendable {
    private let told = Locked<[String]>([])

    func add(_ event: CodableStore<Object>.ObserveEvent) {
        let kind = if case .saved = event { "saved" } else { "deleted" }
        let text = "\(kind) \(event.object[keyPath: Object.codableStoreIdentifier])"
        told.withLock { $0.append(text) }
    }

    var all: [String] { told.withLock { $0 } }
}
