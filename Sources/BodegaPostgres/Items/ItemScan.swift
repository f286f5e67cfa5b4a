#if Postgres
import Bodega
import Foundation

/// A reader of the rows that `COPY … TO STDOUT (FORMAT binary)` sends from the table of items.
enum ItemScan {

    /// The values of a row. Read them in the order of the columns: key, data, dates. The last ones can be left unread.
    struct Row {
        fileprivate var bytes: UnsafeRawBufferPointer
        /// The number of fields that are not read yet.
        fileprivate var fieldsLeft = 0
        fileprivate(set) var position: Int64 = 0

        mutating func key() throws -> CacheKey {
            guard let short = try field() else { throw ItemScan.malformed }
            return try ItemKey.key(try field() ?? short)
        }

        mutating func data() throws -> Data {
            guard let field = try field() else { throw ItemScan.malformed }
            return field.baseAddress.map { Data(bytes: $0, count: field.count) } ?? Data()
        }

        mutating func dates() throws -> StorageDates {
            ItemDate.dates(try fieldNumber(), try fieldNumber())
        }

        /// Reads the columns for some fields.
        mutating func item(_ fields: StorageFields) throws -> StorageItem {
            var item = StorageItem(key: try key(), position: Int(position))
            if fields.contains(.data) { item.data = try data() }
            if fields.contains(.dates) { item.dates = try dates() }
            return item
        }

        fileprivate mutating func fieldNumber() throws -> Int64 {
            guard let field = try field(), field.count == 8 else { throw ItemScan.malformed }
            return Int64(bigEndian: field.loadUnaligned(as: Int64.self))
        }

        /// Reads a field; `nil` for NULL.
        fileprivate mutating func field() throws -> UnsafeRawBufferPointer? {
            let count: Int32 = try number()
            fieldsLeft -= 1
            if count < 0 { return nil }
            return try take(Int(count))
        }

        fileprivate mutating func number<Number: FixedWidthInteger>() throws -> Number {
            Number(bigEndian: try take(MemoryLayout<Number>.size).loadUnaligned(as: Number.self))
        }

        fileprivate mutating func take(_ count: Int) throws -> UnsafeRawBufferPointer {
            guard count <= bytes.count else { throw ItemScan.malformed }
            defer { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(count)) }
            return UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
        }
    }

    /// Reads a value from each row of a collection, in the order of the items.
    static func run<Value>(
        _ fields: StorageFields, withKeys: Bool = true, ofCollection number: Int32, _ session: Session,
        _ value: (inout Row) throws -> Value
    ) async throws -> [Value] {
        var names = ["position"]
        if withKeys { names += ["key", "long_key"] }
        if fields.contains(.data) { names.append("data") }
        if fields.contains(.dates) { names += ["created_at", "updated_at"] }
        let query = "SELECT \(names.joined(separator: ", ")) FROM emporium_items WHERE collection = \(number)"
        var isAtStart = true
        var found: [(position: Int64, value: Value)] = []
        var isSorted = true
        // A part of the stream consists of whole rows.
        try await session.copy("COPY (\(query)) TO STDOUT (FORMAT binary)") { part in
            var row = Row(bytes: part)
            if isAtStart {
                isAtStart = false
                // A signature of 11 bytes, 4 bytes of flags, and an extension with its length.
                _ = try row.take(15)
                _ = try row.take(Int(try row.number() as Int32))
            }
            while !row.bytes.isEmpty {
                let count: Int16 = try row.number()
                if count == -1 { return }
                guard count == names.count else { throw malformed }
                row.fieldsLeft = names.count
                row.position = try row.fieldNumber()
                if let last = found.last, last.position > row.position { isSorted = false }
                found.append((row.position, try value(&row)))
                while row.fieldsLeft > 0 { _ = try row.field() }
            }
        }
        // The server would sort many rows in a temporary file.
        if !isSorted { found.sort { $0.position < $1.position } }
        return found.map(\.value)
    }

    private static var malformed: PostgresFailure {
        PostgresFailure(.unexpectedAnswer, "A row of COPY is not in the expected format.")
    }
}
#endif
