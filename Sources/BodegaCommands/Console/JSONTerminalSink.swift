/// Writes JSON to a terminal: characters in strings that the terminal would interpret become JSON escapes such as
/// `\\u009b`, so that the text stays the same JSON.
final class JSONTerminalSink: ByteSink {
    private let sink: any ByteSink

    /// Writes to a terminal.
    init(_ sink: any ByteSink) { self.sink = sink }

    var isAbandoned: Bool { sink.isAbandoned }

    func abandonment() -> AsyncStream<Void> { sink.abandonment() }

    /// - Parameter bytes: JSON that neither begins nor ends inside of a character.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try sink.write(TerminalText.escapedInJSON(String(decoding: bytes, as: UTF8.self)))
    }
}
