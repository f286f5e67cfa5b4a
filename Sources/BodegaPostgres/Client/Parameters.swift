#if Postgres
import Foundation

/// The parameters of a statement in PostgreSQL's binary format, one after the other.
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

    /// Appends an array with an element for each of a collection's.
    mutating func appendArray<Elements: Collection>(
        of type: ArrayElementType,
        _ elements: Elements,
        append: (inout BinaryArray, Elements.Element) -> Void
    ) {
        begin()
        bytes.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))  // dimensions
        bytes.appendBigEndian(Int32(1))  // may hold NULL
        bytes.appendBigEndian(type.rawValue)
        if !elements.isEmpty {
            bytes.appendBigEndian(Int32(elements.count))
            bytes.appendBigEndian(Int32(1))  // the first index
        }
        var array = BinaryArray(bytes: [])
        swap(&array.bytes, &bytes)
        for element in elements { append(&array, element) }
        swap(&array.bytes, &bytes)
        end()
    }

    /// Calls a closure with the arguments that libpq's functions take.
    func withPointers<Result>(
        _ body: (
            _ count: Int32,
            _ values: UnsafePointer<UnsafePointer<CChar>?>?,
            _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        // An empty value needs an address too, or it would be NULL.
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

    /// Says of each parameter that it is binary. No statement has more.
    private static let binary = [Int32](repeating: 1, count: 16)

    private mutating func begin() {
        starts.append(bytes.count)
    }

    private mutating func end() {
        lengths.append(Int32(bytes.count - starts[starts.count - 1]))
    }
}

/// The types that arrays are made of, by their object identifiers, which are fixed.
enum ArrayElementType: Int32 {
    case bytea = 17
    case int8 = 20
    case int2 = 21
}

/// The elements of an array parameter.
struct BinaryArray {

    fileprivate(set) var bytes: [UInt8]

    mutating func append(_ number: some FixedWidthInteger) {
        bytes.appendBigEndian(Int32(number.bitWidth / 8))
        bytes.appendBigEndian(number)
    }

    mutating func append(_ value: [UInt8]) {
        bytes.appendBigEndian(Int32(value.count))
        bytes.append(contentsOf: value)
    }

    mutating func append(_ value: Data) {
        bytes.appendBigEndian(Int32(value.count))
        bytes.append(value)
    }

    mutating func append(_ value: [UInt8]?) {
        if let value { append(value) } else { bytes.appendBigEndian(Int32(-1)) }
    }
}

extension [UInt8] {

    mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    mutating func append(_ data: Data) {
        data.withUnsafeBytes { append(contentsOf: $0) }
    }
}
#endif
