package import Bodega
import Foundation

/// Writes the records of an input to an engine, in batches.
package struct Importer {
    /// The engine.
    package var engine: any StorageEngine
    /// How many items go into a batch at most.
    package var batchSize: Int
    /// Whether a bad record is left out; otherwise it ends the import, and its batch is not written.
    package var skipsBadRecords: Bool

    /// About how many bytes of values a batch holds at most: it ends with the item that exceeds this.
    static let batchBytes = 64 * 1024 * 1024

    /// Creates an importer.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - batchSize: How many items go into a batch at most.
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
    ///   - report: Counts what was done; it is right also if this throws.
    ///   - interruption: Ends the import before the next batch.
    ///   - onBadRecord: Called for every record that is left out.
    ///   - onProgress: Called after every batch.
    /// - Throws: A ``BadRecord`` if there is one and it is not to be skipped, a ``ToolError`` if the command is to
    ///   end, or what the source or the engine throws.
    ///   Earlier batches are in the store then.
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
