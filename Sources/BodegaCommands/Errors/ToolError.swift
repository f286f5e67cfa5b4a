import Bodega

/// An error that ends the tool with a message and an exit status.
struct ToolError: Error, Equatable, CustomStringConvertible {
    var status: ExitStatus
    /// What happened and what to do about it: sentences without the tool's name.
    var message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    var description: String { message }
}

extension ToolError {
    /// The lines of a list in a message.
    static func list(_ items: [String]) -> [String] {
        let lines = items.prefix(20).map { "  \($0)" }
        return items.count > 20 ? lines + ["  and \(items.count - 20) more"] : lines
    }

    /// A program stopped while writing a batch to a folder, so its items can't be read until the batch is finished.
    static func unfinishedBatch(in address: StorageAddress) -> ToolError {
        ToolError(
            .failure,
            """
            A program stopped in the middle of a batch of writes. No data is lost. Finish the batch with: \
            bodega compact \(address)
            """)
    }
}

/// An error that ends the tool with an exit status but without a message, because the output explains it.
struct SilentFailure: Error, Equatable {
    let status: ExitStatus
}

/// The error that ends the tool silently when the reader of its output closes the pipe.
struct BrokenPipe: Error, Equatable {}
