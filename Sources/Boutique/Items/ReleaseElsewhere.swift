/// Releases a value with many items off the main actor, because freeing them takes long.
///
/// - Parameters:
///   - value: The value. The caller's references to it must end with its turn on the main actor.
///   - count: The number of items. If they are few, the value is left to the caller.
@MainActor
func releaseElsewhere(_ value: some Sendable, count: Int) {
    if count < 1_000 { return }
    Task.detached {
        // The caller's turn ends first, and with it all other references.
        await MainActor.run {}
        withExtendedLifetime(value) {}
    }
}
