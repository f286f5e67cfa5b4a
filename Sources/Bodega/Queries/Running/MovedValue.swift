/// A value that a closure hands over to its caller, which waits for it.
///
/// @unchecked because the type need not be `Sendable`: the closure has ended when the caller takes the value.
final class MovedValue<Value>: @unchecked Sendable {
    var value: Value?
}

/// A closure that runs in the task of its caller, which waits for it.
///
/// @unchecked because of the types that it captures, which need not be `Sendable`.
struct MovedBody: @unchecked Sendable {
    private let body: () async throws -> Void

    init(_ body: @escaping () async throws -> Void) { self.body = body }

    @Sendable func run() async throws { try await body() }
}
