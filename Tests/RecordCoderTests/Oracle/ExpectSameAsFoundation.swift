import Foundation
import RecordCoderFuzz
import Testing

/// Expects that `RecordDecoder` decodes JSON as Foundation's decoder does: to an equal value or the same error.
///
/// It decodes the document alone, in the middle of a larger buffer, and several times in a batch, between documents
/// that leave other data in reused buffers.
///
/// - Returns: Foundation's value; `nil` if it throws.
@discardableResult
func expectSameAsFoundation<Value: Decodable>(
    _ type: Value.Type,
    _ json: Data,
    userInfo: [CodingUserInfoKey: any Sendable] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) -> Value? {
    let oracle = Oracle(userInfo: userInfo)
    let value = oracle.foundationsDecoding(of: type, from: json)
    let foundations = exactDescription(of: value)

    func expectSame(_ ours: Result<Value, any Error>, _ how: String, from json: Data, as foundations: String) {
        if let difference = oracle.difference(between: ours, and: foundations, decoding: type, from: json) {
            Issue.record("\(how)\n\(difference)", sourceLocation: sourceLocation)
        }
    }
    expectSame(oracle.ourDecoding(of: type, from: json), "alone", from: json, as: foundations)
    let padding = Data(#""}],"#.utf8)
    let slice = (padding + json + padding)[padding.count..<padding.count + json.count]
    expectSame(oracle.ourDecoding(of: type, from: slice), "as a slice", from: json, as: foundations)

    let others = ["{}", #"{"a":[1"#, #"[{"\u0061":"\n"}]"#].map { Data($0.utf8) }
    let records = [json] + others + [json, json]
    let outcomes = oracle.ourDecodings(of: type, fromEach: records)
    #expect(outcomes.count == records.count, sourceLocation: sourceLocation)
    for (record, outcome) in zip(records, outcomes) {
        let expected =
            record == json ? foundations : exactDescription(of: oracle.foundationsDecoding(of: type, from: record))
        expectSame(outcome, "in a batch", from: record, as: expected)
    }
    if case .success(let value) = value { return value }
    return nil
}

/// Does the same for a text.
@discardableResult
func expectSameAsFoundation<Value: Decodable>(
    _ type: Value.Type,
    _ json: String,
    userInfo: [CodingUserInfoKey: any Sendable] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) -> Value? {
    expectSameAsFoundation(type, Data(json.utf8), userInfo: userInfo, sourceLocation: sourceLocation)
}
