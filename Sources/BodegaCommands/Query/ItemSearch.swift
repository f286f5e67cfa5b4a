import Bodega
import Foundation
import RecordCoder

/// A search in the texts of a store's items, which are JSON.
struct ItemSearch: Sendable {
    private let pattern: SearchPattern
    private let paths: [JSONQuery]
    /// The search by an index.
    private let stored: StorageSearch
    /// What the relevance of an item depends on; `nil` if the order is another one.
    private(set) var ranking: SearchRanking?

    /// - Parameters:
    ///   - text: What to look for.
    ///   - paths: The values to search: strings, or arrays of strings.
    ///   - form: How the texts are divided.
    /// - Throws: A ``ToolError`` with the place of a mistake in the text.
    init(_ text: String, in paths: [JSONPath], by form: SearchForm) throws {
        let expression: SearchExpression
        do throws(StorageError) {
            expression = try SearchExpression(parsing: text)
        } catch {
            throw ToolError(.usage, "--search: \(error.message)")
        }
        pattern = SearchPattern(expression, form)
        stored = StorageSearch(.search(paths.map(\.member.path), form: form), expression)
        self.paths = paths.map { JSONQuery($0) }
    }

    /// The search by an index, in the order of relevance if what that depends on is known.
    var storageSearch: StorageSearch {
        var search = stored
        search.relevance = ranking.map { StorageSearch.Relevance(weights: weights, ranking: $0) }
        return search
    }

    /// The values to search as an index over them is named; `nil` if no index can serve the search.
    var indexPaths: String? {
        guard stored.isServedByIndex else { return nil }
        return stored.index.pathsText
    }

    /// Whether it looks for substrings, which fewer databases have an index for.
    var isForSubstrings: Bool { stored.index.searchForm == .substrings }

    private var weights: [Double] { paths.map { _ in 1 } }

    /// The search with what the relevance of items depends on, if the store has an index that knows it.
    func rankedByIndex(on reader: StorageReader) async throws -> ItemSearch? {
        guard stored.isServedByIndex, try await reader.hasSearchIndex(stored.index) else { return nil }
        var search = self
        search.ranking = try await reader.fetchRanking(of: stored)
        return search
    }

    /// The search with what the relevance of items depends on, for which this reads all of them if there is no index.
    func ranked(on reader: StorageReader) async throws -> ItemSearch {
        if let ranked = try await rankedByIndex(on: reader) { return ranked }
        let ranking = Locked(SearchRanking(phrases: pattern.phraseCount))
        try await reader.scan([.all(after: nil)]) { [self] in
            ranking.withLock { $0 = SearchRanking(phrases: pattern.phraseCount) }
            return { _, item in
                item.data.withUnsafeBytes { bytes in
                    guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return }
                    if let counts = counts(in: bytes, range) { ranking.withLock { $0.add(counts) } }
                }
                return true
            }
        }
        var search = self
        search.ranking = ranking.withLock { $0 }
        return search
    }

    /// Returns the place of an item in the order of relevance, empty if the order is another one.
    ///
    /// - Returns: `nil` if the item does not match.
    func keys(of bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [StorageSortKey]? {
        let counts = counts(in: bytes, range)
        let isFound = { counts?.has($0) ?? false }
        guard pattern.matches(isFound) else { return nil }
        guard let ranking else { return [] }
        guard let counts else { return [StorageSortKey(0)] }
        return [StorageSortKey(ranking.score(counts, phrases: pattern.reasons(isFound), weights: weights))]
    }

    private func counts(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> SearchCounts? {
        let texts = paths.map { $0.find(in: bytes, range).flatMap { JSONValue(bytes, $0) }.flatMap(Self.text) }
        return texts.allSatisfy { $0 == nil } ? nil : SearchCounts(of: pattern, in: texts)
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): return text
        case .array(let values):
            let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.isEmpty ? nil : texts.joined(separator: "\n")
        case .null, .bool, .number, .object: return nil
        }
    }
}
