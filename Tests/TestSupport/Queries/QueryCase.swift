import Bodega
import Foundation
import RecordCoder

/// A query in the form of a test, and in that of the package.
struct QueryCase: CustomStringConvertible {
    let filter: ModelFilter?
    let order: [ModelSamples.Term]
    let fewCandidates: Int
    let smallGroup: Int
    let manyCandidates: Int
    let pageSize: Int
    /// Whether the query knows matches without examining them: for sure, or only that they may match.
    let glance: Bool?

    init(_ samples: inout ModelSamples) {
        filter = samples.chance(85) ? samples.filter() : nil
        order = samples.order()
        fewCandidates = samples.pick([10_000, 10_000, 4, 0])
        smallGroup = samples.pick([8, 4, 1, 0])
        manyCandidates = samples.pick([256, 2, 0])
        pageSize = samples.pick([1, 2, 3, 5, 10, .max])
        glance = samples.pick([nil, true, false])
    }

    var description: String {
        let terms = order.map { "\(ModelFilter.text(of: $0.path)) \($0.isDescending ? "descending" : "ascending")" }
        let looks = glance.map { "glances \($0)" } ?? "examines"
        return """
            \(filter?.text ?? "all") by \(terms), pages of \(pageSize), few are \(fewCandidates), \
            groups of \(smallGroup), many are \(manyCandidates), \(looks)
            """
    }

    /// The keys that a term's place in the order of an index depends on, all or some.
    private static let ordered: [StorageSortKeyRanges] = [.all, .numbers, .texts.union(.none), .values]

    /// The keys of the matches.
    func expected(of items: [QueriedItems.Item]) -> [CacheKey] {
        let matches = items.compactMap { item -> (key: CacheKey, terms: [ModelKey])? in
            guard let value = item.document.value, filter?.accepts(value) ?? true else { return nil }
            return (item.key, order.map { ModelKey(value[$0.path]) })
        }
        let sorted = matches.enumerated().sorted { left, right in
            for (index, term) in order.enumerated() {
                let (first, second) = (left.element.terms[index], right.element.terms[index])
                let result = first.compare(second)
                if result == 0 { continue }
                if first.isNone || second.isNone { return second.isNone }
                return term.isDescending ? result > 0 : result < 0
            }
            return left.offset < right.offset
        }
        return sorted.map(\.element.key)
    }

    func query() throws -> StorageQuery<CacheKey> {
        let filter = try filter.map { try JSONFilterParser.parse($0.text) }
        let paths = order.map { QueriedEngine.path(of: $0.path) }
        var query = StorageQuery<CacheKey>(
            condition: filter?.condition ?? .opaque,
            order: zip(paths, order).map { path, term in
                QueryTerm(path: path, isDescending: term.isDescending, ordered: Self.ordered[term.ordered])
            },
            examine: { entry, receive in
                entry.data.withUnsafeBytes { bytes in
                    guard isValidUTF8(bytes), let range = JSONScanner.document(bytes),
                        filter?.accepts(bytes, range) ?? true
                    else { return nil }
                    receive(entry.key)
                    return paths.map { StorageSortKey(bytes, StorageIndex.Member($0).query.find(in: bytes, range)) }
                }
            })
        query.fewCandidates = fewCandidates
        query.smallGroup = smallGroup
        query.manyCandidates = manyCandidates
        if let glance {
            query.glance = { [examine = query.examine] entry in
                var isMatch = false
                let keys = try examine(entry) { _ in isMatch = true }
                // One that only may match can be excluded later.
                if let keys { return .keys(keys, isMatch: isMatch && glance) }
                return entry.data.count % 2 == 0 ? .excluded : .nothing
            }
        }
        return query
    }

    /// Compares what an engine finds with what it should find.
    ///
    /// - Returns: What is wrong, `nil` if nothing is.
    func defect(of queried: QueriedEngine, _ items: [QueriedItems.Item]) async throws -> String? {
        let expected = expected(of: items)
        let query = try query()
        let engine = StorageReader(queried.engine.backend)
        // At most some pages, because each of them reads items again.
        let pageSize = max(pageSize, expected.count / 6)
        var found: [CacheKey] = []
        var place: QueryPlace?
        var plans: [String] = []
        repeat {
            let page = try await query.page(from: engine, limit: pageSize, after: place)
            plans.append(page.plan.explanation)
            found += page.matches
            place = page.hasMore ? page.places.last : nil
            if page.hasMore, page.matches.count != pageSize { return "a page of \(page.matches.count) of \(pageSize)" }
        } while place != nil && found.count <= expected.count
        if found != expected { return "\(plans.last ?? ""): found \(found), expected \(expected)" }
        let count = try await query.count(in: engine)
        let others = queried.countsInvalidUTF8 ? items.count { $0.document.isNearlyJSON } : 0
        if !(expected.count...expected.count + others ~= count) { return "counted \(count) of \(expected.count)" }
        let first = try await query.page(from: engine, limit: 0, after: nil)
        if first.hasMore != !expected.isEmpty || !first.matches.isEmpty { return "a limit of 0 finds \(first)" }
        return nil
    }
}
