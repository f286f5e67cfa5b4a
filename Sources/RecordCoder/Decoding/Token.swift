/// A value or a member's name in a text of JSON, as the scanner has found it.
///
/// A container's token is followed by those of its elements; an object's elements are its members' names, each followed by
/// its value.
struct Token {
    /// What stands in the text.
    enum Kind: UInt8 {
        case null, `false`, `true`
        /// Digits alone, perhaps after a minus.
        case integer
        /// Any other number.
        case number
        case string
        /// The name of an object's member.
        case name
        case array
        case object
    }

    /// Where the text of a scalar begins, of a string behind its quotation mark. Of an object: the name that is expected
    /// to be asked for next.
    var start: UInt32
    /// How many bytes the text of a scalar has, of a string without its quotation marks; how many elements an array has, how
    /// many members an object.
    var count: UInt32
    /// The token behind this value and all its elements. Of a member's name: the object.
    var next: UInt32
    /// What it is.
    let kind: Kind
    /// Of a string or name: it has escapes. Of an object: its names can't be compared byte by byte, because some are escaped, not
    /// ASCII or there twice, or because there are very many.
    var isIrregular = false
    /// Of a string or name: it is all ASCII.
    var isASCII = true
}
