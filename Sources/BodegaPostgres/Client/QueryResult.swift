#if Postgres
import CPostgres
import Foundation

/// The rows that a statement returned, in binary format.
///
/// @unchecked because libpq's results are immutable and can be read from any thread.
final class QueryResult: @unchecked Sendable {

    private let result: OpaquePointer

    /// Takes ownership of a result.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    /// The bytes of a field, `nil` if it is NULL.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        if PQgetisnull(result, Int32(row), Int32(column)) != 0 { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), Int32(column)),
            count: Int(PQgetlength(result, Int32(row), Int32(column)))
        )
    }

    func data(_ row: Int, _ column: Int) throws -> Data {
        guard let bytes = bytes(row, column) else { throw Self.isNull }
        return bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
    }

    func number<Number: FixedWidthInteger>(_ row: Int, _ column: Int) throws -> Number {
        guard let bytes = bytes(row, column) else { throw Self.isNull }
        guard bytes.count == MemoryLayout<Number>.size else {
            throw PostgresFailure(
                .unexpectedAnswer,
                "A number in a result has \(bytes.count) bytes instead of \(MemoryLayout<Number>.size).")
        }
        return Number(bigEndian: bytes.loadUnaligned(as: Number.self))
    }

    func flag(_ row: Int, _ column: Int) throws -> Bool { try (number(row, column) as UInt8) != 0 }

    func text(_ row: Int, _ column: Int) throws -> String {
        guard let bytes = bytes(row, column) else { throw Self.isNull }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static var isNull: PostgresFailure { PostgresFailure(.unexpectedAnswer, "A value in a result is NULL.") }
}
#endif
