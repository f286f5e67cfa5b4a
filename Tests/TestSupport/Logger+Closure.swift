package import Logging

extension Logger {
    /// A logger that passes the level and the metadata of each entry to a closure.
    package init(_ receive: @escaping @Sendable (Logger.Level, Logger.Metadata) -> Void) {
        self.init(label: "test") { _ in ClosureLogHandler { receive($0.level, $0.metadata ?? [:]) } }
    }

    /// A logger that passes the message and the metadata of each entry to a closure.
    package static func ofMessages(_ receive: @escaping @Sendable (String, Logger.Metadata) -> Void) -> Logger {
        Logger(label: "test") { _ in ClosureLogHandler { receive("\($0.message)", $0.metadata ?? [:]) } }
    }
}

private struct ClosureLogHandler: LogHandler {
    let receive: @Sendable (LogEvent) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(receive: @escaping @Sendable (LogEvent) -> Void) { self.receive = receive }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        receive(event)
    }
}
