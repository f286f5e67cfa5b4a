// The text of an index in its name: the kind and the path of each member, such as `value:isDone,value:dueDate`. A
// member of a condition has its value, too, such as `value=0:isDone`, `value=null:owner`, or the bytes of a text in
// hexadecimal digits, `text=x6f70656e:status`.
//
// SQLite ignores the case of names, so uppercase letters are marked. So are commas, if there are several members.

extension SQLiteIndex {

    static func text(of index: StorageIndex) -> String {
        let members = index.members.enumerated().map { number, member in
            let path = escaped(member.path, markingCommas: !index.others.isEmpty)
            let value = number < index.constants.count ? text(of: index.constants[number]) : ""
            return "\(member.isForText ? "text" : "value")\(value):\(path)"
        }
        return members.joined(separator: ",")
    }

    private static func text(of constant: StorageSortKey) -> String {
        switch constant {
        case .integer(let integer): "=\(integer)"
        case .text(let text): "=x\(text.utf8.hexadecimal)"
        case .none, .real: "=null"
        }
    }

    /// The index of a table that has a name; `nil` if no index of this version does.
    static func index(named name: String, of table: SQLiteTable) -> StorageIndex? {
        // By scalars: a name can begin with a combining mark.
        let (name, start) = (name.unicodeScalars, start(of: table).unicodeScalars)
        guard name.starts(with: start) else { return nil }
        let text = name.dropFirst(start.count)
        // An index over one member does not mark commas.
        let texts = members(in: text)
        let members = texts.compactMap(member)
        guard texts.count > 1, members.count == texts.count else {
            return member(in: text).map { StorageIndex($0.member) }
        }
        let constants = members.prefix { $0.constant != nil }
        let ordered = members.dropFirst(constants.count)
        guard let first = ordered.first, ordered.allSatisfy({ $0.constant == nil }) else { return nil }
        let index = StorageIndex(first.member, ordered.dropFirst().map(\.member))
        return constants.reduce(index) { index, next in
            index.where(next.member.path, equals: next.constant ?? .none, isForText: next.member.isForText)
        }
    }

    private static func member(
        in text: Substring.UnicodeScalarView
    ) -> (member: StorageIndex.Member, constant: StorageSortKey?)? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let kind = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["text", "value"].contains(String(kind[0])) else { return nil }
        let member = StorageIndex.Member(unescaped(parts[1]), isForText: String(kind[0]) == "text")
        if kind.count == 1 { return (member, nil) }
        return constant(in: String(kind[1])).map { (member, $0) }
    }

    private static func constant(in text: String) -> StorageSortKey? {
        if text == "null" { return StorageSortKey.none }
        guard text.hasPrefix("x") else { return Int64(text).map { .integer($0) } }
        let digits = Array(text.utf8.dropFirst())
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16)
        }
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    /// The texts of members, which are separated by commas that are not marked.
    private static func members(in text: Substring.UnicodeScalarView) -> [Substring.UnicodeScalarView] {
        var (members, start, isMarked) = ([Substring.UnicodeScalarView](), text.startIndex, false)
        for index in text.indices {
            if text[index] == ",", !isMarked {
                members.append(text[start..<index])
                start = text.index(after: index)
            }
            isMarked = text[index] == "^" && !isMarked
        }
        return members + [text[start...]]
    }

    private static func escaped(_ path: String, markingCommas: Bool) -> String {
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "^")
                || byte == UInt8(ascii: ",") && markingCommas
            {
                bytes.append(UInt8(ascii: "^"))
            }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ text: Substring.UnicodeScalarView) -> String {
        var scalars = String.UnicodeScalarView()
        var isMarked = false
        for scalar in text {
            if scalar == "^", !isMarked {
                isMarked = true
            } else {
                scalars.append(scalar)
                isMarked = false
            }
        }
        return String(scalars)
    }
}
