// The text of an index in its name: the kind and the path of each member, such as `value:isDone,value:dueDate`. A member
// of a condition has its value, too, such as `value=0:isDone`, `value=null:owner` or `text='open:status`.
//
// SQLite ignores the case of names, so uppercase letters are marked. So are commas, if there are several members, and
// colons in a value.

extension SQLiteIndex {

    static func text(of index: StorageIndex) -> String {
        let members = index.members.enumerated().map { number, member in
            let path = escaped(member.path, marking: index.others.isEmpty ? [] : [","])
            let value = number < index.constants.count ? text(of: index.constants[number]) : ""
            return "\(member.isForText ? "text" : "value")\(value):\(path)"
        }
        return members.joined(separator: ",")
    }

    private static func text(of constant: StorageSortKey) -> String {
        switch constant {
        case .integer(let integer): "=\(integer)"
        case .text(let text): "='\(escaped(text, marking: [",", ":"]))"
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
        let texts = parts(of: text, separatedBy: ",")
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
        guard let kind = parts(of: text, separatedBy: ":").first, kind.endIndex < text.endIndex else { return nil }
        let parts = kind.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard ["text", "value"].contains(String(parts[0])) else { return nil }
        let path = unescaped(text[text.index(after: kind.endIndex)...])
        let member = StorageIndex.Member(path, isForText: String(parts[0]) == "text")
        if parts.count == 1 { return (member, nil) }
        return constant(in: parts[1]).map { (member, $0) }
    }

    private static func constant(in text: Substring.UnicodeScalarView) -> StorageSortKey? {
        if text.first == "'" { return .text(unescaped(text.dropFirst())) }
        if String(text) == "null" { return StorageSortKey.none }
        return Int64(String(text)).map { .integer($0) }
    }

    /// The parts of a text between separators that are not marked.
    private static func parts(
        of text: Substring.UnicodeScalarView, separatedBy separator: Unicode.Scalar
    ) -> [Substring.UnicodeScalarView] {
        var (parts, start, isMarked) = ([Substring.UnicodeScalarView](), text.startIndex, false)
        for index in text.indices {
            if text[index] == separator, !isMarked {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
            isMarked = text[index] == "^" && !isMarked
        }
        return parts + [text[start...]]
    }

    private static func escaped(_ text: String, marking separators: [Unicode.Scalar]) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.flatMap { scalar in
                    ("A"..."Z").contains(scalar) || scalar == "^" || separators.contains(scalar)
                        ? ["^", scalar] : [scalar]
                }))
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
