import Bodega

/// An error that ends the tool with a message and an exit status.
package struct ToolError: Error, Equatable, CustomStringConvertible {
    /// The exit status.
    package var status: ExitStatus
    /// What happened and what to do about it: sentences without the tool's name.
    package var message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - status: The exit status.
    ///   - message: What happened and what to do about it.
    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The message.
    package var description: String { message }
}

extension ToolError {
    /// A program stopped while writing a batch to a folder, so its items can't be read until the batch is finished.
    static func unfinishedBatch(in address: StorageAddress) -> ToolError {
        ToolError(
            .failure,
            """
            A program stopped in the middle of a batch of writes. No data is lost. Finish the batch with: \
            bodega compact \(address)
            """
        )
    }
}

/// An error that ends the tool with an exit status but without a message, because the output explains it.
package struct SilentFailure: Error, Equatable {
    /// The exit status.
    package var status: ExitStatus

    /// Creates the error.
    package init(_ status: ExitStatus) {
        self.status = status
    }
}

/// The error that ends the tool silently when the reader of its output closes the pipe.
package struct BrokenPipe: Error, Equatable {
    /// Creates the error.
    package init() {}
}
