// Declarations that the guide mentions but does not show.

import CodableStoreKit

struct User: CodableStoreable {
    let id: String
    var name: String

    static var codableStoreIdentifier: KeyPath<User, String> { \.id }
}

let users = CodableStore<User>()
