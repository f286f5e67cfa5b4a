import Bodega

/// What tells an object from others of its collection, wherever that is asked: the bytes of its identifier's text, as it is
/// with what is stored. Swift's `==` takes two spellings of one text to be equal.
enum Identity<ID: Hashable>: Hashable {
    case text(ExactText)
    /// An identifier without a text, which only a custom engine can keep.
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
    /// What tells the object from others.
    var codableStoreIdentity: Identity<ID> { Identity(codableStoreID) }
}
