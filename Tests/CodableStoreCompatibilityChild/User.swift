import CodableStoreKit

/// The User Struct
struct User: Codable {
    let id: String
    let firstName: String
    let lastName: String
}

// MARK: - CodableStoreable

extension User: CodableStoreable {

    /// The CodableStore unique identifier KeyPath
    static var codableStoreIdentifier: KeyPath<User, String> {
        \User.id
    }

}
