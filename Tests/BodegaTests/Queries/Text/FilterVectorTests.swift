import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import Bodega

/// Writes filters with their matches for another implementation; see `Tools/JSONPath/check`.
@Suite("Filters for another implementation")
struct FilterVectorTests {

    private struct Rounds: Encodable {
        var seed: String
        var rounds: [Round]
    }

    private struct Round: Encodable {
        var documents: [String]
        var cases: [Case]
    }

    private struct Case: Encodable {
        var filter: String
        var matches: [Int]
    }

    private static let folder = ProcessInfo.processInfo.environment["EMPORIUM_FILTER_CASES"]

    @Test("are written with their matches", .enabled(if: folder != nil))
    func write() throws {
        print("filters: EMPORIUM_SEED=\(Seed.current)")
        var samples = ModelSamples(seed: Seed.current)
        var rounds: [Round] = []
        for _ in 0..<max(1, TestSizes.queries / 40) {
            samples.beginRound()
            let documents = (0..<30).map { _ in samples.document() }
                .filter { $0.value?.isCommon ?? false }.map { String(decoding: $0.bytes, as: UTF8.self) }
            let filters = (0..<30).map { _ in samples.filter() }.filter(\.isCommon).prefix(20)
            let cases = try filters.map { filter in
                let parsed = try JSONFilterParser.parse(filter.text)
                let matches = documents.indices.filter { index in
                    Array(documents[index].utf8).withUnsafeBytes { bytes in
                        JSONScanner.document(bytes).map { parsed.accepts(bytes, $0) } ?? false
                    }
                }
                return Case(filter: filter.text, matches: matches)
            }
            rounds.append(Round(documents: documents, cases: cases))
        }
        let file = URL(fileURLWithPath: try #require(Self.folder)).appendingPathComponent("cases.json")
        try JSONEncoder().encode(Rounds(seed: "\(Seed.current)", rounds: rounds)).write(to: file)
    }
}

extension ModelValue {
    /// Whether all implementations agree on the value: its strings are Unicode, and its numbers are exact as a
    /// `Double`.
    fileprivate var isCommon: Bool {
        switch self {
        case .broken: false
        case .number(let text):
            text.count(where: \.isNumber) <= 15 && abs(Double(text) ?? .infinity) < 1e15 && !text.contains("e-")
        case .array(let elements): elements.allSatisfy(\.isCommon)
        case .object(let members): members.allSatisfy { $0.value.isCommon }
        default: true
        }
    }
}

extension ModelFilter {
    fileprivate var isCommon: Bool {
        switch self {
        case .or(let left, let right), .and(let left, let right): left.isCommon && right.isCommon
        case .not(let filter): filter.isCommon
        case .compare(let left, _, let right):
            [left, right].allSatisfy { if case .literal(let value) = $0 { value.isCommon } else { true } }
        default: true
        }
    }
}
