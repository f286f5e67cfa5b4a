#if Postgres
import Foundation

/// The items of a batch in the format of `COPY … FROM STDIN (FORMAT binary)`, in parts of about 256 KiB.
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
        part.appendField(row.key.long)
        part.appendField(firstPosition + Int64(row.place))
        part.appendField(row.created)
        part.appendField(row.updated)
        part.appendField(row.data)
    }
}
#endif
