import CAllocations
import CoderInputs
import Foundation
import RecordCoder

// Prints a table of the mean number of allocations for coding one record of each shape. See README.md.

/// The number of records.
let count = 1_000

/// Returns the mean number of allocations of a piece of work on each record.
func meanOfAllocations<Record>(_ records: [Record], _ work: (Record) throws -> Void) rethrows -> Double {
    // One-time allocations do not count.
    for record in records { try work(record) }
    let before = bench_allocations()
    for record in records { try work(record) }
    return Double(bench_allocations() - before) / Double(records.count)
}

func printLine(_ name: String, needed: Double, ours: Double, foundations: Double) {
    let amounts = [needed, ours, ours - needed, foundations].map { String(format: "%10.2f", $0) }
    print(name.padding(toLength: 16, withPad: " ", startingAt: 0) + amounts.joined())
}

func measure<Value: Shape>(_ type: Value.Type) throws {
    let values = (0..<count).map(Value.init(number:))
    let encoder = JSONEncoder()
    let decoder = JSONDecoder()
    let recordEncoder = RecordEncoder()
    let recordDecoder = RecordDecoder()
    let records = try values.map { try encoder.encode($0) }
    guard try records.map({ try recordDecoder.decode(type, from: $0) }) == values,
        values.map({ $0.copied() }) == values,
        try values.map({ try decoder.decode(type, from: recordEncoder.encode($0)) }) == values
    else { preconditionFailure("\(Value.name): the coded value is not equal") }

    printLine(
        "decode.\(Value.name)",
        needed: meanOfAllocations(values) { _ = $0.copied() },
        ours: try meanOfAllocations(records) { _ = try recordDecoder.decode(type, from: $0) },
        foundations: try meanOfAllocations(records) { _ = try decoder.decode(type, from: $0) }
    )
    printLine(
        "encode.\(Value.name)",
        needed: meanOfAllocations(records) { record in
            _ = record.withUnsafeBytes { $0.baseAddress.map { Data(bytes: $0, count: record.count) } }
        },
        ours: try meanOfAllocations(values) { _ = try recordEncoder.encode($0) },
        foundations: try meanOfAllocations(values) { _ = try encoder.encode($0) }
    )
}

guard bench_allocations() >= 0 else {
    print("Allocations can only be counted where the C library is glibc.")
    exit(1)
}
print("allocations of one record, the mean of \(count)")
let titles = ["needed", "ours", "more", "Foundation"].map { String(repeating: " ", count: 10 - $0.count) + $0 }
print("                " + titles.joined())
try measure(Note.self)
try measure(Flat.self)
try measure(Nested.self)
try measure(Intl.self)
