/// Whether the API answers, as far as we know: what the last request showed.
@MainActor
final class Availability {
    /// Whether the last request was answered. Before the first one it is taken to be there.
    private(set) var isOnline = true

    /// Fires when that has changed.
    let changes = Signal()

    /// When the last request began, or ended.
    private var lastLook: ContinuousClock.Instant?

    /// How many requests have begun, and which of them is the latest that has ended: what an older one shows is past.
    private var begun = 0
    private var latest = 0

    /// Remembers what a request has shown, and returns or throws what it did.
    func observe<Answer>(
        _ request: () async throws(PictureAPIError) -> Answer
    ) async throws(PictureAPIError) -> Answer {
        begun += 1
        let number = begun
        lastLook = .now
        defer { lastLook = .now }
        do {
            let answer = try await request()
            set(true, by: number)
            return answer
        } catch {
            set(error != .unreachable, by: number)
            throw error
        }
    }

    /// Does what ``observe(_:)`` does, unless a request was made lately. So many who look at once make one request.
    ///
    /// - Parameters:
    ///   - pause: How long ago the last request must be.
    ///   - request: Asks for nothing but an answer.
    func look(ifNotFor pause: Duration, _ request: () async throws(PictureAPIError) -> Void) async {
        if let lastLook, lastLook.duration(to: .now) < pause { return }
        do {
            try await observe(request)
        } catch {
            // That is what was to be found out.
        }
    }

    private func set(_ isOnline: Bool, by number: Int) {
        if number < latest { return }
        latest = number
        if self.isOnline == isOnline { return }
        self.isOnline = isOnline
        changes.send()
    }
}
