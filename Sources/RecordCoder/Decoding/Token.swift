/// A value or a member's name in a JSON text.
///
/// The tokens of a container's elements follow the container's token. An object's elements are its members' names, each
/// followed by the member's value.
struct Token {
    /// The kind of a token.
    enum Kind: UInt8 {
        case null, `false`, `true`
        /// A number of digits alone, with an optional minus sign.
        case integer
        case number
        case string
        case name
        case array
        case object
    }

    /// For a scalar: the offset of its text, for a string without the quotation mark. For an object: the token of the
    /// name at which the next search starts.
    var start: UInt32
    /// For a scalar: the number of bytes in its text, for a string without the quotation marks. For an array or object:
    /// the number of elements or members.
    var count: UInt32
    /// The token after this value and all its elements. For a member's name: the object's token.
    var next: UInt32
    let kind: Kind
    /// For a string or name: whether it has escapes. For an object: whether its names can't be compared byte by byte,
    /// because some are escaped, not ASCII or duplicates, or because there are too many.
    var isIrregular = false
    /// For a string or name: whether it is all ASCII.
    var isASCII = true
}
