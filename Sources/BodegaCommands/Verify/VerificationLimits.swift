import Bodega

/// What `verify` can't notice in a store.
struct VerificationLimits {
    /// The kinds of damage, each as a noun phrase.
    let unnoticed: [String]
    /// A sentence, with a space before it, about what would find more; empty if there is nothing.
    private let advice: String

    /// Describes the limits for a store.
    ///
    /// - Parameters:
    ///   - isDecrypting: Whether items are decrypted, which detects every change of their bytes.
    ///   - expectsJSON: Whether items that are not JSON are problems.
    init(of address: StorageAddress, isDecrypting: Bool, expectsJSON: Bool) {
        let bytes = expectsJSON ? "bytes of an item, changed so that it is still JSON" : "changed bytes of an item"
        switch address.engine {
        case .disk:
            let cut = expectsJSON ? [] : ["bytes cut off from an item"]
            unnoticed = (isDecrypting ? [] : [bytes] + cut) + ["changed dates of an item", "removed files"]
        case .sqlite, .memory:
            unnoticed = (isDecrypting ? [] : [bytes]) + ["valid changes of the file by another program"]
        case .postgres, .server:
            unnoticed = ["damage that the server does not detect"]
        }
        advice =
            isDecrypting || expectsJSON || address.engine == .postgres
            ? "" : " With --expect-json it finds items that are no longer JSON."
    }

    /// The limits as a sentence.
    var note: String { "this can't find \(unnoticed.joined(separator: ", or ")).\(advice)" }
}
