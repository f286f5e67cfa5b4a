package import Bodega

/// Writes all items of a store as lines that an import reads back exactly, see ``Envelope``.
///
/// Exports keys and bytes, not dates. Items that other processes write or remove during the export may be missing.
package struct Exporter {
    private let engine: any StorageEngine

    /// Exports from an engine.
    package init(engine: any StorageEngine) {
        self.engine = engine
    }

    /// Exports all items, in insertion order.
    ///
    /// - Parameters:
    ///   - sink: The destination of the lines.
    ///   - interruption: Ends the export between two batches.
    /// - Returns: The number of items.
    @discardableResult
    package func run(to sink: any ByteSink, interruption: Interruption = Interruption()) async throws -> Int {
        let keys = try await engine.fetchKeys()
        var output = BufferedOutput(sink)
        var count = 0
        try output.write(Envelope.header + "\n")
        for try await batch in ItemBatches(of: keys, in: engine) {
            for (key, data) in batch { try output.write(Envelope.line(key: key, data: data)) }
            count += batch.count
            try interruption.check()
        }
        try output.flush()
        return count
    }
}
