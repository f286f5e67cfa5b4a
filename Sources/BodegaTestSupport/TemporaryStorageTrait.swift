import Bodega
public import Testing

/// A trait that gives each test default storage of its own, see ``/Bodega/TemporaryStorage``.
///
/// ```swift
/// @Suite(.temporaryStorage) struct NotesTests {
///     @Test func adding() async throws {
///         let model = try await NotesModel()
///         try await model.add("milk")
///     }
/// }
/// ```
///
/// In a suite, each of its tests, and each case of a parameterized test, has its own. So tests can run in parallel, and
/// in any order.
public struct TemporaryStorageTrait: TestTrait, SuiteTrait, TestScoping {

    /// A suite's tests inherit the trait.
    public var isRecursive: Bool { true }

    /// Runs a test with temporary storage. The testing library calls it.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: The case of the test.
    ///   - function: The test's body.
    /// - Throws: The test's error.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await TemporaryStorage.use { try await function() }
    }
}

extension Trait where Self == TemporaryStorageTrait {

    /// Gives each test default storage of its own: folders, user defaults and secrets, see
    /// ``/Bodega/TemporaryStorage``.
    public static var temporaryStorage: Self { Self() }
}
