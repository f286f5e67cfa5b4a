/// A kind of record to measure coders with.
package protocol Shape: Codable, Hashable, Sendable {

    /// The name of the shape in the names of metrics.
    static var name: String { get }

    /// The record with a given number, the same in every session.
    init(number: Int)

    /// An equal record that shares no memory with this one.
    ///
    /// It allocates the parts of a record in memory, once each: long strings, arrays, dictionaries and Foundation's
    /// storage for a `URL`. This is the minimum number of allocations of any decoder.
    func copied() -> Self
}

extension String {
    /// An equal string with its own memory; up to 15 bytes are in the string itself and need none.
    func copied() -> String {
        var text = self
        return text.withUTF8 { source in
            String(unsafeUninitializedCapacity: source.count) { $0.update(fromContentsOf: source) }
        }
    }
}

extension [String] {
    /// An equal array with its own memory, also for its strings.
    func copied() -> [String] {
        map { $0.copied() }
    }
}
