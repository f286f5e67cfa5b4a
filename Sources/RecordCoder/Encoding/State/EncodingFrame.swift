/// An object or array that has been begun and not been ended.
struct EncodingFrame {
    /// What stands between the brackets.
    enum Kind: UInt8 {
        case object
        case array

        /// The bracket that begins it.
        var opening: UInt8 { self == .object ? UInt8(ascii: "{") : UInt8(ascii: "[") }
        /// The bracket that ends it.
        var closing: UInt8 { self == .object ? UInt8(ascii: "}") : UInt8(ascii: "]") }
    }

    /// Whether it is an object or an array.
    let kind: Kind
    /// Whether it is a collection that is written directly, so that no container writes to it.
    let isDirect: Bool
    /// The offset of its opening bracket. As output only grows, no other frame of the record ever has the same.
    let start: Int
    /// Whether it was begun by a container, not by an encoder, so that Foundation leaves its key out of the coding paths of
    /// values within it.
    var isNested = false
    /// The keys that objects like it use, or `nil` if it doesn't use such a table.
    var table: UnsafeMutablePointer<KeyTable>?
    /// The keys of the table that it has, a bit each.
    var used: UInt64 = 0
    /// How many elements an array has; the place in the table at which an object looks for its next key first.
    var position = 0
    /// The place of an object's keys among ``EncodingStorage/keySets`` if it doesn't use a table; -1 if it has none.
    var keySet = -1
    /// The offset of the last key of a dictionary; -1 if it is no dictionary.
    var dictionaryKey = -1

    /// Whether a container of a kind can write to it.
    func isWritable(as kind: Kind) -> Bool {
        self.kind == kind && !isDirect
    }
}
