import Foundation

/// The bytes of a value that could not be decoded and were kept when a new value replaced them, the oldest first.
///
/// They are stored next to the value: under its name with `.undecodable` appended, then `.undecodable-2` and so on.
/// This type knows these names; the owner of the value reads and writes.
struct UndecodableBytes: Sendable {
    private let value: String
    private(set) var entries: [(name: String, data: Data)] = []

    /// - Parameter value: The name of the value.
    init(of value: String) { self.value = value }

    /// The first unused name.
    var freeName: String { "\(value).undecodable" + (entries.isEmpty ? "" : "-\(entries.count + 1)") }

    /// Adds the bytes that were found under the first unused name.
    mutating func append(_ data: Data) { entries.append((freeName, data)) }

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
