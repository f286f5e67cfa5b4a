import Foundation

/// The bytes of a value that could not be decoded and were kept when a new value replaced them, the oldest first.
///
/// They are stored next to the value: under its name with `.undecodable` appended, then `.undecodable-2` and so on.
/// This type knows these names; the owner of the value reads and writes.
struct UndecodableBytes: Sendable {
    private(set) var entries: [(name: String, data: Data)] = []

    /// The first unused name for undecodable bytes of a value.
    func freeName(of value: String) -> String {
        var (name, number) = ("\(value).undecodable", 1)
        while entries.contains(where: { $0.name == name }) {
            number += 1
            name = "\(value).undecodable-\(number)"
        }
        return name
    }

    /// Adds the bytes that were found under the first unused name of a value.
    mutating func append(_ data: Data, of value: String) {
        entries.append((freeName(of: value), data))
    }

    /// Whether the entries include some bytes.
    func contains(_ data: Data) -> Bool {
        entries.contains { $0.data == data }
    }

    /// All bytes that could not be decoded, including those that are stored as the value now.
    func all<Value>(with reading: ValueReading<Value>) -> [Data] {
        var all = entries.map(\.data)
        if reading.error != nil, let data = reading.data, !contains(data) { all.append(data) }
        return all
    }
}
