import Bodega
import Foundation

/// Copies all items from one store to another.
///
/// It stores no progress: items that the destination already has, byte for byte, are skipped, so an interrupted copy
/// resumes when it is started again. Each batch is read back and compared before the next one begins.
struct Copier {
    /// Where the items come from.
    var source: any StorageBackend
    /// Where they go.
    var destination: any StorageBackend
    /// Whether an item replaces a different one under its key; otherwise that stays and is reported.
    var overwrites: Bool

    /// Copies.
    ///
    /// - Parameters:
    ///   - report: Counts the items; it is valid even if this throws.
    ///   - onBatch: Called after every batch; an error that it throws ends the copy.
    /// - Throws: A ``ToolError`` if an item read back differs from what was written; errors of the engines.
    func run(report: inout CopyReport, onBatch: (CopyReport) throws -> Void) async throws {
        let keys = try await source.fetchKeys()
        report.total = keys.count
        for try await batch in ItemBatches(of: keys, [.data, .dates], in: source, unreadable: report.unreadable) {
            try await copy(batch, report: &report)
            try onBatch(report)
        }
    }

    private func copy(_ batch: [StorageItem], report: inout CopyReport) async throws {
        let request = FetchRequest(batch.map(\.key), options: ReadOptions(omitsUnreadable: true))
        let read = try await destination.fetch(request)
        var there = Dictionary(read.value.map { ($0.key, Data?.some($0.data)) }) { first, _ in first }
        // An item that can't be read is a different one.
        for key in read.report.unreadable.compactMap(\.key) { there.updateValue(nil, forKey: key) }
        var wanted: [StorageItem] = []
        var replaced = 0
        for item in batch {
            switch there[item.key] {
            case nil:
                wanted.append(item)
            case .some(item.data):
                report.present += 1
            default:
                guard overwrites else {
                    report.conflicts.append(item.key)
                    continue
                }
                wanted.append(item)
                replaced += 1
            }
        }
        if !wanted.isEmpty { report.hasWritten = true }
        try await write(wanted)
        report.done += batch.count
        report.copied += wanted.count - replaced
        report.overwritten += replaced
        report.bytes += wanted.reduce(0) { $0 + $1.data.count }
    }

    /// Writes items, with their dates if the destination supports that, and reads them back.
    private func write(_ items: [StorageItem]) async throws {
        if items.isEmpty { return }
        try await destination.write(items: items)
        let written = Dictionary(try await destination.fetch(keys: items.map(\.key)).map { ($0.key, $0.data) }) { $1 }
        if let item = items.first(where: { written[$0.key] != $0.data }) {
            throw ToolError(
                .failure,
                """
                The item under \(item.key) is not what was written. The destination is damaged, or another program \
                writes to it.
                """)
        }
    }
}
