/// A kind of record with which coders are measured.
package protocol Shape: Codable, Hashable, Sendable {

    /// The name of the shape in the names of metrics.
    static var name: String { get }

    /// The record of a given number, the same in every session.
    init(number: Int)

    /// An equal record that shares no memory with this one.
    ///
    /// It allocates what a record in memory consists of, once each: long strings, arrays, dictionaries and what Foundation
    /// needs for a `URL`. So it tells how many allocations no decoder could do without.
    func copied() -> Self
}

extension String {
    /// An equal string with memory of its own; up to 15 bytes are in the string itself and need none.
    func copied() -> String {
        var text = self
        return text.withUTF8 { source in
            String(unsafeUninitializedCapacity: source.count) { $0.update(fromContentsOf: source) }
        }
    }
}

extension [String] {
    /// An equal array with memory of its own, as have its strings.
    func copied() -> [String] {
        map { $0.copied() }
    }
}
