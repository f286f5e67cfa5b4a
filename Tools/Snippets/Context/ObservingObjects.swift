// What the guide speaks of and does not show.

import CodableStoreKit

struct User: CodableStoreable {
    let id: String
    var name: String

    static var codableStoreIdentifier: KeyPath<User, String> { \.id }
}

let users = CodableStore<User>()
