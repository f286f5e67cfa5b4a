import Foundation
import GRDB

extension StorageError {

    /// The ``description`` for users of a program: with the cause, but without SQL and names of system errors.
    package var summary: String {
        var text = "\(code): \(message)"
        if let key { text += " [key \(key)]" }
        if let file { text += " [\(file.path)]" }
        if let cause { text += " (\(Self.reason(cause)))" }
        return text
    }

    private static func reason(_ cause: any Error) -> String {
        switch cause {
        case let cause as DatabaseError: cause.message ?? "SQLite error \(cause.resultCode.rawValue)"
        case let cause as StorageError: cause.summary
        case let cause as CocoaError: cause.localizedDescription
        case let cause as POSIXError: String(cString: strerror(cause.code.rawValue))
        default: domainError(cause)?.localizedDescription ?? "\(cause)"
        }
    }

    /// The error itself if it is an `NSError`. On Apple platforms every error can be cast to one.
    private static func domainError(_ cause: any Error) -> NSError? {
        type(of: cause) is NSError.Type ? cause as NSError : nil
    }
}
