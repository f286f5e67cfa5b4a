package import Bodega
import Foundation

/// Writes the records of an input to an engine, in batches.
package struct Importer {
    /// The engine.
    package var engine: any StorageEngine
    /// The maximum number of items in a batch.
    package var batchSize: Int
    /// Whether a bad record is left out; otherwise it ends the import, and its batch is not written.
    package var skipsBadRecords: Bool

    /// The number of bytes of values at which a batch ends.
    static let batchBytes = 64 * 1024 * 1024

    /// Creates an importer.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - batchSize: The maximum number of items in a batch.
    ///   - skipsBadRecords: Whether a bad record is left out.
    package init(engine: any StorageEngine, batchSize: Int, skipsBadRecords: Bool) {
        self.engine = engine
        self.batchSize = batchSize
        self.skipsBadRecords = skipsBadRecords
    }

    /// Imports all records.
    ///
    /// - Parameters:
    ///   - source: The input.
    ///   - report: Counts the records; it is valid even if this throws.
    ///   - interruption: Ends the import before the next batch.
    ///   - onBadRecord: Called for every record that is left out.
    ///   - onProgress: Called after every batch.
    /// - Throws: A ``BadRecord`` if there is one and bad records are not skipped, a ``ToolError`` if the command is
    ///   interrupted, or an error of the source or the engine. Earlier batches are then in the store.
    package func run(
        _ source: inout any RecordSource,
        report: inout ImportReport,
        interruption: Interruption = Interruption(),
        onBadRecord: (BadRecord) -> Void,
        onProgress: (_ report: ImportReport, _ progress: Int, _ total: Int?) -> Void
    ) async throws {
        var isAtEnd = false
        while !isAtEnd {
            var batch: [(key: CacheKey, data: Data)] = []
            var bytes = 0
            while batch.count < batchSize, bytes < Self.batchBytes {
                try interruption.check()
                do {
                    guard let record = try source.next() else {
                        isAtEnd = true
                        break
                    }
                    batch.append((record.key, record.data))
                    bytes += record.data.count
                } catch let bad as BadRecord where skipsBadRecords {
                    report.skipped += 1
                    onBadRecord(bad)
                }
            }
            let keys = Set(batch.map(\.key))
            let present = try await engine.fetchKeys(among: Array(keys)).count
            if !batch.isEmpty { try await engine.write(batch) }
            report.imported += batch.count
            report.replaced += batch.count - keys.count + present
            report.bytes += bytes
            onProgress(report, source.progress, source.total)
        }
    }
}
