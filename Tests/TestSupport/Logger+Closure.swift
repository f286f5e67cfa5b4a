package import Logging

extension Logger {
    /// A logger that passes the level and the metadata of each entry to a closure.
    package init(_ receive: @escaping @Sendable (Logger.Level, Logger.Metadata) -> Void) {
        self.init(label: "test") { _ in ClosureLogHandler(receive: receive) }
    }
}

private struct ClosureLogHandler: LogHandler {
    let receive: @Sendable (Logger.Level, Logger.Metadata) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        receive(event.level, event.metadata ?? [:])
    }
}
