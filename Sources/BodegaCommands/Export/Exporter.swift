import Bodega

/// Writes all items of a store as lines that an import reads back exactly, see ``Envelope``.
///
/// Exports keys and bytes, not dates. Items that other processes write or remove during the export may be missing.
struct Exporter {
    let engine: any StorageBackend
    /// Whether the engine decrypts its items.
    var isEncrypted = false

    /// Exports all items, in insertion order.
    ///
    /// - Parameter interruption: Ends the export between two batches.
    /// - Returns: The number of items, and of those among them that were exported in an encrypted form.
    /// - Throws: A ``ToolError`` after the last item if some could not be read.
    @discardableResult
    func run(to sink: any ByteSink, interruption: Interruption = Interruption()) async throws -> (
        count: Int, encrypted: Int
    ) {
        let keys = try await engine.fetchKeys()
        var output = BufferedOutput(sink)
        var result = (count: 0, encrypted: 0)
        let unreadable = UnreadableItems()
        try output.write(Envelope.header + "\n")
        for try await batch in ItemBatches(of: keys, in: engine, unreadable: unreadable) {
            for item in batch {
                try output.write(Envelope.line(key: item.key, data: item.data))
                if !isEncrypted, EncryptedItem.hasForm(item.data) { result.encrypted += 1 }
            }
            result.count += batch.count
            try interruption.check()
        }
        try output.flush()
        try unreadable.check("could not be exported")
        return result
    }
}
