// The snippet of the guide about stores.

import CodableStoreKit

struct Draft: CodableStoreable {
    let id: String
    var text: String

    static var codableStoreIdentifier: KeyPath<Draft, String> { \.id }
}

struct Article: CodableStoreable {
    let id: String
    var text: String

    static var codableStoreIdentifier: KeyPath<Article, String> { \.id }
}

let id = "1"
