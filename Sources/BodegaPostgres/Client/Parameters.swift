#if Postgres
import Foundation

/// The parameters of a statement, concatenated in PostgreSQL's binary format.
struct Parameters: Sendable {

    private(set) var bytes: [UInt8] = []
    private var starts: [Int] = []
    /// -1 stands for NULL.
    private var lengths: [Int32] = []

    init<each Value: BinaryValue>(capacity: Int = 0, _ values: repeat each Value) {
        bytes.reserveCapacity(capacity)
        repeat append(each values)
    }

    var count: Int { starts.count }

    mutating func append(_ value: some BinaryValue) {
        starts.append(bytes.count)
        value.append(to: &bytes)
        lengths.append(value.isNull ? -1 : Int32(bytes.count - starts[starts.count - 1]))
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
                    values.initializeElement(at: index, to: lengths[index] < 0 ? nil : base.map { $0 + starts[index] })
                }
                return lengths.withUnsafeBufferPointer { lengths in
                    Self.binary.withUnsafeBufferPointer { formats in
                        let values = values.baseAddress.map { UnsafePointer($0) }
                        return body(Int32(count), values, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }

    /// The format of each parameter: binary. No statement has more than 16.
    private static let binary = [Int32](repeating: 1, count: 16)
}

/// A value in PostgreSQL's binary format.
protocol BinaryValue {
    var isNull: Bool { get }
    func append(to bytes: inout [UInt8])
}

/// A value that can be an element of an array.
protocol BinaryElement: BinaryValue {
    /// PostgreSQL's fixed object identifier of the type.
    static var typeIdentifier: Int32 { get }
}

extension BinaryValue {
    var isNull: Bool { false }
}

extension BinaryValue where Self: FixedWidthInteger {
    func append(to bytes: inout [UInt8]) { bytes.appendBigEndian(self) }
}

extension Int16: BinaryElement {
    static var typeIdentifier: Int32 { 21 }
}

extension Int32: BinaryValue {}

extension Int64: BinaryElement {
    static var typeIdentifier: Int32 { 20 }
}

extension [UInt8]: BinaryValue, BinaryElement {
    static var typeIdentifier: Int32 { 17 }
    func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

extension Data: BinaryElement {
    static var typeIdentifier: Int32 { 17 }
    func append(to bytes: inout [UInt8]) { withUnsafeBytes { bytes.append(contentsOf: $0) } }
}

extension String: BinaryElement {
    static var typeIdentifier: Int32 { 25 }
    func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
}

extension UUID: BinaryValue {
    func append(to bytes: inout [UInt8]) { withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) } }
}

extension Optional: BinaryValue where Wrapped: BinaryValue {
    var isNull: Bool { self == nil }
    func append(to bytes: inout [UInt8]) { self?.append(to: &bytes) }
}

extension Optional: BinaryElement where Wrapped: BinaryElement {
    static var typeIdentifier: Int32 { Wrapped.typeIdentifier }
}

/// An array of PostgreSQL.
struct BinaryArray<Elements: Collection>: BinaryValue where Elements.Element: BinaryElement {

    private let elements: Elements

    init(_ elements: Elements) { self.elements = elements }

    func append(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))  // dimensions
        bytes.appendBigEndian(Int32(1))  // may contain NULL
        bytes.appendBigEndian(Elements.Element.typeIdentifier)
        if !elements.isEmpty {
            bytes.appendBigEndian(Int32(elements.count))
            bytes.appendBigEndian(Int32(1))  // the first index
        }
        for element in elements { bytes.appendField(element) }
    }
}

extension [UInt8] {

    mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a field of an array or a row: the length, then the value; -1 stands for NULL.
    mutating func appendField(_ value: some BinaryValue) {
        if value.isNull { return appendBigEndian(Int32(-1)) }
        let start = count
        appendBigEndian(Int32(0))
        value.append(to: &self)
        let length = Int32(count - start - MemoryLayout<Int32>.size)
        withUnsafeMutableBytes { $0.storeBytes(of: length.bigEndian, toByteOffset: start, as: Int32.self) }
    }
}
#endif
