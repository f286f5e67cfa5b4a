import Bodega

/// The identity of an object in its collection: the bytes of its identifier's text, as in the stored key. Swift's `==`
/// compares strings by canonical equivalence instead.
enum Identity<ID: Hashable>: Hashable {
    case text(ExactText)
    /// An identifier without a text. Only a custom engine can store it.
    case value(ID)

    init(_ identifier: ID) {
        do {
            self = .text(ExactText(try IdentifierText.text(of: identifier)))
        } catch {
            self = .value(identifier)
        }
    }
}

extension BaseCodableStoreable {
    /// The object's identity.
    var codableStoreIdentity: Identity<ID> { Identity(codableStoreID) }
}
