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
