// The snippet of the guide about stores.

import CodableStoreKit

struct Draft: CodableStoreable {
    let id: String
    var text: String

    static var codableStoreIdentifier: KeyPath<Draft, String> { \.id }
}

struct Note: CodableStoreable {
    let id: String
    var text: String

    static var codableStoreIdentifier: KeyPath<Note, String> { \.id }
}

let id = "1"
