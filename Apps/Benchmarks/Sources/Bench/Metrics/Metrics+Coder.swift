import BenchHarness
import CoderInputs
import Foundation
import RecordCoder

// Separate records, one call each, as an engine returns them. Both sides use one coder for all records.
extension Metrics {
    static let coder =
        coderMetrics(Note.self, decoding: 0.3) + coderMetrics(Flat.self, decoding: 0.25)
        + coderMetrics(Nested.self, decoding: 0.25) + coderMetrics(Intl.self, decoding: 0.3)
        // What is slowest, compared with Foundation.
        + coderMetrics(Extreme.self, count: 2_000, decoding: 1, encoding: 1)

    private static func coderMetrics<Value: Shape>(
        _ type: Value.Type, count: Int = 20_000, decoding maximum: Double, encoding encodingMaximum: Double = 0.25
    ) -> [Metric] {
        [
            Metric("coder.decode.\(Value.name)", baseline: "JSONDecoder", maximum: maximum) { plan in
                try await decode(type, count, plan)
            },
            Metric("coder.encode.\(Value.name)", baseline: "JSONEncoder", maximum: encodingMaximum) { plan in
                try await encode(type, count, plan)
            },
        ]
    }

    private static func decode<Value: Shape>(_ type: Value.Type, _ count: Int, _ plan: Plan) async throws -> Outcome {
        let values = (0..<plan.size(count)).map(Value.init(number:))
        let encoder = JSONEncoder()
        let records = try values.map { try encoder.encode($0) }
        let ours = RecordDecoder()
        let foundations = JSONDecoder()
        return try await compare(
            items: values.count,
            runs: plan.runs,
            ours: {
                let (time, found) = try timed { try records.map { try ours.decode(type, from: $0) } }
                try verify(found == values, equals: true, "the values decoded by us")
                return time
            },
            baseline: {
                let (time, found) = try timed { try records.map { try foundations.decode(type, from: $0) } }
                try verify(found == values, equals: true, "the values decoded by Foundation")
                return time
            }
        )
    }

    private static func encode<Value: Shape>(_ type: Value.Type, _ count: Int, _ plan: Plan) async throws -> Outcome {
        let values = (0..<plan.size(count)).map(Value.init(number:))
        let ours = RecordEncoder()
        let foundations = JSONEncoder()
        let decoder = JSONDecoder()
        return try await compare(
            items: values.count,
            runs: plan.runs,
            ours: {
                let (time, records) = try timed { try values.map { try ours.encode($0) } }
                let found = try records.map { try decoder.decode(type, from: $0) }
                try verify(found == values, equals: true, "the values that Foundation finds in what we encoded")
                return time
            },
            baseline: {
                let (time, records) = try timed { try values.map { try foundations.encode($0) } }
                try verify(records.count, equals: values.count, "the values encoded by Foundation")
                return time
            }
        )
    }
}
