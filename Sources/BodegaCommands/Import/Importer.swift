import Bodega
import Foundation

/// Writes the records of an input to an engine, in batches.
struct Importer {
    var engine: any StorageBackend
    /// The maximum number of items in a batch.
    var batchSize: Int
    /// Whether a bad record is left out; otherwise it ends the import, and its batch is not written.
    var skipsBadRecords: Bool

    /// The number of bytes of values at which a batch ends.
    var batchBytes = 64 * 1024 * 1024

    /// The number of seconds after which a batch ends if the input can wait. Shorter ones would cost a fast writer many
    /// syncs of the disk.
    static let patience = 0.5

    /// Imports all records.
    ///
    /// A batch of an input that can wait is written at the latest when its first record is ``patience`` old, or when
    /// the command is interrupted, with all records that were read completely: they would be lost with the process.
    ///
    /// - Parameters:
    ///   - report: Counts the records; it is valid even if this throws.
    ///   - interruption: Ends the import before the next batch.
    ///   - clock: The time in seconds since some fixed moment.
    ///   - onBadRecord: Called for every record that is left out.
    ///   - onProgress: Called after every batch.
    /// - Throws: A ``BadRecord`` if there is one and bad records are not skipped, a ``ToolError`` if the command is
    ///   interrupted, or an error of the source or the engine. Earlier batches are then in the store.
    func run(
        _ source: inout any RecordSource,
        report: inout ImportReport,
        interruption: Interruption = Interruption(),
        clock: () -> Double,
        onBadRecord: (BadRecord) -> Void,
        onProgress: (_ report: ImportReport, _ progress: Int, _ total: Int?) -> Void
    ) async throws {
        var isAtEnd = false
        while !isAtEnd {
            var batch = Batch()
            while batch.items.count < batchSize, batch.bytes < batchBytes {
                if try mustWrite(batch, before: &source, interruption, clock) { break }
                do {
                    guard let record = try source.next() else {
                        isAtEnd = true
                        break
                    }
                    batch.add(record, at: source.canWait ? clock() : 0)
                } catch let bad as BadRecord where skipsBadRecords {
                    report.skipped += 1
                    onBadRecord(bad)
                }
            }
            try await write(batch, report: &report)
            onProgress(report, source.progress, source.total)
        }
    }

    /// The items of a batch.
    private struct Batch {
        var items: [(key: CacheKey, data: Data)] = []
        /// The number of bytes of values.
        var bytes = 0
        /// When the first record was read.
        var start: Double?

        mutating func add(_ record: ImportRecord, at time: Double) {
            items.append((record.key, record.data))
            bytes += record.data.count
            start = start ?? time
        }
    }

    /// Whether a batch has to be written before the next record is read.
    ///
    /// - Throws: A ``ToolError`` if the command is interrupted and all that was read is written.
    private func mustWrite(
        _ batch: Batch, before source: inout any RecordSource, _ interruption: Interruption, _ clock: () -> Double
    ) throws -> Bool {
        if interruption.status != nil, try !source.canWait || !source.isReady(within: 0) {
            // The records of a file can be read again.
            if batch.items.isEmpty || !source.canWait { try interruption.check() }
            return true
        }
        guard source.canWait, let start = batch.start, interruption.status == nil else { return false }
        let rest = start + Self.patience - clock()
        return try rest <= 0 || !source.isReady(within: rest)
    }

    private func write(_ batch: Batch, report: inout ImportReport) async throws {
        let keys = Set(batch.items.map(\.key))
        let present = try await engine.fetchKeys(among: Array(keys)).count
        if !batch.items.isEmpty { try await engine.write(batch.items) }
        report.imported += batch.items.count
        report.replaced += batch.items.count - keys.count + present
        report.bytes += batch.bytes
    }
}
