#if Postgres
import Foundation

/// The parameters of a statement, concatenated in PostgreSQL's binary format.
struct Parameters: Sendable {

    private(set) var bytes: [UInt8] = []
    private var starts: [Int] = []
    /// -1 stands for NULL.
    private var lengths: [Int32] = []

    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    var count: Int { starts.count }

    mutating func append(_ number: some FixedWidthInteger) {
        begin()
        bytes.appendBigEndian(number)
        end()
    }

    mutating func append(_ value: some Collection<UInt8>) {
        begin()
        bytes.append(contentsOf: value)
        end()
    }

    mutating func append(_ value: Data) {
        begin()
        bytes.append(value)
        end()
    }

    mutating func append(_ identifier: UUID) {
        begin()
        withUnsafeBytes(of: identifier.uuid) { bytes.append(contentsOf: $0) }
        end()
    }

    mutating func appendNull() {
        starts.append(bytes.count)
        lengths.append(-1)
    }

    /// Appends an array with one element for each element of a collection.
    ///
    /// - Parameter append: Appends an element as a field, see `appendField`.
    mutating func appendArray<Elements: Collection>(
        of type: ArrayElementType,
        _ elements: Elements,
        append: (inout [UInt8], Elements.Element) -> Void
    ) {
        begin()
        bytes.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))  // dimensions
        bytes.appendBigEndian(Int32(1))  // may contain NULL
        bytes.appendBigEndian(type.rawValue)
        if !elements.isEmpty {
            bytes.appendBigEndian(Int32(elements.count))
            bytes.appendBigEndian(Int32(1))  // the first index
        }
        for element in elements { append(&bytes, element) }
        end()
    }

    /// Calls a closure with the arguments for libpq's functions.
    func withPointers<Result>(
        _ body: (
            _ count: Int32,
            _ values: UnsafePointer<UnsafePointer<CChar>?>?,
            _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        // An empty value needs an address, too; libpq takes a null pointer for NULL.
        let isEmpty = bytes.isEmpty
        return (isEmpty ? [0] : bytes).withUnsafeBytes { bytes in
            let base = bytes.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) }
            return withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: max(count, 1)) { values in
                for index in 0..<count {
                    values.initializeElement(
                        at: index,
                        to: lengths[index] < 0 ? nil : base.map { $0 + starts[index] }
                    )
                }
                return lengths.withUnsafeBufferPointer { lengths in
                    Self.binary.withUnsafeBufferPointer { formats in
                        body(
                            Int32(count),
                            values.baseAddress.map { UnsafePointer($0) },
                            lengths.baseAddress,
                            formats.baseAddress
                        )
                    }
                }
            }
        }
    }

    /// The format of each parameter: binary. No statement has more than 16.
    private static let binary = [Int32](repeating: 1, count: 16)

    private mutating func begin() {
        starts.append(bytes.count)
    }

    private mutating func end() {
        lengths.append(Int32(bytes.count - starts[starts.count - 1]))
    }
}

/// The element types of arrays; the raw values are PostgreSQL's fixed object identifiers.
enum ArrayElementType: Int32 {
    case bytea = 17
    case int8 = 20
    case int2 = 21
}

extension [UInt8] {

    mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    mutating func append(_ data: Data) {
        data.withUnsafeBytes { append(contentsOf: $0) }
    }

    // A field of an array or a row: the length, then the value; -1 stands for NULL.

    mutating func appendField(_ number: some FixedWidthInteger) {
        appendBigEndian(Int32(number.bitWidth / 8))
        appendBigEndian(number)
    }

    mutating func appendField(_ value: [UInt8]) {
        appendBigEndian(Int32(value.count))
        append(contentsOf: value)
    }

    mutating func appendField(_ value: Data) {
        appendBigEndian(Int32(value.count))
        append(value)
    }

    mutating func appendField(_ value: [UInt8]?) {
        if let value { appendField(value) } else { appendBigEndian(Int32(-1)) }
    }
}
#endif
