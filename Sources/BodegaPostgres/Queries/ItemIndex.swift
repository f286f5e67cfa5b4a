#if Postgres
import Bodega
import Crypto
import Foundation

/// An index of a collection: its name, and the statements that create it.
///
/// The index covers the items of one collection. It is an index of the partitioned table, with an index of each
/// partition. Its name contains the version of the function, the number of the collection and a hash of the path, and
/// its comment the path. An index of another version has another name, and both can exist at the same time.
struct ItemIndex: Sendable {

    let index: StorageIndex
    let collection: Int32

    /// The start of the names of all versions.
    static let prefix = "emporium_index_"

    /// The starts of the comments: the server takes an empty one for none.
    private static let commentStart = "path: "
    private static let compoundCommentStart = "members: "

    /// The path, or those of a compound index with their kinds, in JSON. A member of a condition has its value, too.
    var comment: String { index.others.isEmpty ? Self.commentStart + index.path : Self.compoundCommentStart + members }

    private var members: String {
        var members = index.members.map { [$0.isForText ? "t" : "v", $0.path] }
        for (number, key) in index.constants.enumerated() { members[number].append(Self.text(of: key)) }
        do {
            return String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
        } catch {
            preconditionFailure("Texts can be encoded.")
        }
    }

    private static func index(members: some Sequence<UInt8>) -> StorageIndex? {
        let parts: [[String]]
        do {
            parts = try JSONDecoder().decode([[String]].self, from: Data(members))
        } catch {
            // The comment was changed.
            return nil
        }
        let constants = parts.prefix { $0.count == 3 }
        let others = parts.dropFirst(constants.count)
        guard parts.count > 1, !others.isEmpty, others.allSatisfy({ $0.count == 2 }) else { return nil }
        let members = others.map { StorageIndex.Member($0[1], isForText: $0[0] == "t") }
        var index = StorageIndex(members[0], Array(members.dropFirst()))
        for part in constants {
            guard let key = constant(in: part[2]) else { return nil }
            index = index.where(part[1], equals: key, isForText: part[0] == "t")
        }
        return index
    }

    /// The value of a member of a condition: an integer, a text after an apostrophe, or `null`.
    private static func text(of constant: StorageSortKey) -> String {
        switch constant {
        case .integer(let integer): "\(integer)"
        case .text(let text): "'\(text)"
        case .none, .real: "null"
        }
    }

    private static func constant(in text: String) -> StorageSortKey? {
        // A text can begin with an accent, which Swift joins with the apostrophe.
        if text.utf8.first == UInt8(ascii: "'") { return .text(String(decoding: text.utf8.dropFirst(), as: UTF8.self)) }
        return text == "null" ? StorageSortKey.none : Int64(text).map { .integer($0) }
    }

    /// The name of the index of the whole table, of at most 48 bytes.
    var name: String { name(version: SortKeyFunction.version) }

    private func name(version: Int) -> String {
        let kind = !index.others.isEmpty ? "c" : index.isForText ? "t" : "v"
        let text = index.others.isEmpty ? index.path : members
        let digits = SHA256.hash(data: Data(text.utf8)).prefix(8).hexadecimal
        return "\(Self.prefix)\(version)_\(collection)_\(kind)_\(digits)"
    }

    /// Whether a name is that of this index in any version, or of a part of it.
    func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "_", maxSplits: 3)
        guard name.hasPrefix(Self.prefix), parts.count == 4, let version = Int(parts[2]) else { return false }
        let own = self.name(version: version)
        return name == own || name.hasPrefix(own + "_")
    }

    /// The name of the index of a partition.
    func name(onPartition partition: String) -> String {
        let start = "emporium_items_"
        let suffix = partition.hasPrefix(start) ? partition.dropFirst(start.count) : partition[...]
        return "\(name)_\(suffix.prefix(12))"
    }

    /// Checks that the server can represent the path, and the condition.
    func check() throws {
        try index.checkCondition()
        if index.members.contains(where: { $0.path.unicodeScalars.contains("\0") }) {
            throw StorageError(
                .invalidArgument, "PostgreSQL can't have an index over a path with the character U+0000.")
        }
    }

    // MARK: Catalogs

    /// A query for the indexes of a collection that queries can use: the name and the comment of each.
    ///
    /// An index of the whole table is valid when all partitions have theirs. The server begins the text of a `CASE`
    /// with a line end.
    static func usable(ofCollection collection: Int32) -> String {
        usable(prefix: "\(prefix)\(SortKeyFunction.version)_\(collection)_", "\(collection)")
    }

    /// The indexes of all collections that queries can use, see ``usable(ofCollection:)``.
    static let usable = Statement(
        usable(prefix: "\(prefix)\(SortKeyFunction.version)_", "' || split_part(c.relname::text, '_', 4) || '"))

    private static func usable(prefix: String, _ collection: String) -> String {
        let partial = "'((collection = \(collection)) AND (\(SortKeyFunction.name)('"
        return """
            SELECT c.relname, d.description
            FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
            JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
            WHERE i.indrelid = 'emporium_items'::regclass AND i.indisvalid
                AND starts_with(c.relname::text, '\(prefix)')
                AND (starts_with(pg_get_expr(i.indexprs, i.indrelid), '\(SortKeyFunction.name)(')
                    OR starts_with(ltrim(pg_get_expr(i.indexprs, i.indrelid), E' \\n'), 'CASE')
                        AND strpos(pg_get_expr(i.indexprs, i.indrelid), '.\(SortKeyFunction.name)(') = 0)
                AND (pg_get_expr(i.indpred, i.indrelid) = '(collection = \(collection))'
                    OR starts_with(pg_get_expr(i.indpred, i.indrelid), \(partial)))
            """
    }

    /// Decodes the result of ``usable(ofCollection:)``, or that of ``usable``.
    static func indexes(_ rows: QueryResult, ofCollection collection: Int32) throws -> Set<StorageIndex> {
        var indexes: Set<StorageIndex> = []
        for row in 0..<rows.count {
            let (name, comment) = (try rows.text(row, 0), try rows.text(row, 1))
            // A path can begin with an accent, which Swift joins with the space.
            if comment.utf8.starts(with: compoundCommentStart.utf8) {
                let members = comment.utf8.dropFirst(compoundCommentStart.utf8.count)
                if let index = Self.index(members: members),
                    ItemIndex(index: index, collection: collection).name == name
                {
                    indexes.insert(index)
                }
                continue
            }
            guard comment.utf8.starts(with: commentStart.utf8) else { continue }
            let path = String(decoding: comment.utf8.dropFirst(commentStart.utf8.count), as: UTF8.self)
            for isForText in [true, false] {
                let index = StorageIndex(path, isForText: isForText)
                // The comment may have been changed.
                if ItemIndex(index: index, collection: collection).name == name { indexes.insert(index) }
            }
        }
        return indexes
    }
}
#endif
