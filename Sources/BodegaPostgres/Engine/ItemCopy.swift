#if Postgres
import Foundation

/// Items in the format of `COPY … FROM STDIN (FORMAT binary)`, in parts of some size.
struct ItemCopy: Sequence, IteratorProtocol {

    static let sql = """
        COPY emporium_items (shard, collection, key, long_key, position, created_at, updated_at, data)
        FROM STDIN (FORMAT binary)
        """

    private static let partSize = 256 << 10

    private let rows: [WritePlan.Row]
    private let collection: Int32
    private let firstPosition: Int64
    private var nextRow = 0
    private var isAtEnd = false

    init(_ rows: [WritePlan.Row], request: ChangeRequest, batch: Int64) {
        self.rows = rows
        collection = request.collection
        firstPosition = batch * Int64(ItemStatements.placesPerBatch)
    }

    mutating func next() -> [UInt8]? {
        if isAtEnd { return nil }
        var part: [UInt8] = []
        part.reserveCapacity(Self.partSize + 4_096)
        if nextRow == 0 {
            part += [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00]  // the signature
            part += [0, 0, 0, 0, 0, 0, 0, 0]  // no flags, no extension
        }
        while nextRow < rows.count, part.count < Self.partSize {
            append(rows[nextRow], to: &part)
            nextRow += 1
        }
        if nextRow == rows.count {
            part.appendBigEndian(Int16(-1))
            isAtEnd = true
        }
        return part
    }

    private func append(_ row: WritePlan.Row, to part: inout [UInt8]) {
        part.appendBigEndian(Int16(8))
        part.appendField(row.key.shard)
        part.appendField(collection)
        part.appendField(row.key.bytes)
        if let long = row.key.long { part.appendField(long) } else { part.appendBigEndian(Int32(-1)) }
        part.appendField(firstPosition + Int64(row.place))
        part.appendField(row.created)
        part.appendField(row.updated)
        part.appendBigEndian(Int32(row.data.count))
        part.append(row.data)
    }
}

extension [UInt8] {

    fileprivate mutating func appendField(_ number: some FixedWidthInteger) {
        appendBigEndian(Int32(number.bitWidth / 8))
        appendBigEndian(number)
    }

    fileprivate mutating func appendField(_ bytes: [UInt8]) {
        appendBigEndian(Int32(bytes.count))
        append(contentsOf: bytes)
    }
}
#endif
