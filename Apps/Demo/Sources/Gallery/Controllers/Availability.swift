/// Whether the API responds, according to the last request.
@MainActor
final class Availability {
    /// Whether the last request got a response. `true` before the first request.
    private(set) var isOnline = true

    /// Fires when ``isOnline`` has changed.
    let changes = Signal()

    /// When the last request began or ended.
    private var lastRequest: ContinuousClock.Instant?

    /// The number of requests that have begun, and the number of the latest one that has ended. The result of an older
    /// request is ignored.
    private var begun = 0
    private var latest = 0

    /// Performs a request and records whether the API has responded.
    func observe<Answer>(
        _ request: () async throws(PictureAPIError) -> Answer
    ) async throws(PictureAPIError) -> Answer {
        begun += 1
        let number = begun
        lastRequest = .now
        defer { lastRequest = .now }
        do {
            let answer = try await request()
            set(true, by: number)
            return answer
        } catch {
            set(error != .unreachable, by: number)
            throw error
        }
    }

    /// Performs a request as ``observe(_:)`` does, unless there was another request recently. Several open pages
    /// therefore cause one request.
    ///
    /// - Parameters:
    ///   - pause: The minimum time since the last request.
    ///   - request: A request whose only purpose is to learn whether the API responds.
    func observeIfIdle(for pause: Duration, _ request: () async throws(PictureAPIError) -> Void) async {
        if let lastRequest, lastRequest.duration(to: .now) < pause { return }
        do {
            try await observe(request)
        } catch {
            // `observe` has recorded the result.
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
