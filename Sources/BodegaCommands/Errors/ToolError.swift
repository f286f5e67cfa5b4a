import Bodega

/// An error that ends the tool with a message and an exit status.
package struct ToolError: Error, Equatable, CustomStringConvertible {
    /// The exit status.
    package var status: ExitStatus
    /// What happened and what can be done about it: a sentence without the tool's name.
    package var message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - status: The exit status.
    ///   - message: What happened and what can be done about it.
    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The message.
    package var description: String { message }
}

extension ToolError {
    /// A program was stopped while it carried out a batch in a folder, so that its items can't be read for now.
    static func unfinishedBatch(in address: StorageAddress) -> ToolError {
        ToolError(
            .failure,
            """
            A program was stopped in the midst of a batch of writes. Nothing is lost. Finish the batch with: \
            bodega compact \(address)
            """
        )
    }
}

/// An end with an exit status other than 0 that needs no message: the output says it already.
package struct SilentFailure: Error, Equatable {
    /// The exit status.
    package var status: ExitStatus

    /// Creates the error.
    package init(_ status: ExitStatus) {
        self.status = status
    }
}

/// Whoever read the output went away: nothing is wrong, but there is no point in going on.
package struct BrokenPipe: Error, Equatable {
    /// Creates the error.
    package init() {}
}
