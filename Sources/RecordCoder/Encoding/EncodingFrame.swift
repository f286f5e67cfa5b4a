/// An open object or array.
struct EncodingFrame {
    enum Kind: UInt8 {
        case object
        case array

        var opening: UInt8 { self == .object ? UInt8(ascii: "{") : UInt8(ascii: "[") }
        var closing: UInt8 { self == .object ? UInt8(ascii: "}") : UInt8(ascii: "]") }
    }

    let kind: Kind
    /// Whether the frame is a collection that is written directly, so that no container may write to it.
    let isDirect: Bool
    /// The offset of the opening bracket. It is unique within a record, because the output only grows.
    let start: Int
    /// Whether a container began the frame, not an encoder. Foundation omits the key of such a frame from the coding
    /// paths of values within it.
    var isNested = false
    /// The table of keys that the object uses, if any.
    var table: UnsafeMutablePointer<KeyTable>?
    /// A bit for each key of the table that the object has.
    var used: UInt64 = 0
    /// For an array: the number of elements. For an object: the table index at which the next key's search starts.
    var position = 0
    /// The index of the object's keys in ``EncodingStorage/keySets`` if it uses no table; -1 if it has none.
    var keySet = -1
    /// The offset of a dictionary's last key; -1 if the frame is not a dictionary.
    var dictionaryKey = -1

    /// Whether a container of a kind can write to the frame.
    func isWritable(as kind: Kind) -> Bool {
        self.kind == kind && !isDirect
    }
}
