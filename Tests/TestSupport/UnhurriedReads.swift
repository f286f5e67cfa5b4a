import Bodega
public import Testing

/// Gives reads of SQLite files on their caller's thread all the time they need, so that a slow machine does not begin
/// them again, and what they read can be counted.
public struct UnhurriedReads: SuiteTrait, TestTrait, TestScoping {
    public let isRecursive = true

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await SQLiteFile.$shortTime.withValue(.seconds(3_600)) { try await function() }
    }
}

extension Trait where Self == UnhurriedReads {
    /// Gives reads of SQLite files on their caller's thread all the time they need.
    public static var unhurriedReads: UnhurriedReads { UnhurriedReads() }
}
