import Bodega

/// The condition of a partial index: values that members are equal to.
struct IndexCondition: Equatable, Sendable, CustomStringConvertible {
    private let terms: [Term]
    /// The condition as the user wrote it.
    let description: String

    private struct Term: Equatable, Sendable {
        let path: String
        let key: StorageSortKey
    }

    /// Reads a condition such as `@.isDone == false && @.kind == 'note'`.
    ///
    /// - Throws: A ``ToolError`` if it is another one than comparisons with values for equality, joined by `&&`.
    init(parsing text: String) throws {
        let filter: JSONFilter
        do throws(StorageError) {
            filter = try JSONFilterParser.parse(text)
        } catch {
            throw ToolError(.usage, "--index-where: \(error.message)")
        }
        guard let terms = Self.terms(of: filter.condition), Set(terms.map(\.path)).count == terms.count else {
            throw ToolError(
                .usage,
                """
                --index-where \(text): write comparisons of different values with Booleans, integers below 2^48, \
                strings of at most 200 bytes or null by ==, joined by &&, such as '@.isDone == false'.
                """)
        }
        (self.terms, description) = (terms, text)
    }

    private static func terms(of condition: QueryCondition) -> [Term]? {
        switch condition {
        case .and(let left, let right):
            guard let left = terms(of: left), let right = terms(of: right) else { return nil }
            return left + right
        case .member(let path, let possible, _, _):
            guard possible.isOneKey, case .before(let key) = possible.ranges[0].lower, key.canBeConstant else {
                return nil
            }
            return [Term(path: path.text, key: key)]
        case .or, .not, .constant, .opaque: return nil
        }
    }

    /// An index of those items of another one that meet the condition.
    func restricting(_ index: StorageIndex) -> StorageIndex {
        // The tool compares texts by their scalars. The order of the terms makes no other index.
        terms.sorted { $0.path < $1.path }.reduce(index) { $0.where($1.path, equals: $1.key, isForText: false) }
    }
}
