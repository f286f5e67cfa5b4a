/// Whether the API answers, as far as we know: what the last request showed.
@MainActor
final class Availability {
    /// Whether the last request was answered. Before the first one it is taken to be there.
    private(set) var isOnline = true

    /// Fires when that has changed.
    let changes = Signal()

    /// Remembers what a request has shown, and returns or throws what it did.
    func observe<Answer>(
        _ request: () async throws(PictureAPIError) -> Answer
    ) async throws(PictureAPIError) -> Answer {
        do {
            let answer = try await request()
            set(true)
            return answer
        } catch {
            set(error != .unreachable)
            throw error
        }
    }

    private func set(_ isOnline: Bool) {
        if self.isOnline == isOnline { return }
        self.isOnline = isOnline
        changes.send()
    }
}
